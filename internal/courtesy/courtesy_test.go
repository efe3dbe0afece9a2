package courtesy

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// work works for a second of turns, while a request comes every interval, and tells how long that took.
func work(ctx context.Context, interval time.Duration) time.Duration {
	var d Door
	h := d.Watch(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	requests, stop := context.WithCancel(context.Background())
	var asking sync.WaitGroup
	defer func() {
		stop()
		asking.Wait()
	}()
	asking.Go(func() {
		for interval > 0 && requests.Err() == nil {
			h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
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

// Work goes on as if alone where no request comes, waits where some do, and has a fifth of the time where they come without end.
func TestWorkGivesWay(t *testing.T) {
	ended, end := context.WithCancel(context.Background())
	end()
	for name, c := range map[string]struct {
		ctx         context.Context
		interval    time.Duration
		least, most time.Duration
	}{
		"alone":                 {context.Background(), 0, time.Second, time.Second},
		"some requests":         {context.Background(), 100 * time.Millisecond, 1050 * time.Millisecond, 1150 * time.Millisecond},
		"requests without end":  {context.Background(), time.Millisecond, 4900 * time.Millisecond, 5100 * time.Millisecond},
		"what need not be done": {ended, time.Millisecond, time.Second, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if took := work(c.ctx, c.interval); took < c.least || took > c.most {
					t.Errorf("a second of work took %s, want %s to %s", took, c.least, c.most)
				}
			})
		})
	}
}
