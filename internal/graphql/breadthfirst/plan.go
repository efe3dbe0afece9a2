package breadthfirst

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// plan is the set of fields that an operation selects on the objects of one type at one
// position of the response.
type plan[E any] struct {
	of     *Type[E]
	fields []plannedField[E]
	shape  string       // equal for plans that select the same below each object, except its scalars
	size   atomic.Int64 // bytes of the last response, for the root selection
}

// plannedField is a field of a plan.
type plannedField[E any] struct {
	*Field[E]      // nil for __typename
	collected      graphql.CollectedField
	key            []byte // the JSON before the value: "alias":
	nonNull        bool
	list           bool
	elementNonNull bool

	// defaults has the arguments of a field that is selected without arguments, once they were
	// determined. Requests share them.
	defaults atomic.Pointer[map[string]any]

	// The plan for the values of the field: concrete is set for an object type, below and
	// abstract for an abstract type.
	concrete *plan[E]
	abstract func(value any) (typeName string, object any)
	below    map[string]*plan[E] // by name of the object type

	shape     shape      // equal for fields of one type that select the same
	selection *Selection // what is selected on the values
}

// plan returns the plan of an operation. Plans are cached as long as their document.
func (x *Executable[E]) plan(oc *graphql.OperationContext) *plan[E] {
	if known, ok := x.plans.Load(oc.Operation); ok {
		return known
	}
	root := x.schema.Types[rootName(x.Schema(), oc.Operation)]
	plan := x.selection(oc, root, oc.Operation.SelectionSet)
	// A plan that depends on variables is computed for each request.
	if !conditional(oc.Operation.SelectionSet, make(map[string]bool)) {
		x.plans.Store(oc.Operation, plan)
	}
	return plan
}

func rootName(schema *ast.Schema, operation *ast.OperationDefinition) string {
	switch operation.Operation {
	case ast.Mutation:
		return schema.Mutation.Name
	case ast.Subscription:
		return schema.Subscription.Name
	}
	return schema.Query.Name
}

// conditional reports whether a selection depends on a variable, by @skip or @include.
func conditional(set ast.SelectionSet, seen map[string]bool) bool {
	for _, s := range set {
		var directives ast.DirectiveList
		var below ast.SelectionSet
		switch s := s.(type) {
		case *ast.Field:
			directives, below = s.Directives, s.SelectionSet
		case *ast.InlineFragment:
			directives, below = s.Directives, s.SelectionSet
		case *ast.FragmentSpread:
			directives = s.Directives
			if !seen[s.Name] {
				seen[s.Name] = true
				below = s.Definition.SelectionSet
			}
		}
		for _, d := range directives {
			for _, argument := range d.Arguments {
				if argument.Value.Kind == ast.Variable {
					return true
				}
			}
		}
		if conditional(below, seen) {
			return true
		}
	}
	return false
}

// mergeAliases merges fields with the same alias, which are left if a field is selected on two
// types that do not implement each other, such as two interfaces.
func mergeAliases(collected []graphql.CollectedField) []graphql.CollectedField {
	first := make(map[string]int, len(collected))
	merged := collected[:0:0]
	for _, c := range collected {
		i, ok := first[c.Alias]
		if !ok {
			first[c.Alias] = len(merged)
			merged = append(merged, c)
			continue
		}
		merged[i].Selections = slices.Concat(merged[i].Selections, c.Selections)
	}
	return merged
}

// selection plans the selection on objects of one type.
func (x *Executable[E]) selection(oc *graphql.OperationContext, of *Type[E], set ast.SelectionSet) *plan[E] {
	collected := mergeAliases(graphql.CollectFields(oc, set, of.Implements))
	s := &plan[E]{of: of, fields: make([]plannedField[E], len(collected))}
	for i, c := range collected {
		f := &s.fields[i]
		f.collected, f.key = c, append(AppendString(nil, c.Alias), ':')
		if c.Name != "__typename" {
			x.planField(oc, of, f)
		}
	}
	s.shape = s.digest()
	return s
}

// shape is a hash of the arguments and the selection of a field. It is a hash because the text
// would be as long as the selection.
type shape [sha256.Size]byte

// digest sets the shapes of the fields of a plan, and returns its own: the hash of its type and of
// its fields, with their arguments and the shapes of their selections. Scalars that the object
// itself contains are not included: they do not change which other objects are loaded.
func (s *plan[E]) digest() string {
	var fields []string
	for i := range s.fields {
		f := &s.fields[i]
		if f.Field == nil || f.Scalar != nil {
			continue
		}
		var b strings.Builder
		b.WriteString(f.collected.Name)
		for _, a := range f.collected.Arguments {
			b.WriteString(" " + a.Name + ":" + a.Value.String())
		}
		if f.concrete != nil {
			b.WriteString(f.concrete.shape)
		}
		for _, name := range slices.Sorted(maps.Keys(f.below)) {
			b.WriteString(f.below[name].shape)
		}
		f.shape = sha256.Sum256([]byte(s.of.Name + "." + b.String()))
		fields = append(fields, string(f.shape[:]))
	}
	slices.Sort(fields)
	sum := sha256.Sum256([]byte(s.of.Name + "{" + strings.Join(fields, "") + "}"))
	return string(sum[:])
}

func (x *Executable[E]) planField(oc *graphql.OperationContext, of *Type[E], f *plannedField[E]) {
	f.Field = of.Fields[f.collected.Name]
	if f.Field == nil {
		// The validator rejects such a document.
		panic(fmt.Sprintf("%s has no field %s", of.Name, f.collected.Name))
	}
	t := f.collected.Definition.Type
	f.nonNull, f.list = t.NonNull, f.Each != nil
	if f.list {
		f.elementNonNull = t.Elem.NonNull
	}
	name := t.Name()
	if below := x.schema.Types[name]; below != nil {
		f.concrete = x.selection(oc, below, f.collected.Selections)
	} else if f.abstract = x.schema.Abstract[name]; f.abstract != nil {
		f.below = make(map[string]*plan[E])
		for _, possible := range x.Schema().PossibleTypes[name] {
			f.below[possible.Name] = x.selection(oc, x.schema.Types[possible.Name], f.collected.Selections)
		}
	}
	f.selection = selectionOf(f)
}

// object reports whether the values of the field are objects.
func (f *plannedField[E]) object() bool { return f.concrete != nil || f.below != nil }
