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

	"github.com/meshyard/meshyard/internal/tracing"
)

var errNull = errors.New("must not be null")

// resolve resolves the fields of groups and everything below them, in waves. A wave consists of the
// fields that may wait, of all objects that are known before it: they are resolved concurrently,
// and the objects that they return are resolved in the next wave. So the fields of sibling lists
// can be loaded together, whichever of the lists was read first.
func (r *run[E]) resolve(groups ...*group[E]) {
	for len(groups) > 0 {
		var tasks []task[E]
		for _, g := range groups {
			tasks = r.begin(tasks, g)
		}
		r.joinGroups(tasks)
		w := newWave(r, tasks)
		r.wave.Store(w)
		groups = w.do()
	}
}

// serially resolves the root fields of a mutation one after the other. Each is resolved with
// everything below it before the next one.
func (r *run[E]) serially(root *group[E]) {
	r.open(root)
	for i := range root.plan.fields {
		if f := &root.plan.fields[i]; f.Field != nil && f.Scalar == nil {
			r.resolve(r.field(root, i)...)
		}
	}
}

func (r *run[E]) open(g *group[E]) {
	g.columns = make([]column[E], len(g.plan.fields))
	g.ctx = g.place(r.ctx, 0)
}

// begin resolves the fields of a group that do not wait, and those of the objects that they return,
// and appends the fields that may wait to wave.
func (r *run[E]) begin(wave []task[E], g *group[E]) []task[E] {
	r.open(g)
	for i := range g.plan.fields {
		f := &g.plan.fields[i]
		switch {
		case f.Field == nil || f.Scalar != nil: // the writer reads it from the object
		case f.Waits:
			wave = append(wave, task[E]{g, i})
		default:
			for _, below := range r.field(g, i) {
				wave = r.begin(wave, below)
			}
		}
	}
	return wave
}

// joinGroups calls join with the objects of a wave, if some groups select the same fields.
func (r *run[E]) joinGroups(wave []task[E]) {
	if r.join == nil || !slices.ContainsFunc(wave, func(t task[E]) bool { return t.group != wave[0].group }) {
		return // there is at most one group
	}
	var sets [][]any
	seen, numbers := make(map[*group[E]]bool), make(map[shape]int)
	for _, t := range wave {
		g := t.group
		if g.under == nil || seen[g] {
			continue
		}
		seen[g] = true
		n, ok := numbers[g.plan.shape]
		if !ok {
			n = len(sets)
			numbers[g.plan.shape] = n
			sets = append(sets, nil)
		}
		sets[n] = append(sets[n], g.objects...)
	}
	if len(seen) > len(sets) {
		r.join(r.ctx, sets)
	}
}

// field resolves a field of all objects of a group. It returns the groups of objects that are the
// values of the field. A panic makes it null.
func (r *run[E]) field(g *group[E], i int) (below []*group[E]) {
	f := &g.plan.fields[i]
	defer func() {
		if cause := recover(); cause != nil {
			g.columns[i], below = column[E]{}, nil
			r.panicked(g, f, cause)
		}
	}()
	if r.over() {
		return nil
	}
	values, ctx, args := r.values(g, f)
	if !f.object() {
		g.columns[i] = r.scalars(g, f, ctx, args, values)
		return nil
	}
	l := r.objects(g, f, args, values)
	g.columns[i].objects = l
	for _, group := range l.groups {
		if len(group.objects) > 0 {
			below = append(below, group)
		}
	}
	return below
}

// panicked adds the error of a panic to a field for all objects.
func (r *run[E]) panicked(g *group[E], f *plannedField[E], cause any) {
	err := r.operation.RecoverFunc(g.fieldPlace(r.ctx, 0, f, nil), cause) // it logs the panic, once
	for i := range g.objects {
		r.batchError(g, f, nil, i, err)
	}
}

// values resolves a field to a value for each object; nil is null. It returns the context and the
// arguments of the field.
func (r *run[E]) values(g *group[E], f *plannedField[E]) (values []any, ctx context.Context, args map[string]any) {
	values = make([]any, len(g.objects))
	if f.Get != nil && f.Directives == nil {
		for i, o := range g.objects {
			values[i] = f.Get(o)
		}
		return values, g.ctx, nil
	}
	fc := g.fieldContext(f, nil)
	ctx = graphql.WithFieldContext(g.ctx, fc)
	if f.Field.Waits && tracing.On(ctx) {
		var span tracing.Span
		ctx, span = tracing.Start(ctx, g.plan.of.Name+"."+f.collected.Name)
		span.Number("graphql.objects", int64(len(g.objects)))
		defer span.End()
	}
	if defaults := f.defaults.Load(); defaults != nil {
		fc.Args = *defaults
	} else if f.Args != nil {
		var err error
		if fc.Args, err = r.arguments(ctx, f); err != nil {
			// The arguments are the same for all objects, but each object gets its own error.
			for i := range g.objects {
				at := g.fieldPlace(r.ctx, i, f, nil)
				_, err := r.arguments(at, f)
				r.operation.Error(at, err)
			}
			return values, ctx, nil
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
		return r.batch(ctx, g, f, fc), ctx, fc.Args
	case f.Batch != nil:
		all := sync.OnceValue(func() []any { return r.batch(ctx, g, f, fc) })
		call = func(_ context.Context, i int) (any, error) { return all()[i], nil }
	}
	for i := range g.objects {
		values[i] = r.one(ctx, g, f, fc, i, call)
	}
	return values, ctx, fc.Args
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
func (r *run[E]) one(ctx context.Context, g *group[E], f *plannedField[E], fc *graphql.FieldContext, i int, call func(context.Context, int) (any, error)) (value any) {
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

// batch resolves a field for all objects at once.
func (r *run[E]) batch(ctx context.Context, g *group[E], f *plannedField[E], fc *graphql.FieldContext) []any {
	values, err := f.Batch(ctx, r.ec, fc, g.objects)
	var each graphql.BatchErrors
	if errors.As(err, &each) && len(each.Errors()) == len(g.objects) {
		for i, err := range each.Errors() {
			if err != nil {
				r.batchError(g, f, fc.Args, i, err)
			}
		}
		err = nil
	}
	if err == nil && len(values) != len(g.objects) {
		err = fmt.Errorf("%s.%s: the batch resolver returned %d values for %d objects", g.plan.of.Name, f.collected.Name, len(values), len(g.objects))
	}
	if err != nil {
		for i := range g.objects {
			r.batchError(g, f, fc.Args, i, err)
		}
		return make([]any, len(g.objects))
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
func (r *run[E]) scalars(g *group[E], f *plannedField[E], ctx context.Context, args map[string]any, values []any) column[E] {
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
func (r *run[E]) nullElements(g *group[E], f *plannedField[E], args map[string]any, i int, items []any, first int) []any {
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
