package archive

import (
	"context"
	"testing"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/archive"
	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/internal/database/databasetest"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/modelstest"
)

// TestFinishImportBesideTakedown checks that the end of an import does not put back the search
// document of a thing that is taken down at the same time.
func TestFinishImportBesideTakedown(t *testing.T) {
	for name, finish := range map[string]func(*archiveLoader, context.Context) error{
		"of a user": (*archiveLoader).finishUser, "of everything": (*archiveLoader).finishAll,
	} {
		t.Run(name, func(t *testing.T) {
			eachStore(t, func(t *testing.T, s *Store, ada auth.Caller) {
				ctx := t.Context()
				thing := modelstest.Published(t, s.core, ada)
				l := &archiveLoader{store: s, from: &archive.Reader{Manifest: new(archive.Manifest)},
					row: models.ArchiveImport{Source: "source", Noun: "things", LeftOut: "{}", StartedAt: models.Now()}}
				if _, err := s.core.DB.Write.NewInsert().Model(&l.row).Exec(ctx); err != nil {
					t.Fatal(err)
				}
				if _, err := s.core.DB.Write.NewInsert().
					Model(&models.ArchiveID{Source: "source", Noun: "things", OldID: 1, NewID: thing.ID}).Exec(ctx); err != nil {
					t.Fatal(err)
				}
				err := databasetest.Beside(ctx, s.core.DB.DB, func(ctx context.Context, tx bun.Tx) error {
					_, err := tx.NewRaw("DELETE FROM thing_documents WHERE true").Exec(ctx)
					return err
				}, func() error { return finish(l, ctx) }, func() error {
					admin := auth.Caller{UserID: ada.UserID, Role: auth.Administrator, Scopes: auth.Scopes{auth.Admin}}
					_, err := moderators(s).TakeDownThing(ctx, admin, thing.ID, "Because.")
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
				if n, err := s.core.DB.Read.NewSelect().Table("thing_documents").Count(ctx); n != 0 || err != nil {
					t.Errorf("%d documents (%v), want 0", n, err)
				}
			})
		})
	}
}

// TestFinishImportCollectsStatistics checks that the planner knows the words of imported things.
func TestFinishImportCollectsStatistics(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, ada auth.Caller) {
		ctx := t.Context()
		modelstest.Published(t, s.core, ada)
		l := &archiveLoader{store: s, from: &archive.Reader{Manifest: new(archive.Manifest)}}
		if err := l.finishAll(ctx); err != nil {
			t.Fatal(err)
		}
		known := "SELECT coalesce(max(CAST(stat AS integer)), 0) FROM sqlite_stat1 WHERE tbl = 'vocabulary'"
		if s.core.DB.Engine == database.Postgres {
			known = "SELECT reltuples::bigint FROM pg_class WHERE oid = 'vocabulary'::regclass"
		}
		var rows int64
		if err := s.core.DB.Read.NewRaw(known).Scan(ctx, &rows); err != nil || rows < 1 {
			t.Errorf("got statistics of %d words, %v, want some", rows, err)
		}
	})
}
