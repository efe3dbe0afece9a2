package ratelimit

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

func TestLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewGroup(nil).New("calls", 3)
		ask := func(caller string) (h http.Header, wait time.Duration, ok bool) {
			h = make(http.Header)
			wait, ok = l.Admit(h, caller)
			return h, wait, ok
		}
		for i, want := range []bool{true, true, true, false, false} {
			h, wait, ok := ask("a")
			if ok != want || h.Get("X-RateLimit-Limit") != "3" || h.Get("X-RateLimit-Remaining") != fmt.Sprint(max(2-i, 0)) {
				t.Errorf("request %d: %t %v, want %t", i, ok, h, want)
			}
			if got, want := h.Get("RateLimit"), fmt.Sprintf(`"default";r=%d;t=300`, max(2-i, 0)); got != want ||
				h.Get("RateLimit-Policy") != `"default";q=3;w=300` {
				t.Errorf("request %d: RateLimit %s, want %s; RateLimit-Policy %s", i, got, want, h.Get("RateLimit-Policy"))
			}
			if (h.Get("Retry-After") == "301") == want || (wait == 301*time.Second) == want {
				t.Errorf("request %d: wait %s, Retry-After %q", i, wait, h.Get("Retry-After"))
			}
		}
		if _, _, ok := ask("b"); !ok {
			t.Error("another caller is refused")
		}
		time.Sleep(Window)
		if _, _, ok := ask("a"); !ok {
			t.Error("refused after the window")
		}
		h := make(http.Header)
		if _, ok := NewGroup(nil).New("calls", 0).Admit(h, "a"); !ok || len(h) > 0 {
			t.Errorf("without a limit: %t, %v", ok, h)
		}
	})
}

// TestRefund checks that a refund allows another action, and that it is limited to what was
// counted.
func TestRefund(t *testing.T) {
	l, ctx := NewStrict(1), t.Context()
	l.Refund(ctx, "nobody")
	for i, want := range []bool{true, false, true, false} {
		if i == 2 {
			l.Refund(ctx, "ada")
			l.Refund(ctx, "ada")
		}
		if _, ok := l.Allow(ctx, "ada"); ok != want {
			t.Errorf("action %d is allowed: %t, want %t", i+1, ok, want)
		}
	}
}

func TestCallersAreForgotten(t *testing.T) {
	l := NewGroup(nil).New("calls", 1)
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
	l, now := NewGroup(nil).New("calls", 3), time.Now()
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
