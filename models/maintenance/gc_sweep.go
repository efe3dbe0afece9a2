package maintenance

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/bucket"
	"github.com/meshyard/meshyard/models"
)

// sweepEvery is how often a server lists all contents and derived objects. It finds what a killed
// process has left; what users delete is queued.
const sweepEvery = 7 * 24 * time.Hour

// sweepPosition is the checkpoint of the listing.
type sweepPosition struct {
	bun.BaseModel `bun:"table:checkpoints,alias:ck"`

	Task     string `bun:",pk"`
	Options  string
	Step     string // sweeping or complete
	Position string // the number of the ranges that are done
	Problems int
	SavedAt  time.Time
}

const (
	sweepTask = "gc"
	sweeping  = "sweeping"
	complete  = "complete"
)

// lastSweep returns the checkpoint of the last listing, or an empty one.
func (s *Store) lastSweep(ctx context.Context) (sweepPosition, error) {
	at := sweepPosition{Task: sweepTask}
	return at, models.IgnoreNoRows(s.core.DB.Write.NewSelect().Model(&at).WherePK().Scan(ctx))
}

// sweepDue reports whether it is time for a listing, or one was interrupted.
func (s *Store) sweepDue(ctx context.Context) (bool, error) {
	at, err := s.lastSweep(ctx)
	return at.Step != complete || time.Since(at.SavedAt) >= sweepEvery, err
}

// eachRange calls fn with the ranges of the contents and the derived objects. With goOn, it begins
// where an interrupted call has stopped, and remembers how far it came.
func (s *Store) eachRange(ctx context.Context, goOn bool, fn func(prefix, within string) error) error {
	first, err := 0, error(nil)
	if goOn {
		at, failed := s.lastSweep(ctx)
		if err = failed; at.Step == sweeping {
			first, _ = strconv.Atoi(at.Position) // 0: the beginning
		}
	}
	if err != nil {
		return err
	}
	n := 0
	for _, prefix := range []string{bucket.ContentPrefix, bucket.DerivedPrefix} {
		for _, within := range s.core.Bucket.Ranges(prefix) {
			if n++; n <= first {
				continue
			}
			if err := fn(prefix, within); err != nil {
				return err
			}
			if goOn {
				if err := s.saveSweep(ctx, sweeping, n); err != nil {
					return err
				}
			}
		}
	}
	return s.saveSweep(ctx, complete, n)
}

func (s *Store) saveSweep(ctx context.Context, step string, position int) error {
	at := &sweepPosition{Task: sweepTask, Step: step, Position: strconv.Itoa(position), SavedAt: models.Now()}
	_, err := s.core.DB.Write.NewInsert().Model(at).On("CONFLICT (task) DO UPDATE").
		Set("step = EXCLUDED.step").Set("position = EXCLUDED.position").Set("saved_at = EXCLUDED.saved_at").Exec(ctx)
	return err
}

// ignoreMissing returns nil for the error of a missing object.
func ignoreMissing(err error) error {
	if errors.Is(err, bucket.ErrNotExist) {
		return nil
	}
	return err
}
