package courtesy

import (
	"context"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// work works for a second of turns, while a request comes every interval that is answered after some time, and tells how long that took.
func work(ctx context.Context, interval, answered time.Duration, leaves bool) time.Duration {
	d := New()
	h := watch(d, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if leaves {
			Leave(r.Context())
		}
		time.Sleep(answered)
	}))
	requests, stop := context.WithCancel(context.Background())
	var asking sync.WaitGroup
	defer func() {
		stop()
		asking.Wait()
	}()
	asking.Go(func() {
		for interval > 0 && requests.Err() == nil {
			asking.Go(func() { h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil)) })
			time.Sleep(interval)
		}
	})
	giveWay, began := d.Work(), time.Now()
	for range 1000 {
		time.Sleep(time.Millisecond)
		giveWay(ctx)
	}
	return time.Since(began)
}

// Work goes on as if alone where nothing is asked or what is open is not being answered, waits while requests are, and has a fifth of the time where they come
// without end.
func TestWorkGivesWay(t *testing.T) {
	runtime.GOMAXPROCS(2) // of which one request takes half
	const ms = time.Millisecond
	ended, end := context.WithCancel(context.Background())
	end()
	for name, c := range map[string]struct {
		ctx                context.Context
		interval, answered time.Duration
		leaves             bool
		least, most        time.Duration // ms
	}{
		"alone":                 {context.Background(), 0, 0, false, 1000, 1000},
		"some requests":         {context.Background(), 17 * ms, 2 * ms, false, 1002, 1300},
		"requests without end":  {context.Background(), 2 * ms, 3 * ms, false, 4500, 5500},
		"a slow client":         {context.Background(), time.Hour, time.Minute, false, 1020, 1100},
		"streams":               {context.Background(), 2 * ms, time.Minute, true, 1000, 1100},
		"what need not be done": {ended, 2 * ms, 3 * ms, false, 1000, 1000},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if took := work(c.ctx, c.interval, c.answered, c.leaves) / ms; took < c.least || took > c.most {
					t.Errorf("a second of work took %d ms, want %d to %d", took, c.least, c.most)
				}
			})
		})
	}
}

// However many uploads there are, they go on one at a time while requests are being answered, and freely where none is.
func TestUploadsPassOneByOne(t *testing.T) {
	runtime.GOMAXPROCS(2)
	synctest.Test(t, func(t *testing.T) {
		d := New()
		passed := func() int64 {
			var n atomic.Int64
			end := time.Now().Add(time.Second)
			var uploads sync.WaitGroup
			for range 64 {
				uploads.Go(func() {
					for time.Now().Before(end) {
						d.Pass(t.Context())
						time.Sleep(time.Millisecond)
						n.Add(1)
					}
				})
			}
			uploads.Wait()
			return n.Load()
		}
		if n := passed(); n != 64*1000 {
			t.Errorf("with no request %d passed in a second, want %d", n, 64*1000)
		}
		h := watch(d, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { time.Sleep(3 * time.Millisecond) }))
		asking, end := context.WithTimeout(t.Context(), time.Second)
		defer end()
		var requests sync.WaitGroup
		for range 2 {
			requests.Go(func() {
				for asking.Err() == nil {
					h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
					time.Sleep(2 * time.Millisecond) // in which nobody rushes
				}
			})
		}
		time.Sleep(time.Millisecond)
		if n := passed(); n < 150 || n > 1000 { // those that wait at the end pass then, too
			t.Errorf("while requests are being answered %d passed in a second, want some hundreds of %d", n, 64*1000)
		}
		requests.Wait()
	})
}

func watch(d *Door, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, leave := d.Enter(r.Context())
		defer leave()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}
