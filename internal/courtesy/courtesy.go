// Package courtesy lets long work that can wait give way to requests, for which somebody waits.
package courtesy

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"
)

const (
	turn  = 5 * time.Millisecond  // how long work goes on before it looks whether a request has come
	quiet = 10 * time.Millisecond // how long no request must have come for work to go on
	most  = 4 * turn              // how long work waits for that after a turn, so a fifth of the time is its own however many come
	look  = 2 * time.Millisecond
)

// Door is where requests come in. The zero Door is one at which nobody has been yet.
type Door struct {
	last atomic.Int64 // when a request came, ns since 1970
}

// Watch notes each request as it comes. It does not count how many are being answered: clients that keep one open would hold up all work.
func (d *Door) Watch(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d.last.Store(time.Now().UnixNano())
		next.ServeHTTP(w, r)
	})
}

func (d *Door) busy(now time.Time) bool { return now.UnixNano()-d.last.Load() < int64(quiet) }

// Work gives what one piece of work is to call often, every millisecond or so, and by one goroutine: it returns at once in the midst of a turn, and after it
// waits while requests come, a while, and not after ctx has ended.
func (d *Door) Work() (giveWay func(ctx context.Context)) {
	began := time.Now()
	return func(ctx context.Context) {
		now := time.Now()
		if now.Sub(began) < turn {
			return
		}
		for end := now.Add(most); d.busy(now) && now.Before(end) && ctx.Err() == nil; now = time.Now() {
			time.Sleep(look)
		}
		began = now
	}
}
