// Package fieldset provides sets of the fields of a struct: those that a read of a row is asked
// for.
//
// A set is a parameter of the functions that read rows. The fields of a GraphQL selection are
// collected into one by the generated code of package exec, so no code lists them by hand.
package fieldset

import (
	"fmt"
	"math/bits"
	"reflect"
	"strings"
	"sync"
)

// Bits is a set without its type. The position of a bit is the index of a field in Fields.
type Bits [2]uint64

// maxFields is the maximum number of fields of a struct.
const maxFields = 2 * 64

// With returns the union of two sets.
func (b Bits) With(other Bits) Bits { return Bits{b[0] | other[0], b[1] | other[1]} }

// Set is a set of fields of the struct T. It is comparable, and its zero value is empty.
type Set[T any] struct{ bits Bits }

// Of returns the set of the fields of T with the given names. It panics if T does not have one of
// them, so sets belong into package variables.
func Of[T any](names ...string) Set[T] { return Set[T]{Named(reflect.TypeFor[T](), names...)} }

// FromBits returns the set with the given bits.
func FromBits[T any](b Bits) Set[T] { return Set[T]{b} }

// Bits returns the set without its type.
func (s Set[T]) Bits() Bits { return s.bits }

// With returns the union of two sets.
func (s Set[T]) With(other Set[T]) Set[T] { return Set[T]{s.bits.With(other.bits)} }

// Without returns the fields that are not in the other set.
func (s Set[T]) Without(other Set[T]) Set[T] {
	return Set[T]{Bits{s.bits[0] &^ other.bits[0], s.bits[1] &^ other.bits[1]}}
}

// Has reports whether all fields of the other set are in the set.
func (s Set[T]) Has(other Set[T]) bool { return other.Without(s) == Set[T]{} }

// HasAny reports whether any field of the other set is in the set.
func (s Set[T]) HasAny(other Set[T]) bool { return other.Without(s) != other }

// Fields returns the names of the fields in the set, in the order of the struct.
func (s Set[T]) Fields() []string {
	all := Fields(reflect.TypeFor[T]())
	var names []string
	for word, w := range s.bits {
		for ; w != 0; w &= w - 1 {
			names = append(names, all[64*word+bits.TrailingZeros64(w)])
		}
	}
	return names
}

// String returns the names of the fields.
func (s Set[T]) String() string { return strings.Join(s.Fields(), " ") }

// structs caches the result of Fields by type.
var structs sync.Map

// Fields returns the names of the exported fields of a struct, with those that are promoted from
// embedded structs. It panics if there are more than a set can hold.
func Fields(of reflect.Type) []string {
	if known, ok := structs.Load(of); ok {
		return known.([]string)
	}
	var names []string
	for _, f := range reflect.VisibleFields(of) {
		if f.IsExported() && !f.Anonymous {
			names = append(names, f.Name)
		}
	}
	if len(names) > maxFields {
		panic(fmt.Sprintf("fieldset: %s has %d fields, and a set holds %d", of, len(names), maxFields))
	}
	structs.Store(of, names)
	return names
}

// Named returns the set of the fields with the given names of a struct type, which may be a
// pointer. It panics if there is no such field.
func Named(of reflect.Type, names ...string) (b Bits) {
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	all := Fields(of)
	for _, name := range names {
		i := 0
		for i < len(all) && all[i] != name {
			i++
		}
		if i == len(all) {
			panic(fmt.Sprintf("fieldset: %s has no field %s", of, name))
		}
		b[i/64] |= 1 << (i % 64)
	}
	return b
}
