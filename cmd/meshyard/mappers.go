package main

import (
	"fmt"
	"reflect"

	"github.com/alecthomas/kong"

	"github.com/meshyard/meshyard/internal/config"
)

// mappers returns options for types of flags whose values kong would reject with an unclear message
// or parse differently.
func mappers() []kong.Option {
	return []kong.Option{
		mapper(config.ParseDuration),
	}
}

// mapper returns an option that parses flags of type T with parse.
func mapper[T any](parse func(string) (T, error)) kong.Option {
	return kong.TypeMapper(reflect.TypeFor[T](), kong.MapperFunc(func(ctx *kong.DecodeContext, target reflect.Value) error {
		token, err := ctx.Scan.PopValue("value")
		if err != nil {
			return err
		}
		value, err := parse(fmt.Sprint(token.Value))
		if err != nil {
			return err
		}
		target.Set(reflect.ValueOf(value))
		return nil
	}))
}
