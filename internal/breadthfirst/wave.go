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

// wave is a set of tasks that do not depend on each other. Most tasks can wait but do not, because
// their values were read together with the objects. So tasks run one after the other in the same
// goroutine. Only when a task is about to wait does another goroutine continue with the next one.
type wave[E any] struct {
	run   *run[E]
	tasks []task[E]
	below [][]*group[E] // the result of each task
	begun atomic.Int32  // number of tasks that were started; it can exceed that of all tasks
	left  sync.WaitGroup
}

func newWave[E any](r *run[E], tasks []task[E]) *wave[E] {
	w := &wave[E]{run: r, tasks: tasks, below: make([][]*group[E], len(tasks))}
	w.left.Add(len(tasks))
	return w
}

// do runs all tasks and returns the groups of the objects that are their results.
func (w *wave[E]) do() []*group[E] {
	w.doNext()
	w.left.Wait()
	return slices.Concat(w.below...)
}

// doNext runs tasks until all have been started.
func (w *wave[E]) doNext() {
	for n, ok := w.begin(); ok; n, ok = w.begin() {
		w.doOne(n)
	}
}

// meanwhile continues with the next task in another goroutine. It is called when a task is about to
// wait. Goroutines that were started by tasks of earlier waves may call it, too.
func (w *wave[E]) meanwhile() {
	if n, ok := w.begin(); ok {
		go func() {
			w.doOne(n)
			w.doNext()
		}()
	}
}

// begin returns the index of the next task. ok is false if all tasks have been started.
func (w *wave[E]) begin() (n int, ok bool) {
	n = int(w.begun.Add(1)) - 1
	return n, n < len(w.tasks)
}

func (w *wave[E]) doOne(n int) {
	defer w.left.Done()
	w.below[n] = w.run.field(w.tasks[n].group, w.tasks[n].field)
}
