package breadthfirst

import (
	"slices"
	"sync"
)

// place is a field of a group.
type place[E any] struct {
	group *group[E]
	field int
}

func (p place[E]) planned() *plannedField[E] { return &p.group.plan.fields[p.field] }

// task is a field that may wait, at one place, or at several where the operation selects the same
// with the same arguments on the same type. Then one call of its batch resolver loads the values
// for the objects of all places.
type task[E any] []place[E]

// merge makes tasks of the places of a wave.
func merge[E any](places []place[E]) []task[E] {
	tasks := make([]task[E], 0, len(places))
	numbers := make(map[shape]int)
	for _, p := range places {
		f := p.planned()
		if f.Batch == nil || f.Directives != nil {
			tasks = append(tasks, task[E]{p})
			continue
		}
		n, ok := numbers[f.shape]
		if !ok {
			n = len(tasks)
			numbers[f.shape] = n
			tasks = append(tasks, nil)
		}
		tasks[n] = append(tasks[n], p)
	}
	return tasks
}

// resolve resolves the fields of groups and everything below them, in waves. A wave consists of the
// fields that may wait, of all objects that are known before it: they are resolved concurrently,
// and the objects that they return are resolved in the next wave. So the fields of sibling lists
// are loaded together, whichever of the lists was read first.
func (r *run[E]) resolve(groups ...*group[E]) {
	for len(groups) > 0 {
		var places []place[E]
		for _, g := range groups {
			places = r.begin(places, g)
		}
		tasks := merge(places)
		below := make([][]*group[E], len(tasks))
		var left sync.WaitGroup
		for i, t := range tasks {
			if i == len(tasks)-1 {
				below[i] = r.fields(t) // in this goroutine
				break
			}
			left.Go(func() { below[i] = r.fields(t) })
		}
		left.Wait()
		groups = slices.Concat(below...)
	}
}

// serially resolves the root fields of a mutation one after the other. Each is resolved with
// everything below it before the next one.
func (r *run[E]) serially(root *group[E]) {
	r.open(root)
	for i := range root.plan.fields {
		if f := &root.plan.fields[i]; f.Field != nil && f.Scalar == nil {
			r.resolve(r.fields(task[E]{{root, i}})...)
		}
	}
}

func (r *run[E]) open(g *group[E]) {
	g.columns = make([]column[E], len(g.plan.fields))
	g.ctx = g.place(r.ctx, 0)
}

// begin resolves the fields of a group that do not wait, and those of the objects that they return,
// and appends the fields that may wait to wave.
func (r *run[E]) begin(wave []place[E], g *group[E]) []place[E] {
	r.open(g)
	for i := range g.plan.fields {
		f := &g.plan.fields[i]
		switch {
		case f.Field == nil || f.Scalar != nil: // the writer reads it from the object
		case f.Waits:
			wave = append(wave, place[E]{g, i})
		default:
			for _, below := range r.fields(task[E]{{g, i}}) {
				wave = r.begin(wave, below)
			}
		}
	}
	return wave
}
