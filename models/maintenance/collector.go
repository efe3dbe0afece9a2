package maintenance

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/models"
)

// A copy of a database, such as one for a test of an upgrade, may be used with the bucket of the
// original. Everything that is stored after the copy was made would be garbage for it. So only one
// of several databases collects garbage in a bucket: at each collection, the database sets a new
// random mark on the bucket, and remembers it. A copy does not know the marks that were set after
// it was made.

// ErrOtherCollector is the error of a database that finds the mark of another one on the bucket.
var ErrOtherCollector = errors.New(
	"the bucket has the mark of another database that collects garbage in it, or this database was restored to an earlier state")

const (
	marksName = "collector" // of the remembered marks in the table of secrets

	// rememberedMarks is more than one, because a process may die between remembering a mark and
	// setting it, and several may collect garbage at the same time.
	rememberedMarks = 8

	// abandonedAfter is the age at which the mark of another database is ignored.
	abandonedAfter = 7 * 24 * time.Hour
)

// CheckCollector returns ErrOtherCollector if another database collects garbage in the bucket.
func (s *Store) CheckCollector(ctx context.Context) error {
	_, err := s.markAge(ctx)
	return err
}

// ClaimBucket sets a new mark on the bucket, and reports whether it did so. It does not if the mark
// is one of this database and younger than idle: then the database may be a copy whose original
// will soon set the next mark. It returns ErrOtherCollector if another database collects garbage in
// the bucket.
func (s *Store) ClaimBucket(ctx context.Context, idle time.Duration) (bool, error) {
	// The age is negative if a clock was ahead.
	if age, err := s.markAge(ctx); err != nil || age.Abs() < idle {
		return false, err
	}
	return true, s.TakeOverBucket(ctx)
}

// markAge returns the age of the mark, or abandonedAfter if there is none. It returns
// ErrOtherCollector if the mark is one of another database.
func (s *Store) markAge(ctx context.Context) (time.Duration, error) {
	mark, at, err := s.core.Bucket.Mark(ctx)
	if err != nil || mark == "" {
		return abandonedAfter, err
	}
	row := models.SecretRow{Name: marksName}
	if err := models.IgnoreNoRows(s.core.DB.Write.NewSelect().Model(&row).WherePK().Scan(ctx)); err != nil {
		return 0, err
	}
	age := time.Since(at)
	if age < abandonedAfter && !slices.Contains(strings.Fields(string(row.Value)), mark) {
		return 0, fmt.Errorf("%w (the mark is of %s)", ErrOtherCollector, at.UTC().Format(time.RFC3339))
	}
	return age, nil
}

// TakeOverBucket sets a new mark on the bucket, even if another database collects garbage in it.
// The other one stops to do so.
func (s *Store) TakeOverBucket(ctx context.Context) error {
	mark := rand.Text()
	err := s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		row := models.SecretRow{Name: marksName, Value: []byte{}}
		if _, err := tx.NewInsert().Model(&row).On("CONFLICT (name) DO NOTHING").Exec(ctx); err != nil {
			return err
		}
		if err := s.core.DB.ForUpdate(tx.NewSelect().Model(&row).WherePK()).Scan(ctx); err != nil {
			return err
		}
		marks := append(strings.Fields(string(row.Value)), mark)
		row.Value = []byte(strings.Join(marks[max(0, len(marks)-rememberedMarks):], " "))
		_, err := tx.NewUpdate().Model(&row).WherePK().Exec(ctx)
		return err
	})
	if err != nil {
		return err
	}
	return s.core.Bucket.SetMark(ctx, mark)
}
