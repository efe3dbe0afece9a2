package rest

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/formatter"

	"github.com/meshyard/meshyard/internal/license"
	"github.com/meshyard/meshyard/rest/wire"
)

// describer converts wire structs and GraphQL input types to JSON Schema. Each struct becomes one
// component.
type describer struct {
	schema     *ast.Schema
	components object
}

var errorType = reflect.TypeFor[wire.ErrorSchema]()

// fieldSchemas has the schemas of types that are not encoded as their kind suggests.
var fieldSchemas = map[reflect.Type]object{
	reflect.TypeFor[wire.Flag](): {"type": "integer", "enum": []int{0, 1}},
	reflect.TypeFor[wire.Time](): {"type": "string", "pattern": `^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\+00:00$`,
		"examples": []string{"2015-04-09T12:55:22+00:00"}},
	reflect.TypeFor[wire.FileTime](): {"type": "string", "pattern": `^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$`,
		"examples": []string{"2015-04-09 12:55:22"}},
	reflect.TypeFor[wire.Hash](): {"type": "string", "contentEncoding": "base64",
		"description": "The MD5 of the bytes."},
	reflect.TypeFor[wire.License]():     {"type": "string", "enum": licenseNames()},
	reflect.TypeFor[wire.LicenseCode](): {"type": "string", "enum": licenseCodes()},
	reflect.TypeFor[wire.Parts]():       {"type": "array", "items": object{"type": "object"}},
	reflect.TypeFor[wire.ID]():          {"type": "integer", "format": "int64"},
}

func licenseNames() []string {
	var names []string
	for _, l := range license.All {
		if name := string(wire.NameOf(l.ID)); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

func licenseCodes() []string {
	codes := make([]string, len(wire.Licenses))
	for i, row := range wire.Licenses {
		codes[i] = row.Code
	}
	return codes
}

// schemaOf returns the schema of a Go type in its JSON encoding.
func (d *describer) schemaOf(t reflect.Type) object {
	if s := fieldSchemas[t]; s != nil {
		return s
	}
	switch t {
	case reflect.TypeFor[wire.OKSchema]():
		return object{"type": "object", "required": []string{"ok"}, "properties": object{"ok": object{"const": "ok"}}}
	case reflect.TypeFor[eitherSchema]():
		return object{"anyOf": []object{d.schemaOf(t.Field(0).Type.Elem()), d.schemaOf(t.Field(1).Type.Elem())}}
	case reflect.TypeFor[wire.OrEmpty[wire.FullThingSchema]](), reflect.TypeFor[wire.OrEmpty[wire.ShortThingSchema]]():
		return object{"anyOf": []object{d.schemaOf(t.Field(0).Type.Elem()),
			{"type": "object", "additionalProperties": false}}}
	case reflect.TypeFor[wire.Hit]():
		var kinds []object
		for _, name := range slices.Sorted(maps.Keys(wire.HitSchemas)) {
			kinds = append(kinds, d.schemaOf(reflect.TypeOf(wire.HitSchemas[name]()).Elem()))
		}
		return object{"anyOf": kinds}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return nullable(d.schemaOf(t.Elem()))
	case reflect.Slice:
		items := t.Elem()
		if items.Kind() == reflect.Pointer {
			items = items.Elem() // the elements of lists are never null
		}
		return object{"type": "array", "items": d.schemaOf(items)}
	case reflect.Map:
		values := t.Elem()
		if values.Kind() == reflect.Pointer {
			values = values.Elem()
		}
		return object{"type": "object", "additionalProperties": d.schemaOf(values)}
	case reflect.Struct:
		return d.component(t)
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Int, reflect.Int64:
		return object{"type": "integer"}
	case reflect.String:
		return object{"type": "string"}
	}
	return object{}
}

func nullable(s object) object {
	if kind, ok := s["type"].(string); ok {
		with := object{}
		maps.Copy(with, s)
		with["type"] = []string{kind, "null"}
		return with
	}
	return object{"anyOf": []object{s, {"type": "null"}}}
}

// component adds the schema of a struct to the components and returns a reference to it. Every
// field that is always written is required.
func (d *describer) component(t reflect.Type) object {
	name := strings.ToUpper(t.Name()[:1]) + t.Name()[1:]
	if d.components[name] == nil {
		properties, required := object{}, []string{}
		described := object{"type": "object", "properties": properties, "additionalProperties": false}
		d.components[name] = described // before its fields, which may refer to it
		for _, f := range reflect.VisibleFields(t) {
			key, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			if f.Anonymous || shadowed(t, f) {
				continue
			}
			// Fields with omitempty are only read, never written. The errors field of ErrorSchema is the
			// exception.
			if options == "omitempty" && t != errorType {
				continue
			}
			if options == "" {
				required = append(required, key)
				properties[key] = d.schemaOf(f.Type)
				continue
			}
			of := f.Type // it is not null if it is written at all
			if of.Kind() == reflect.Pointer {
				of = of.Elem()
			}
			properties[key] = d.schemaOf(of)
		}
		described["required"] = required
	}
	return object{"$ref": "#/components/schemas/" + name}
}

// shadowed reports whether a field of an embedded struct is shadowed by a field of the struct
// itself.
func shadowed(t reflect.Type, f reflect.StructField) bool {
	own, _ := t.FieldByName(f.Name)
	return len(own.Index) < len(f.Index)
}

// inputOf returns the schema of a variable's type as REST clients send it.
func (d *describer) inputOf(t *ast.Type) object {
	if t.Elem != nil {
		return object{"type": "array", "items": d.inputOf(t.Elem)}
	}
	definition := d.schema.Types[t.NamedType]
	switch {
	case definition.Kind == ast.Enum:
		words := words(definition)
		if definition.Name == "License" {
			words = licenseCodes()
		}
		schema := object{"type": "string", "enum": words}
		if slices.Contains(words, "thing") { // the usual target; tools would show the first word
			schema["examples"] = []string{"thing"}
		}
		return schema
	case definition.Kind == ast.InputObject:
		properties, required := object{}, []string{}
		for _, f := range definition.Fields {
			properties[f.Name] = d.inputOf(f.Type)
			if f.Type.NonNull && f.DefaultValue == nil {
				required = append(required, f.Name)
			}
		}
		return object{"type": "object", "properties": properties, "required": required}
	}
	switch t.NamedType {
	case "ID":
		return object{"type": []string{"integer", "string"}, "format": "int64"}
	case "Int", "Int64":
		return object{"type": "integer"}
	case "Boolean":
		return object{"type": []string{"integer", "boolean"}}
	case "DateTime":
		return object{"type": "string", "examples": []string{"2026-01-31", "now-7d", "now-1M/d"}}
	case "Upload":
		return object{"type": "string", "contentMediaType": "application/octet-stream"}
	}
	return object{"type": "string"}
}

// words returns the values of an enum as the REST API writes them.
func words(definition *ast.Definition) []string {
	var list []string
	for _, name := range enumNames(definition) {
		list = append(list, strings.ReplaceAll(strings.ToLower(name), "_", "-"))
	}
	switch definition.Name {
	case "SearchSort":
		list = append(list, sortThings)
	case "TargetType":
		list = append(list, copyTarget)
	}
	slices.Sort(list)
	return list
}

// text returns an operation as GraphQL text.
func text(op *ast.OperationDefinition) string {
	var b strings.Builder
	formatter.NewFormatter(&b, formatter.WithIndent("  ")).
		FormatQueryDocument(&ast.QueryDocument{Operations: ast.OperationList{op}})
	return b.String()
}
