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

// work works for a second of turns, while a request comes every interval that is answered after some time, and tells how long that took.
func work(ctx context.Context, interval, answered time.Duration, accept string) time.Duration {
	var d Door
	h := d.Watch(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { time.Sleep(answered) }))
	requests, stop := context.WithCancel(context.Background())
	var asking sync.WaitGroup
	defer func() {
		stop()
		asking.Wait()
	}()
	request := httptest.NewRequest("GET", "/", nil)
	request.Header.Set("Accept", accept)
	asking.Go(func() {
		for interval > 0 && requests.Err() == nil {
			asking.Go(func() { h.ServeHTTP(httptest.NewRecorder(), request) })
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
	const ms = time.Millisecond
	ended, end := context.WithCancel(context.Background())
	end()
	for name, c := range map[string]struct {
		ctx                context.Context
		interval, answered time.Duration
		accept             string
		least, most        time.Duration // ms
	}{
		"alone":                 {context.Background(), 0, 0, "", 1000, 1000},
		"some requests":         {context.Background(), 17 * ms, 2 * ms, "", 1010, 1150},
		"requests without end":  {context.Background(), 2 * ms, 3 * ms, "", 4900, 5100},
		"a slow client":         {context.Background(), time.Hour, time.Minute, "", 1040, 1060},
		"streams":               {context.Background(), 2 * ms, time.Minute, "text/event-stream", 1000, 1000},
		"what need not be done": {ended, 2 * ms, 3 * ms, "", 1000, 1000},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if took := work(c.ctx, c.interval, c.answered, c.accept) / ms; took < c.least || took > c.most {
					t.Errorf("a second of work took %d ms, want %d to %d", took, c.least, c.most)
				}
			})
		})
	}
}
