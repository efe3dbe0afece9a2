// Package courtesy lets long work that can wait give way to requests, for which somebody waits.
package courtesy

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"
)

const (
	turn  = 5 * time.Millisecond  // how long work goes on before it looks whether requests are being answered
	most  = 4 * turn              // how long work waits for them after a turn, so a fifth of the time is its own however many come
	pass  = 5 * time.Millisecond  // how long an upload waits for them with its next bytes
	fresh = 50 * time.Millisecond // how long after the last request came anybody waits for those that are not answered: they are slow clients then
	lull  = 10 * time.Millisecond // how long after it uploads, of which there are many, do not rush
	look  = time.Millisecond
)

// Door is where requests come in.
type Door struct {
	here atomic.Int64  // requests that are being answered
	last atomic.Int64  // when one came that found, or made, half of the processors busy, ns since 1970
	gate chan struct{} // full: an upload is going through
}

// New gives a door at which nobody has been yet.
func New() *Door { return &Door{gate: make(chan struct{}, 1)} }

// visit is one request.
type visit struct {
	door *Door
	left atomic.Bool
}

type visitKey struct{}

// Enter counts a request from now until leave is called or Leave is called with the context that
// it returns.
func (d *Door) Enter(ctx context.Context) (inside context.Context, leave func()) {
	if d.many(d.here.Add(1)) {
		d.last.Store(time.Now().UnixNano())
	}
	v := &visit{door: d}
	return context.WithValue(ctx, visitKey{}, v), v.leave
}

func (v *visit) leave() {
	if v.left.CompareAndSwap(false, true) {
		v.door.here.Add(-1)
	}
}

// Leave says of the request whose context it is, if it is one, that it goes on for as long as its client likes: nobody gives way to it any more.
func Leave(ctx context.Context) {
	if v, ok := ctx.Value(visitKey{}).(*visit); ok {
		v.leave()
	}
}

// many tells whether requests take half of the processors or more.
func (*Door) many(requests int64) bool { return 2*requests >= int64(runtime.GOMAXPROCS(0)) }

func (d *Door) busy(since time.Duration) bool { return since < fresh && d.many(d.here.Load()) }

// await waits while busy tells so of the time since a request came, for so long at most, and not after ctx has ended.
func (d *Door) await(ctx context.Context, busy func(since time.Duration) bool, most time.Duration) {
	now := time.Now()
	for end := now.Add(most); busy(time.Duration(now.UnixNano()-d.last.Load())) && now.Before(end) && ctx.Err() == nil; now = time.Now() {
		time.Sleep(look)
	}
}

// Work gives what one piece of work is to call often, every millisecond or so, and by one goroutine: it returns at once in the midst of a turn, and after it
// waits while requests are being answered, a while, and not after ctx has ended.
func (d *Door) Work() (giveWay func(ctx context.Context)) {
	began := time.Now()
	return func(ctx context.Context) {
		if time.Since(began) < turn {
			return
		}
		d.await(ctx, d.busy, most)
		began = time.Now()
	}
}

// Pass is called by each upload for some hundred KiB, which cost a millisecond. While requests are being answered uploads go on one at a time, each after it
// has waited a while, so that however many there are they take a fifth of one processor.
func (d *Door) Pass(ctx context.Context) {
	rushing := func(since time.Duration) bool { return since < lull || d.busy(since) }
	if !rushing(time.Duration(time.Now().UnixNano() - d.last.Load())) {
		return
	}
	select {
	case d.gate <- struct{}{}:
		d.await(ctx, rushing, pass)
		<-d.gate
	case <-ctx.Done():
	}
}
