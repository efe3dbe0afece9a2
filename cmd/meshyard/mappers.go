package main

import (
	"encoding"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"reflect"
	"regexp"
	"strconv"

	"github.com/alecthomas/kong"

	"github.com/meshyard/meshyard/internal/clientip"
	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/models/previews"
)

// mappers returns options for types of flags whose values kong would reject with an unclear message
// or parse differently.
func mappers() []kong.Option {
	return []kong.Option{
		mapper(config.ParseDuration),
		mapper(parseInt[int]),
		mapper(parseInt[int64]),
		mapper(parseFloat),
		mapper(parseString),
		mapper(parseLevel),
		mapper(parseAgain),
		mapper(parseText[config.Size]),
		mapper(parseText[config.Lifetime]),
		mapper(parseText[config.Day]),
		mapper(parseText[config.Color]),
		mapper(parseText[config.Origins]),
		mapper(parseText[config.Library]),
		mapper(parseText[clientip.Proxies]),
	}
}

func parseText[T any, P interface {
	*T
	encoding.TextUnmarshaler
}](text string) (value T, err error) {
	err = P(&value).UnmarshalText([]byte(text))
	return value, err
}

func parseInt[T int | int64](text string) (T, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || int64(T(n)) != n {
		return 0, fmt.Errorf("must be a whole number (got %q)", text)
	}
	return T(n), nil
}

func parseFloat(text string) (float64, error) {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(n) {
		return 0, fmt.Errorf("must be a number (got %q)", text)
	}
	return n, nil
}

func parseString(text string) (string, error) { return text, nil }

func parseLevel(text string) (level slog.Level, err error) {
	if err := level.UnmarshalText([]byte(text)); err != nil {
		return 0, fmt.Errorf("must be debug, info, warn or error (got %q)", text)
	}
	return level, nil
}

func parseAgain(text string) (previews.Again, error) {
	again := previews.Again(text)
	if again != previews.AgainMissing && again != previews.AgainFailed && again != previews.AgainAll {
		return "", fmt.Errorf("must be missing, failed or all (got %q)", text)
	}
	return again, nil
}

// negative matches a negative number, perhaps with a unit.
var negative = regexp.MustCompile(`^-\.?[0-9]`)

// mapper returns an option that parses flags of type T with parse.
func mapper[T any](parse func(string) (T, error)) kong.Option {
	return kong.TypeMapper(reflect.TypeFor[T](),
		kong.MapperFunc(func(ctx *kong.DecodeContext, target reflect.Value) error {
			next := ctx.Scan.Peek()
			if next.IsEOL() {
				return errors.New("requires a value")
			}
			text := next.String()
			if negative.MatchString(text) {
				ctx.Scan.Pop() // PopValue would recommend to write the number in another way
			} else if _, err := ctx.Scan.PopValue("value"); err != nil {
				return fmt.Errorf("requires a value, after an equals sign if it begins with a hyphen (got %s)", text)
			}
			value, err := parse(text)
			if err != nil {
				return err
			}
			target.Set(reflect.ValueOf(value))
			return nil
		}))
}
