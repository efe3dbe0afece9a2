package dblock

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/pgtest"
)

// TestLock checks that an exclusive operation excludes all others and names them, that its marker
// stays when it is killed, and that a lost lock is acquired again or not.
func TestLock(t *testing.T) {
	for engine, address := range map[string]string{
		"sqlite": "sqlite:" + filepath.Join(t.TempDir(), "a.db"), "postgres": pgtest.Database(t),
	} {
		t.Run(engine, func(t *testing.T) {
			ctx := t.Context()
			acquire := func(mode Mode, by string) *Lock {
				t.Helper()
				l, err := Acquire(ctx, address, mode, by)
				if err != nil {
					t.Fatal(err)
				}
				return l
			}
			release := func(l *Lock) {
				t.Helper()
				if err := l.Close(); err != nil {
					t.Fatal(err)
				}
			}
			refuses := func(mode Mode, by string) {
				t.Helper()
				if _, err := Acquire(ctx, address, mode, "another"); !errors.Is(err, ErrInUse) ||
					!strings.Contains(err.Error(), "in use by "+by) {
					t.Errorf("got %v, want it in use by %s", err, by)
				}
			}
			first, second := acquire(Shared, "first"), acquire(Shared, "first")
			refuses(Exclusive, "first")
			release(second)
			refuses(Exclusive, "first")
			release(first)

			alone := acquire(Exclusive, "alone")
			refuses(Shared, "alone")
			refuses(Exclusive, "alone")
			want := Unfinished{Source: "a backup", Command: "restore it"}
			for range 2 {
				if err := alone.Begin(ctx, want); err != nil {
					t.Fatal(err)
				}
			}
			release(alone)
			alone = acquire(Exclusive, "alone")
			if got, err := alone.Unfinished(ctx); err != nil || got == nil || *got != want {
				t.Errorf("the marker is %+v (%v), want %+v", got, err, want)
			}
			if err := alone.Finish(ctx); err != nil {
				t.Fatal(err)
			}
			if got, err := alone.Unfinished(ctx); got != nil || err != nil {
				t.Errorf("the marker of a complete operation is %+v (%v), want none", got, err)
			}
			release(alone)

			if engine == "postgres" {
				testLost(t, ctx, acquire)
			}
		})
	}
}

// testLost checks that a lock whose connection was closed is acquired again, unless another process
// has the database for itself.
func testLost(t *testing.T, ctx context.Context, acquire func(Mode, string) *Lock) {
	t.Helper()
	l := acquire(Shared, "server")
	_ = l.conn.Close(ctx)
	if err := l.Check(ctx); err != nil {
		t.Errorf("a lost lock: %v", err)
	}
	_ = l.conn.Close(ctx)
	alone := acquire(Exclusive, "alone")
	if err := l.Check(ctx); !errors.Is(err, ErrInUse) {
		t.Errorf("a lost lock beside an exclusive one: got %v, want %v", err, ErrInUse)
	}
	if err := alone.Close(); err != nil {
		t.Fatal(err)
	}
	if err := l.Check(ctx); err != nil {
		t.Errorf("a lost lock after the exclusive one: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}
