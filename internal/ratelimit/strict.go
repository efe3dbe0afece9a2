package ratelimit

import (
	"context"
	"time"
)

// Strict counts actions that are not requests, such as attempts to sign in. While the database is
// not available, it counts in the memory of this process.
type Strict struct {
	windows
	name   string
	shared Shared // nil: none
}

// NewStrict returns a Strict that allows limit actions in each Window, and counts in the memory of
// this process.
func NewStrict(limit int) *Strict { return &Strict{windows: newWindows(limit)} }

// Allow counts an action. If it exceeds the limit, ok is false and wait is the time until the next
// window.
func (s *Strict) Allow(ctx context.Context, caller string) (wait time.Duration, ok bool) {
	if s.shared != nil {
		if total, ok, err := s.shared.Take(ctx, s.key(caller), 1, s.limit); err == nil {
			return whole(total.Left), ok
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	left, ends := s.take(caller, 1, now)
	return whole(ends.Sub(now)), left >= 0
}

// Refund reverses an action that Allow counted.
func (s *Strict) Refund(ctx context.Context, caller string) {
	if s.shared != nil {
		_ = s.shared.Refund(ctx, s.key(caller), 1) // the window ends by itself
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if w := s.callers[caller]; w != nil && w.used > 0 {
		w.used--
	}
}

// Forgive resets the count of a caller.
func (s *Strict) Forgive(ctx context.Context, caller string) {
	if s.shared != nil {
		_ = s.shared.Refund(ctx, s.key(caller), s.limit)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.callers, caller)
}

func (s *Strict) key(caller string) string { return s.name + " " + caller }
