// Package graphqlenum converts the constants of a Go type to the names of the values of a GraphQL
// enum, and back.
package graphqlenum

import (
	"fmt"

	"github.com/99designs/gqlgen/graphql"
)

// Enum is an enum whose values are constants of the type V.
type Enum[V comparable] struct {
	name   string // in the schema
	values map[string]V
	names  map[V]string
}

// Of returns the enum with a name. values has the constant for the name of each value.
func Of[V comparable](name string, values map[string]V) Enum[V] {
	e := Enum[V]{name, values, make(map[V]string, len(values))}
	for name, value := range values {
		e.names[value] = name
	}
	return e
}

// Marshal writes the name of a value. It is empty if v is no value.
func (e Enum[V]) Marshal(v V) graphql.Marshaler { return graphql.MarshalString(e.names[v]) }

// Append appends the encoding of Marshal to b. Names need no escaping.
func (e Enum[V]) Append(b []byte, v V) []byte {
	return append(append(append(b, '"'), e.names[v]...), '"')
}

// Unmarshal returns the value with a name, or the zero value for null. It returns an error if there
// is none: gqlparser does not distinguish upper and lower case in variables.
func (e Enum[V]) Unmarshal(v any) (V, error) {
	name, err := graphql.UnmarshalString(v)
	value, ok := e.values[name]
	if !ok && v != nil && err == nil {
		err = fmt.Errorf("%s is not a valid %s", name, e.name)
	}
	return value, err
}
