package models

import (
	"context"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
)

// Internals that the tests of package models_test use.

var (
	ThingTable      = things
	CollectionTable = collections
	MakeTable       = makes
	CommentTable    = comments
	UserTable       = users
	FindCategory    = category
	TooManyToday    = tooManyToday
)

func (c Changes) AddTo(counts map[string]*int64) error { return c.addTo(counts) }

func (s *Store) RankedTo() int64 { return s.rankedTo.Load() }

// Receiving returns the number of bytes that are counted as received by a user.
func (s *Store) Receiving(userID int64) int64 {
	s.receiving.mu.Lock()
	defer s.receiving.mu.Unlock()
	return s.receiving.bytes[userID]
}

func (s *Store) UsageOf(ctx context.Context, db bun.IDB, userID int64, wanted Quotas) (*Usage, error) {
	return s.usageOf(ctx, db, userID, wanted)
}

func (s *Store) FinalizeIn(ctx context.Context, tx bun.Tx, caller auth.Caller, files []FinalizeFile, target Target) error {
	return s.finalize(ctx, tx, caller, files, target)
}

func (s *Store) DiscardUnreferenced(ctx context.Context, key string) { s.discardUnreferenced(ctx, key) }
