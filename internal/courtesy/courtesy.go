// Package courtesy lets long work that can wait give way to requests, for which somebody waits.
package courtesy

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

const (
	turn  = 5 * time.Millisecond  // how long work goes on before it looks whether a request is being answered
	most  = 4 * turn              // how long work waits for that after a turn, so a fifth of the time is its own however many come
	fresh = 50 * time.Millisecond // how long after the last request came work waits for those that are not answered: they are slow clients then
	look  = time.Millisecond
)

// Door is where requests come in. The zero Door is one at which nobody has been yet.
type Door struct {
	here atomic.Int64 // requests that are being answered
	last atomic.Int64 // when one came, ns since 1970
}

// Watch notes each request while it is being answered, but for those whose answer stays open.
func (d *Door) Watch(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") == "" && !strings.Contains(r.Header.Get("Accept"), "text/event-stream") {
			d.last.Store(time.Now().UnixNano())
			d.here.Add(1)
			defer d.here.Add(-1)
		}
		next.ServeHTTP(w, r)
	})
}

func (d *Door) busy(now time.Time) bool {
	return d.here.Load() > 0 && now.UnixNano()-d.last.Load() < int64(fresh)
}

// Work gives what one piece of work is to call often, every millisecond or so, and by one goroutine: it returns at once in the midst of a turn, and after it
// waits while requests are being answered, a while, and not after ctx has ended.
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
