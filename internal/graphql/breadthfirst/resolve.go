package breadthfirst

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/meshyard/meshyard/internal/telemetry/tracing"
)

var errNull = errors.New("must not be null")

// fields resolves a field of all objects at the places of a task. It returns the groups of objects
// that are the values of the field. A panic makes it null.
func (r *run[E]) fields(t task[E]) (below []*group[E]) {
	defer func() {
		if cause := recover(); cause != nil {
			below = nil
			// RecoverFunc logs the panic, so it is called once.
			err := r.operation.RecoverFunc(t[0].group.fieldPlace(r.ctx, 0, t[0].planned(), nil), cause)
			for _, p := range t {
				p.group.columns[p.field] = column[E]{}
				for i := range p.group.objects {
					r.batchError(p.group, p.planned(), nil, i, err)
				}
			}
		}
	}()
	if r.over() {
		return nil
	}
	values, ctx, args := r.values(t)
	for _, p := range t {
		n := len(p.group.objects)
		below = append(below, r.keep(p, ctx, args, values[:n:n])...)
		values = values[n:]
	}
	return below
}

// keep stores the values of a field of a group.
func (r *run[E]) keep(p place[E], ctx context.Context, args map[string]any, values []any) (below []*group[E]) {
	g, f := p.group, p.planned()
	if !f.object() {
		g.columns[p.field] = r.scalars(g, f, ctx, args, values)
		return nil
	}
	l := r.objects(g, f, args, values)
	g.columns[p.field].objects = l
	for _, group := range l.groups {
		if len(group.objects) > 0 {
			below = append(below, group)
		}
	}
	return below
}

// values resolves a field to a value for each object at the places of a task; nil is null. It
// returns the context and the arguments of the field.
func (r *run[E]) values(t task[E]) (values []any, ctx context.Context, args map[string]any) {
	g, f := t[0].group, t[0].planned()
	if f.Get != nil && f.Directives == nil {
		values = make([]any, len(g.objects))
		for i, o := range g.objects {
			values[i] = f.Get(o)
		}
		return values, g.ctx, nil
	}
	fc := g.fieldContext(f, nil)
	ctx = context.WithValue(graphql.WithFieldContext(g.ctx, fc), selectionKey{}, t.selection())
	if f.Field.Waits && tracing.On(ctx) {
		var span tracing.Span
		ctx, span = tracing.Start(ctx, g.plan.of.Name+"."+f.collected.Name)
		span.Number("graphql.objects", int64(t.objects()))
		defer span.End()
	}
	if defaults := f.defaults.Load(); defaults != nil {
		fc.Args = *defaults
	} else if f.Args != nil {
		var err error
		if fc.Args, err = r.arguments(ctx, f); err != nil {
			// The arguments are the same for all objects, but each object gets its own error.
			for _, p := range t {
				for i := range p.group.objects {
					at := p.group.fieldPlace(r.ctx, i, p.planned(), nil)
					_, err := r.arguments(at, f)
					r.operation.Error(at, err)
				}
			}
			return make([]any, t.objects()), ctx, nil
		}
		if len(f.collected.Arguments) == 0 {
			args := fc.Args // a pointer into fc would keep the objects of this request in memory
			f.defaults.Store(&args)
		}
	}
	call := func(ctx context.Context, i int) (any, error) { return f.Resolve(ctx, r.ec, fc, g.objects[i]) }
	switch {
	case f.Get != nil:
		call = func(_ context.Context, i int) (any, error) { return f.Get(g.objects[i]), nil }
	case f.Batch != nil && f.Directives == nil:
		return r.batch(ctx, t, fc), ctx, fc.Args
	case f.Batch != nil:
		all := sync.OnceValue(func() []any { return r.batch(ctx, t, fc) })
		call = func(_ context.Context, i int) (any, error) { return all()[i], nil }
	}
	values = make([]any, len(g.objects))
	for i := range g.objects {
		values[i] = r.one(ctx, g, f, fc, i, call)
	}
	return values, ctx, fc.Args
}

// objects returns the number of objects at the places of a task.
func (t task[E]) objects() (n int) {
	for _, p := range t {
		n += len(p.group.objects)
	}
	return n
}

// selection returns what is selected on the values of a field at all places.
func (t task[E]) selection() *Selection {
	all := t[0].planned().selection
	for _, p := range t[1:] {
		if other := p.planned().selection; other != all {
			all = all.with(other)
		}
	}
	return all
}

// arguments converts the arguments of a field.
func (r *run[E]) arguments(ctx context.Context, f *plannedField[E]) (map[string]any, error) {
	// A nullable variable is valid in a non-null place that has a default value. Null does not select
	// the default, and the generated code would read it as zero.
	isNull := func(variable *ast.Value) bool {
		value, ok := r.operation.Variables[variable.Raw]
		return ok && value == nil && variable.ExpectedType.NonNull
	}
	if path := FindVariable(f.collected.Arguments, isNull); path != nil {
		return nil, gqlerror.WrapPath(slices.Concat(graphql.GetPath(ctx), path), errNull)
	}
	return f.Args(r.ec, ctx, f.collected.ArgumentMap(r.operation.Variables))
}

// one resolves a field for one object.
func (r *run[E]) one(ctx context.Context, g *group[E], f *plannedField[E], fc *graphql.FieldContext, i int,
	call func(context.Context, int) (any, error)) (value any) {
	defer func() {
		if cause := recover(); cause != nil {
			at := g.fieldPlace(r.ctx, i, f, fc.Args)
			r.operation.Error(at, r.operation.Recover(at, cause))
			value = nil
		}
	}()
	var err error
	if f.Directives != nil {
		value, err = f.Directives(ctx, r.ec, g.objects[i], func(ctx context.Context) (any, error) { return call(ctx, i) })
	} else {
		value, err = call(ctx, i)
	}
	if err != nil {
		at := g.fieldPlace(r.ctx, i, f, fc.Args)
		r.operation.Error(at, graphql.AddFieldLocationToError(at, err))
		return nil
	}
	return value
}

// batch resolves a field for all objects of a task at once.
func (r *run[E]) batch(ctx context.Context, t task[E], fc *graphql.FieldContext) []any {
	f, objects := t[0].planned(), t[0].group.objects
	for _, p := range t[1:] {
		objects = append(objects[:len(objects):len(objects)], p.group.objects...)
	}
	fail := func(i int, err error) {
		for _, p := range t {
			if i < len(p.group.objects) {
				r.batchError(p.group, p.planned(), fc.Args, i, err)
				return
			}
			i -= len(p.group.objects)
		}
	}
	values, err := f.Batch(ctx, r.ec, fc, objects)
	var each graphql.BatchErrors
	if errors.As(err, &each) && len(each.Errors()) == len(objects) {
		for i, err := range each.Errors() {
			if err != nil {
				fail(i, err)
			}
		}
		err = nil
	}
	if err == nil && len(values) != len(objects) {
		err = fmt.Errorf("%s.%s: the batch resolver returned %d values for %d objects", t[0].group.plan.of.Name,
			f.collected.Name, len(values), len(objects))
	}
	if err != nil {
		for i := range objects {
			fail(i, err)
		}
		return make([]any, len(objects))
	}
	return values
}

// batchError adds an error that several objects share to the field of one of them.
func (r *run[E]) batchError(g *group[E], f *plannedField[E], args map[string]any, i int, err error) {
	at := g.fieldPlace(r.ctx, i, f, args)
	index, _ := graphql.BatchParentIndex(at)
	graphql.AddBatchError(at, int(index), err)
}

// mustNotBeNull adds the error for a null in a non-null position, unless the position has an error
// already.
func (r *run[E]) mustNotBeNull(at context.Context) {
	if !graphql.HasFieldError(at, graphql.GetFieldContext(at)) {
		r.operation.Error(at, errNull)
	}
}

// scalars returns the column of a field without a selection. If the field has an Append, the column
// contains the values, and the writer encodes them: until then, aliases of a long text share its
// memory. Otherwise it contains their JSON.
func (r *run[E]) scalars(g *group[E], f *plannedField[E], ctx context.Context, args map[string]any,
	values []any) column[E] {
	if f.nonNull {
		for i, v := range values {
			if f.null(v) {
				r.mustNotBeNull(g.fieldPlace(r.ctx, i, f, args))
			}
		}
	}
	if f.Append != nil {
		r.kept.Add(int64(leastLength(values)))
		return column[E]{values: values}
	}
	c := column[E]{ends: make([]int32, len(values))}
	for i, v := range values {
		if !f.null(v) {
			if m := f.Marshal(ctx, r.ec, v); m != graphql.Null {
				m.MarshalGQL((*buffer)(&c.json))
			}
		}
		c.ends[i] = int32(len(c.json))
		if r.limit.Bytes > 0 && len(c.json) > r.limit.Bytes {
			break
		}
	}
	r.kept.Add(int64(len(c.json)))
	return c
}

// leastLength returns a lower bound of the length of the JSON of values.
func leastLength(values []any) int {
	n := 0
	for _, v := range values {
		n++
		if text, ok := v.(string); ok {
			n += len(text) + 1
		}
	}
	return n
}

// buffer is an io.Writer.
type buffer []byte

func (b *buffer) Write(p []byte) (int, error) {
	*b = append(*b, p...)
	return len(p), nil
}

func (b *buffer) WriteString(s string) (int, error) {
	*b = append(*b, s...)
	return len(s), nil
}

// objects creates a level from the values of a field.
func (r *run[E]) objects(g *group[E], f *plannedField[E], args map[string]any, values []any) *level[E] {
	l := &level[E]{parent: g, field: f, args: args, starts: make([]int32, len(values)+1)}
	items := make([]any, 0, len(values))
	sparse := false // whether there are null items
	for i, v := range values {
		switch {
		case f.null(v):
			if f.nonNull {
				r.mustNotBeNull(g.fieldPlace(r.ctx, i, f, args))
			}
			if f.list {
				l.setNull(i)
			}
		case !f.list:
			items = append(items, v)
		default:
			first := len(items)
			f.Each(v, func(element any) { items = append(items, element) })
			if slices.Contains(items[first:], nil) {
				sparse = true
				if f.elementNonNull {
					items = r.nullElements(g, f, args, i, items, first)
					l.setNull(i)
				}
			}
		}
		l.starts[i+1] = int32(len(items))
	}
	switch {
	case f.concrete != nil && !sparse:
		l.groups = []*group[E]{{plan: f.concrete, objects: items, under: l}}
	default:
		l.sort(items)
	}
	return l
}

// nullElements adds the errors of null elements, which make their list null, and removes the items
// of that list.
func (r *run[E]) nullElements(g *group[E], f *plannedField[E], args map[string]any, i int, items []any,
	first int) []any {
	for index, element := range items[first:] {
		if element == nil {
			r.mustNotBeNull(inList(g.fieldPlace(r.ctx, i, f, args), index))
		}
	}
	return items[:first]
}

// setNull marks the list of an object as null.
func (l *level[E]) setNull(i int) {
	if l.null == nil {
		l.null = make([]bool, len(l.starts)-1)
	}
	l.null[i] = true
}

// sort assigns items to groups by their types.
func (l *level[E]) sort(items []any) {
	l.slots = make([]slot, len(items))
	numbers := make(map[string]int32)
	for i, v := range items {
		plan, name := l.field.concrete, ""
		if plan == nil && v != nil {
			name, v = l.field.abstract(v)
			plan = l.field.below[name]
		}
		if v == nil {
			l.slots[i] = slot{group: -1}
			continue
		}
		n, ok := numbers[name]
		if !ok {
			n = int32(len(l.groups))
			numbers[name] = n
			l.groups = append(l.groups, &group[E]{plan: plan, under: l})
		}
		to := l.groups[n]
		l.slots[i] = slot{n, int32(len(to.objects))}
		to.objects, to.items = append(to.objects, v), append(to.items, int32(i))
	}
}
