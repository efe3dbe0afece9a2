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
	TooManyToday    = tooManyToday
)

func (c Changes) AddTo(counts map[string]*int64) error { return c.addTo(counts) }

func (s *Store) FinalizeIn(ctx context.Context, tx bun.Tx, caller auth.Caller, files []FinalizeFile,
	target Target) error {
	return s.finalize(ctx, tx, caller, files, target)
}
