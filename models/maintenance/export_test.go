package maintenance

import (
	"context"
	"time"

	"github.com/meshyard/meshyard/internal/bucket"
)

// Internals that the tests of package maintenance_test use.

func (s *Store) EachUnreferenced(ctx context.Context, prefix, within string, cutoff time.Time,
	fn func(bucket.Object) error) error {
	return s.eachUnreferenced(ctx, prefix, within, cutoff, fn)
}

func (s *Store) RankedTo() int64 { return s.rankedTo.Load() }
