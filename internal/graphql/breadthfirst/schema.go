// Package breadthfirst executes GraphQL operations level by level.
//
// The executor that gqlgen can generate resolves a response depth first, with a goroutine, a field
// context and a tree of marshalers for each object. This one resolves a field once for all objects
// at the same position of the response, stores the results in columns, and then writes the JSON in
// one pass into one buffer. Resolvers, arguments, directives, scalars and errors are those of the
// generated code, which it calls through a table that package graphqlgen generates.
package breadthfirst

import (
	"context"
	"reflect"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/meshyard/meshyard/internal/fieldset"
)

// Schema describes how the fields of all object types are resolved and written. E is the generated
// execution context.
type Schema[E any] struct {
	Types map[string]*Type[E]
	// Abstract returns, for a value of an interface or a union, the name of its object type and the
	// object.
	Abstract map[string]func(value any) (typeName string, object any)
}

// Type is an object type.
type Type[E any] struct {
	Name       string
	Implements []string     // its own name and those of its interfaces and unions
	Row        reflect.Type // of an object that is a row of a table; otherwise nil
	Fields     map[string]*Field[E]
}

// Field describes how a field is resolved: by exactly one of Scalar, Get, Resolve and Batch.
type Field[E any] struct {
	// Scalar appends the JSON of a scalar that the object contains. It returns false for null.
	Scalar func(b []byte, object any) ([]byte, bool)
	// Get returns a value that the object contains.
	Get func(object any) any
	// Resolve calls a resolver, or a method that takes arguments or a context, or returns an error.
	Resolve func(ctx context.Context, ec E, fc *graphql.FieldContext, object any) (any, error)
	// Batch calls a resolver for all objects of a level. It returns a value for each object.
	Batch func(ctx context.Context, ec E, fc *graphql.FieldContext, objects []any) ([]any, error)

	// Reads has the fields of the row that the field reads, if the object is a row.
	Reads fieldset.Bits
	// Contains is set if a resolver returns a value that contains the row of the object, which is
	// read with what is selected there.
	Contains bool

	// Args converts the arguments; nil if the field has none.
	Args func(ec E, ctx context.Context, raw map[string]any) (map[string]any, error)
	// Directives runs the directives of the field around next; nil if it has none.
	Directives func(ctx context.Context, ec E, object any, next graphql.Resolver) (any, error)
	// Receive waits for the next value of the channel that the resolver of a subscription returns. It
	// is nil for all other fields.
	Receive func(ctx context.Context, channel any) (value any, ok bool)
	// Waits is set for a field that may wait for the database, and is therefore resolved
	// concurrently with others.
	Waits bool

	// Append appends the JSON of a resolved value. It is nil for objects and for values that
	// Marshal writes.
	Append func(b []byte, value any) []byte
	// Marshal writes scalars that have no Append, and lists of scalars.
	Marshal func(ctx context.Context, ec E, value any) graphql.Marshaler
	// Each passes the elements of a list of objects to add.
	Each func(value any, add func(object any))
	// Nil reports whether a value is null although it has a type. It is nil if values of that type
	// never are.
	Nil func(value any) bool
}

// null reports whether a value is null.
func (f *Field[E]) null(value any) bool { return value == nil || f.Nil != nil && f.Nil(value) }

// missing returns the fields and the abstract types of a schema that the table lacks, or that it
// contains without their arguments.
func (s Schema[E]) missing(schema *ast.Schema) (names []string) {
	for _, definition := range schema.Types {
		if definition.IsAbstractType() && s.Abstract[definition.Name] == nil {
			names = append(names, definition.Name)
		}
		if definition.Kind != ast.Object || strings.HasPrefix(definition.Name, "__") {
			continue
		}
		of := s.Types[definition.Name]
		for _, field := range definition.Fields {
			if strings.HasPrefix(field.Name, "__") {
				continue
			}
			if of == nil || of.Fields[field.Name] == nil || (of.Fields[field.Name].Args != nil) != (len(field.Arguments) > 0) {
				names = append(names, definition.Name+"."+field.Name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// The functions below are helpers for the generated table.

// Objects converts objects to their type.
func Objects[T any](objects []any) []T {
	typed := make([]T, len(objects))
	for i, o := range objects {
		typed[i] = o.(T)
	}
	return typed
}

// Values converts the values of a batch resolver to []any.
func Values[T any](typed []T, err error) ([]any, error) {
	values := make([]any, len(typed))
	for i, v := range typed {
		values[i] = v
	}
	return values, err
}

// Value converts the value of a resolver to any.
func Value[T any](v T, err error) (any, error) { return v, err }

// NilPointer reports whether a value of a pointer type is nil.
func NilPointer[T any](value any) bool { return value.(*T) == nil }

// NilSlice reports whether a value of a slice type is nil.
func NilSlice[T any](value any) bool { return value.([]T) == nil }

// EachPointer passes the elements of a slice of pointers; a nil pointer becomes nil.
func EachPointer[T any](value any, add func(any)) {
	for _, p := range value.([]*T) {
		if p == nil {
			add(nil)
		} else {
			add(p)
		}
	}
}

// EachInterface passes the elements of a slice of interfaces.
func EachInterface[T any](value any, add func(any)) {
	for _, v := range value.([]T) {
		add(v)
	}
}

// EachStruct passes pointers to the elements of a slice of structs.
func EachStruct[T any](value any, add func(any)) {
	all := value.([]T)
	for i := range all {
		add(&all[i])
	}
}
