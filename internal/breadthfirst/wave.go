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
// with the same arguments on the same type. Then one call of its batch resolver loads the values for
// the objects of all places.
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

// do runs tasks concurrently, and returns the groups of the objects that are their results.
func (r *run[E]) do(tasks []task[E]) []*group[E] {
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
	return slices.Concat(below...)
}
