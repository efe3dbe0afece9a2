package main

import (
	_ "embed"
	"fmt"
	"go/constant"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/99designs/gqlgen/codegen/config"
	"github.com/99designs/gqlgen/codegen/templates"
	"github.com/vektah/gqlparser/v2/ast"
)

//go:embed enums.gotpl
var enumFunctions string

// enum is an enum of the schema that is bound to a Go type. The constants of the type are its
// values.
type enum struct {
	Name   string
	Type   *types.Named
	Values []enumValue // in the order of the schema
}

// enumValue is a value of an enum. Name is its name in the schema.
type enumValue struct {
	Name     string
	Constant *types.Const
}

// MutateConfig binds each enum to functions for its Go type and writes these functions next to the
// generated models. gqlgen could generate them from a list of all values, but its code reads an
// unknown name, such as one in the wrong case, as the zero value of the Go type.
func (plugin) MutateConfig(c *config.Config) error {
	enums, err := enumsOf(c)
	if err != nil {
		return err
	}
	for _, e := range enums {
		c.Models[e.Name] = config.TypeMapEntry{Model: config.StringList{c.Model.ImportPath() + "." + e.Name}}
	}
	return templates.Render(templates.Options{
		PackageName:     c.Model.Package,
		Filename:        filepath.Join(filepath.Dir(c.Model.Filename), "enums_gen.go"),
		Template:        enumFunctions,
		Data:            enums,
		GeneratedHeader: true,
		Packages:        c.Packages,
	})
}

// enumsOf returns the enums that are bound to Go types which are not generated, by name.
func enumsOf(c *config.Config) (enums []enum, err error) {
	binder := c.NewBinder()
	for _, name := range slices.Sorted(maps.Keys(c.Schema.Types)) {
		bound := c.Models[name].Model
		definition := c.Schema.Types[name]
		if definition.Kind != ast.Enum || definition.BuiltIn || len(bound) == 0 ||
			strings.HasPrefix(bound[0], c.Model.ImportPath()+".") {
			continue
		}
		t, err := binder.FindTypeFromName(bound[0])
		if err != nil {
			return nil, err
		}
		named, ok := t.(*types.Named)
		if !ok {
			return nil, fmt.Errorf("%s is bound to %s: want a type with constants", name, t)
		}
		e := enum{Name: name, Type: named}
		if e.Values, err = valuesOf(binder, definition, named, c.Models[name].EnumValues); err != nil {
			return nil, err
		}
		enums = append(enums, e)
	}
	return enums, nil
}

// valuesOf returns the constants of a type for the values of an enum. explicit has the constants
// that @goEnum names.
func valuesOf(binder *config.Binder, of *ast.Definition, t *types.Named,
	explicit map[string]config.EnumValue) (values []enumValue, err error) {
	named := make(map[string]*types.Const)
	for _, c := range constants(t) {
		named[enumName(constant.StringVal(c.Val()))] = c
	}
	for _, v := range of.EnumValues {
		c := named[v.Name]
		if path, ok := explicit[v.Name]; ok {
			dot := strings.LastIndexByte(path.Value, '.')
			object, err := binder.FindObject(path.Value[:max(dot, 0)], path.Value[dot+1:])
			if err != nil {
				return nil, fmt.Errorf("%s.%s: %w", of.Name, v.Name, err)
			}
			if c, ok = object.(*types.Const); !ok || c.Type() != t {
				return nil, fmt.Errorf("%s.%s: %s is not a constant of the type %s", of.Name, v.Name, object, t)
			}
		}
		if c == nil {
			return nil, fmt.Errorf(
				"%s.%s: no constant of the type %s has that name in upper case as its value: add it, or name one with @goEnum",
				of.Name, v.Name, t)
		}
		values = append(values, enumValue{v.Name, c})
	}
	return values, nil
}

// constants returns the constants of a string type in its package, by name.
func constants(t *types.Named) (all []*types.Const) {
	scope := t.Obj().Pkg().Scope()
	for _, name := range scope.Names() {
		if c, ok := scope.Lookup(name).(*types.Const); ok && c.Type() == t && c.Val().Kind() == constant.String {
			all = append(all, c)
		}
	}
	return all
}

// enumName returns the name in the schema of the value of a Go constant: THING_PUBLISHED for
// thing.published.
func enumName(value string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return '_'
		}
		return unicode.ToUpper(r)
	}, value)
}
