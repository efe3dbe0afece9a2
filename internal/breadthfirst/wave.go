package breadthfirst

import (
	"slices"
	"sync"
	"sync/atomic"
)

// task is a field of a group that may wait.
type task[E any] struct {
	group *group[E]
	field int
}

// wave is a set of tasks that do not depend on each other. Most of them only may wait: their
// values were often read together with the objects. So a task has no goroutine of its own until the
// one before it is about to wait.
type wave[E any] struct {
	run   *run[E]
	tasks []task[E]
	below [][]*group[E] // what each task found
	begun atomic.Int32  // tasks that were begun, or more
	left  sync.WaitGroup
}

func newWave[E any](r *run[E], tasks []task[E]) *wave[E] {
	w := &wave[E]{run: r, tasks: tasks, below: make([][]*group[E], len(tasks))}
	w.left.Add(len(tasks))
	return w
}

// do does all tasks and returns the groups of the objects that they found.
func (w *wave[E]) do() []*group[E] {
	w.doNext()
	w.left.Wait()
	return slices.Concat(w.below...)
}

// doNext does tasks until all are begun.
func (w *wave[E]) doNext() {
	for n, ok := w.begin(); ok; n, ok = w.begin() {
		w.doOne(n)
	}
}

// meanwhile continues with the next task in another goroutine. It is called when a task is about to
// wait, also by goroutines that tasks of earlier waves left behind.
func (w *wave[E]) meanwhile() {
	if n, ok := w.begin(); ok {
		go func() {
			w.doOne(n)
			w.doNext()
		}()
	}
}

// begin returns the next task, if there is one.
func (w *wave[E]) begin() (n int, ok bool) {
	n = int(w.begun.Add(1)) - 1
	return n, n < len(w.tasks)
}

func (w *wave[E]) doOne(n int) {
	defer w.left.Done()
	w.below[n] = w.run.field(w.tasks[n].group, w.tasks[n].field)
}
