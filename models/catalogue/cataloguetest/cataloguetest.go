// Package cataloguetest creates a catalogue, the core of the models with all areas, for tests.
package cataloguetest

import (
	"context"
	"testing"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/bucket"
	"github.com/meshyard/meshyard/internal/database/databasetest"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/catalogue"
	"github.com/meshyard/meshyard/models/fsck"
	"github.com/meshyard/meshyard/models/modelstest"
)

// Each runs a test on a catalogue of each engine, with a user. In short mode, as under the race
// detector, it runs on one of them. After the test, it checks that the database and the bucket are
// consistent.
func Each(t *testing.T, test func(t *testing.T, s *catalogue.Catalogue, ada auth.Caller)) {
	EachDuring(t, func() {}, test)
}

// EachDuring is [Each] with a function that is called in each transaction that stores jobs.
func EachDuring(t *testing.T, during func(), test func(t *testing.T, s *catalogue.Catalogue, ada auth.Caller)) {
	modelstest.EachEngine(t, func(t *testing.T, db *models.DB, b *bucket.Bucket) {
		s := catalogue.New(db, b, catalogue.Options{Options: modelstest.Options},
			func(context.Context, bun.Tx, models.Work) error {
				during()
				return nil
			})
		test(t, s, NewUser(t, s, "ada"))
		_, err := s.Fsck.Check(t.Context(), fsck.Options{Rehash: true, ObjectsOnly: true},
			func(p fsck.Problem) { t.Error(p) })
		if err != nil {
			t.Error(err)
		}
	})
}

// NewUser creates a user.
func NewUser(t *testing.T, s *catalogue.Catalogue, name string) auth.Caller {
	t.Helper()
	return modelstest.NewUser(t, s.Store, name)
}

// Published returns a published thing of a user and its file.
func Published(t *testing.T, s *catalogue.Catalogue, owner auth.Caller) (*models.Thing, *models.File) {
	t.Helper()
	return modelstest.PublishedFile(t, s.Store, owner)
}

// Beside is [databasetest.Beside] on the database of a catalogue.
func Beside(t *testing.T, s *catalogue.Catalogue, hold func(ctx context.Context, tx bun.Tx) error,
	acts ...func() error) error {
	t.Helper()
	return databasetest.Beside(t.Context(), s.DB.DB, hold, acts...)
}
