package breadthfirst

import (
	"context"
	"sort"

	"github.com/99designs/gqlgen/graphql"
)

// group holds the objects of one type at one position of the response, and their resolved fields.
type group[E any] struct {
	plan    *plan[E]
	objects []any
	columns []column[E] // one for each field of the plan

	under *level[E]       // the level that contains the objects; nil for the root
	items []int32         // the items of under that are the objects; nil if all are, in the same order
	ctx   context.Context // the context of the first object
}

// column holds the resolved values of a field: scalars, the JSON of scalars, or objects. The zero
// value is null for all objects.
type column[E any] struct {
	values []any // scalars that the field's Append encodes

	json []byte  // the concatenated scalars
	ends []int32 // where the JSON of each object's scalar ends; null is empty

	objects *level[E]
}

// scalar returns the JSON of an object's scalar, or nothing for null.
func (c *column[E]) scalar(i int) []byte {
	start := int32(0)
	if i > 0 {
		start = c.ends[i-1]
	}
	return c.json[start:c.ends[i]]
}

// level holds the objects that are the values of a field of a group, in the order of the parents.
type level[E any] struct {
	parent *group[E]
	field  *plannedField[E]
	args   map[string]any

	starts []int32     // the items of parent i start here and end where those of the next parent start
	null   []bool      // whether a list is null; nil if none is
	slots  []slot      // the position of each item; nil if item i is object i of the only group
	groups []*group[E] // one for each type of object
}

// slot is the position of an object.
type slot struct{ group, index int32 } // group -1 is null

func (l *level[E]) slot(item int32) slot {
	if l.slots == nil {
		return slot{0, item}
	}
	return l.slots[item]
}

// place returns ctx with the field context of an object, as the generated executor sets it while it
// resolves the object. For objects other than the first, only errors need it.
func (g *group[E]) place(ctx context.Context, i int) context.Context {
	if g.under == nil {
		return graphql.WithFieldContext(ctx, &graphql.FieldContext{Object: g.plan.of.Name})
	}
	item := i
	if g.items != nil {
		item = int(g.items[i])
	}
	l := g.under
	parent := sort.Search(len(l.starts)-1, func(p int) bool { return int(l.starts[p+1]) > item })
	ctx = l.parent.fieldPlace(ctx, parent, l.field, l.args)
	if l.field.list {
		ctx = inList(ctx, item-int(l.starts[parent]))
	}
	return ctx
}

// fieldPlace returns ctx with the field context of a field of an object.
func (g *group[E]) fieldPlace(ctx context.Context, i int, f *plannedField[E], args map[string]any) context.Context {
	return graphql.WithFieldContext(g.place(ctx, i), g.fieldContext(f, args))
}

func (g *group[E]) fieldContext(f *plannedField[E], args map[string]any) *graphql.FieldContext {
	return &graphql.FieldContext{Object: g.plan.of.Name, Field: f.collected, Args: args, IsMethod: f.Resolve != nil ||
		f.Batch != nil, IsResolver: f.Batch != nil}
}

func inList(ctx context.Context, index int) context.Context {
	return graphql.WithFieldContext(ctx, &graphql.FieldContext{Index: &index})
}
