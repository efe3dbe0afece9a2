package cluster

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/ratelimit"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/modelstest"
)

// eachCluster runs a test on each engine that several nodes can use.
func eachCluster(t *testing.T, test func(t *testing.T, c *Store)) {
	modelstest.Each(t, func() {}, func(t *testing.T, core *models.Store, _ auth.Caller) {
		c := New(core)
		if core.DB.OneWriter() {
			if c.Limits() != nil {
				t.Error("counts are in a database of one node")
			}
			return
		}
		test(t, c)
	})
}

// endWindows ends the windows of all callers.
func endWindows(t *testing.T, c *Store) {
	t.Helper()
	if _, err := c.core.DB.Write.ExecContext(t.Context(),
		"UPDATE rate_limits SET ends_at = now() - interval '1 second'"); err != nil {
		t.Fatal(err)
	}
}

// TestSharedAttempts checks that three nodes that count attempts at the same time allow exactly the
// limit together, and that a refund and forgiveness on one node hold on the others.
func TestSharedAttempts(t *testing.T) {
	eachCluster(t, func(t *testing.T, c *Store) {
		nodes := make([]*ratelimit.Strict, 3)
		for i := range nodes {
			nodes[i] = ratelimit.NewGroup(c.Limits()).Strict("attempts", 10)
		}
		var allowed atomic.Int64
		var attempts sync.WaitGroup
		for i := range 30 {
			attempts.Go(func() {
				if wait, ok := nodes[i%3].Allow(t.Context(), "ada"); ok {
					allowed.Add(1)
				} else if wait <= 0 || wait > ratelimit.Window+1e9 {
					t.Errorf("got wait %s", wait)
				}
			})
		}
		attempts.Wait()
		if n := allowed.Load(); n != 10 {
			t.Errorf("30 attempts on 3 nodes: got %d allowed, want 10", n)
		}
		if _, ok := nodes[0].Allow(t.Context(), "bob"); !ok {
			t.Error("another caller is refused")
		}
		nodes[1].Refund(t.Context(), "ada")
		for i, want := range []bool{true, false} {
			if _, ok := nodes[2].Allow(t.Context(), "ada"); ok != want {
				t.Errorf("attempt %d after a refund: got %t, want %t", i+1, ok, want)
			}
		}
		nodes[0].Forgive(t.Context(), "ada")
		if _, ok := nodes[2].Allow(t.Context(), "ada"); !ok {
			t.Error("refused after forgiveness on another node")
		}
	})
}

// TestSharedRequests checks that nodes admit what is left after the requests to the others: with an
// exchange after each hundredth of the limit, the limit and at most what each node admits between
// two exchanges.
func TestSharedRequests(t *testing.T) {
	eachCluster(t, func(t *testing.T, c *Store) {
		const limit, nodes, between = 300, 3, 3
		groups, limiters := make([]*ratelimit.Group, nodes), make([]*ratelimit.Limiter, nodes)
		for i := range nodes {
			groups[i] = ratelimit.NewGroup(c.Limits())
			limiters[i] = groups[i].New("calls", limit)
		}
		admitted := 0
		for range 2 * limit / between {
			for i, l := range limiters {
				for range between {
					if _, ok := l.Admit(make(http.Header), "ada"); ok {
						admitted++
					}
				}
				if err := groups[i].Exchange(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		}
		if admitted < limit || admitted > limit+nodes*between {
			t.Errorf("got %d requests admitted, want %d to %d", admitted, limit, limit+nodes*between)
		}
		h := make(http.Header)
		if _, ok := limiters[0].Admit(h, "bob"); !ok || h.Get("X-RateLimit-Remaining") != fmt.Sprint(limit-1) {
			t.Errorf("another caller: got %t, %s left", ok, h.Get("X-RateLimit-Remaining"))
		}
	})
}

// TestEndedLimits checks that a window which has ended begins again, and that its row is deleted.
func TestEndedLimits(t *testing.T) {
	eachCluster(t, func(t *testing.T, c *Store) {
		node := ratelimit.NewGroup(c.Limits()).Strict("attempts", 1)
		for i, want := range []bool{true, false, true, false} {
			if i == 2 {
				endWindows(t, c)
			}
			if _, ok := node.Allow(t.Context(), "ada"); ok != want {
				t.Errorf("attempt %d: got %t, want %t", i+1, ok, want)
			}
		}
		endWindows(t, c)
		if err := c.DeleteLimits(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n, err := c.core.DB.Read.NewSelect().Table("rate_limits").Count(t.Context()); err != nil || n != 0 {
			t.Errorf("got %d rows after the windows ended, %v, want none", n, err)
		}
	})
}

// TestLimitsInAnOutage checks that each node counts alone while the database is away.
func TestLimitsInAnOutage(t *testing.T) {
	eachCluster(t, func(t *testing.T, c *Store) {
		group := ratelimit.NewGroup(c.Limits())
		node, calls := group.Strict("attempts", 2), group.New("calls", 2)
		if err := c.core.DB.Close(); err != nil {
			t.Fatal(err)
		}
		for i, want := range []bool{true, true, false} {
			if _, ok := node.Allow(t.Context(), "ada"); ok != want {
				t.Errorf("attempt %d: got %t, want %t", i+1, ok, want)
			}
			if _, ok := calls.Admit(make(http.Header), "ada"); ok != want {
				t.Errorf("request %d: got %t, want %t", i+1, ok, want)
			}
			if group.Exchange(t.Context()) == nil {
				t.Error("an exchange without a database succeeded")
			}
		}
	})
}
