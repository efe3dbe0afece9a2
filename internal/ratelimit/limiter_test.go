package ratelimit

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"
)

func TestLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		served := 0
		h := New(3).Limit(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { served++ }),
			func(r *http.Request) string { return r.URL.Path },
			func(w http.ResponseWriter, _ *http.Request, _ time.Duration) {
				w.WriteHeader(http.StatusTooManyRequests)
			})
		ask := func(caller string) *http.Response {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest("GET", caller, nil))
			return w.Result()
		}
		for i, want := range []int{200, 200, 200, 429, 429} {
			r := ask("/a")
			if r.StatusCode != want || r.Header.Get("X-RateLimit-Limit") != "3" || r.Header.Get("X-RateLimit-Remaining") != fmt.Sprint(max(2-i, 0)) {
				t.Errorf("request %d: %d %v, want %d", i, r.StatusCode, r.Header, want)
			}
			if got, want := r.Header.Get("RateLimit"), fmt.Sprintf(`"default";r=%d;t=300`, max(2-i, 0)); got != want || r.Header.Get("RateLimit-Policy") != `"default";q=3;w=300` {
				t.Errorf("request %d: RateLimit %s, want %s; RateLimit-Policy %s", i, got, want, r.Header.Get("RateLimit-Policy"))
			}
			if (r.Header.Get("Retry-After") == "301") != (want == 429) {
				t.Errorf("request %d: Retry-After %q", i, r.Header.Get("Retry-After"))
			}
		}
		if ask("/b").StatusCode != 200 {
			t.Error("another caller is refused")
		}
		time.Sleep(Window)
		if ask("/a").StatusCode != 200 || served != 5 {
			t.Errorf("after the window: served %d, want 5", served)
		}
	})
}

// TestRefund checks that a refund allows another action, and that it is limited to what was
// counted.
func TestRefund(t *testing.T) {
	l, now := New(1), time.Now()
	l.Refund("nobody")
	for i, want := range []bool{true, false, true, false} {
		if i == 2 {
			l.Refund("ada")
			l.Refund("ada")
		}
		if _, ok := l.Allow("ada", now); ok != want {
			t.Errorf("action %d is allowed: %t, want %t", i+1, ok, want)
		}
	}
}

func TestCallersAreForgotten(t *testing.T) {
	l := New(1)
	start := time.Unix(0, 0)
	for i := range maxCallers {
		l.take(fmt.Sprint(i), 1, start)
	}
	l.take("fresh", 1, start.Add(2*Window))
	if n := len(l.callers); n > 1 {
		t.Errorf("%d callers are remembered after their windows ended", n)
	}
}

// TestManyCallers checks that more callers than are remembered do not reset the count of one that
// has reached the limit.
func TestManyCallers(t *testing.T) {
	l, now := New(3), time.Now()
	for range 3 {
		l.take("ada", 1, now)
	}
	for i := range 2 * maxCallers {
		l.take(fmt.Sprint(i), 1, now)
	}
	if left, _ := l.take("ada", 1, now); left >= 0 {
		t.Errorf("after many callers: %d requests left, want none", left)
	}
	if n := len(l.callers); n > maxCallers {
		t.Errorf("%d callers are remembered, want at most %d", n, maxCallers)
	}
}
