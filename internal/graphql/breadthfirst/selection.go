package breadthfirst

import (
	"context"
	"reflect"

	"github.com/meshyard/meshyard/internal/fieldset"
)

// Selection is what an operation selects on the values of a field: the fields of rows to read, by
// the type of the row. If the values are not rows, such as a connection, it includes the rows that
// they contain. It does not include what other resolvers load.
type Selection struct {
	rows map[reflect.Type]fieldset.Bits
}

type selectionKey struct{}

// Selected returns the fields of T to read for the values of the field that a resolver resolves. ok
// is false if it is not known, because another executor calls the resolver: then all fields must be
// read.
func Selected[T any](ctx context.Context) (set fieldset.Set[T], ok bool) {
	s, ok := ctx.Value(selectionKey{}).(*Selection)
	if ok {
		set = fieldset.FromBits[T](s.rows[reflect.TypeFor[T]()])
	}
	return set, ok
}

// selectionOf returns the selection of a field.
func selectionOf[E any](f *plannedField[E]) *Selection {
	s := &Selection{rows: make(map[reflect.Type]fieldset.Bits)}
	addBelow(s, f)
	return s
}

func addBelow[E any](s *Selection, f *plannedField[E]) {
	if f.concrete != nil {
		f.concrete.addTo(s)
	}
	for _, below := range f.below {
		below.addTo(s)
	}
}

// addTo adds the selection on objects of one type.
func (p *plan[E]) addTo(s *Selection) {
	for i := range p.fields {
		f := &p.fields[i]
		if f.Field == nil {
			continue
		}
		if p.of.Row != nil {
			s.rows[p.of.Row] = s.rows[p.of.Row].With(f.Reads)
		}
		if f.Get != nil || f.Contains { // the object contains the value, or the value the object
			addBelow(s, f)
		}
	}
}

// with returns the union of two selections of fields with the same shape.
func (s *Selection) with(other *Selection) *Selection {
	all := &Selection{rows: make(map[reflect.Type]fieldset.Bits, len(s.rows))}
	for _, some := range []*Selection{s, other} {
		for row, bits := range some.rows {
			all.rows[row] = all.rows[row].With(bits)
		}
	}
	return all
}
