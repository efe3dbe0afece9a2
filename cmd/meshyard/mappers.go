package main

import (
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strconv"

	"github.com/alecthomas/kong"

	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/models"
)

// mappers returns options for types of flags whose values kong would reject with an unclear message
// or parse differently.
func mappers() []kong.Option {
	return []kong.Option{
		mapper(config.ParseDuration),
		mapper(parseInt),
		mapper(parseLevel),
		mapper(parseAgain),
	}
}

func parseInt(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("must be a whole number (got %q)", text)
	}
	return n, nil
}

func parseLevel(text string) (level slog.Level, err error) {
	if err := level.UnmarshalText([]byte(text)); err != nil {
		return 0, fmt.Errorf("must be debug, info, warn or error (got %q)", text)
	}
	return level, nil
}

func parseAgain(text string) (models.Again, error) {
	again := models.Again(text)
	if again != models.AgainMissing && again != models.AgainFailed && again != models.AgainAll {
		return "", fmt.Errorf("must be missing, failed or all (got %q)", text)
	}
	return again, nil
}

// mapper returns an option that parses flags of type T with parse.
func mapper[T any](parse func(string) (T, error)) kong.Option {
	return kong.TypeMapper(reflect.TypeFor[T](), kong.MapperFunc(func(ctx *kong.DecodeContext, target reflect.Value) error {
		// Not PopValue: it rejects negative numbers, and recommends to write them in another way.
		token := ctx.Scan.Pop()
		if token.IsEOL() {
			return errors.New("requires a value")
		}
		value, err := parse(token.String())
		if err != nil {
			return err
		}
		target.Set(reflect.ValueOf(value))
		return nil
	}))
}
