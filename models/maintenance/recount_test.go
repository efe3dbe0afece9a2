package maintenance

import (
	"context"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/internal/database/databasetest"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/modelstest"
)

// TestRecountBesideWriters checks that a recount that waits for an object does not hold up the
// transaction that has locked it, and counts what that transaction adds once.
func TestRecountBesideWriters(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, ada auth.Caller) {
		if s.core.DB.Engine == database.SQLite {
			return // its write transactions do not overlap
		}
		ctx := t.Context()
		bob := modelstest.NewUser(t, s.core, "bob")
		thing, _ := modelstest.PublishedFile(t, s.core, ada)
		if _, err := s.core.DB.Write.NewRaw("UPDATE things SET like_count = 77 WHERE id = ?", thing.ID).
			Exec(ctx); err != nil {
			t.Fatal(err)
		}
		recounted := make(chan error, 1)
		err := s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
			if _, err := s.core.LockThing(ctx, tx, thing.ID); err != nil {
				return err
			}
			go func() {
				changed, err := s.Recount(context.WithoutCancel(ctx))
				if changed != 1 {
					t.Errorf("a recount changed %d counts, want 1", changed)
				}
				recounted <- err
			}()
			for waiting := false; !waiting; time.Sleep(5 * time.Millisecond) {
				var err error
				waiting, err = databasetest.WaitsForLock(ctx, s.core.DB.DB)
				if err != nil {
					return err
				}
			}
			// A transaction that waits for the recount would wait forever.
			if _, err := tx.ExecContext(ctx, "SET LOCAL lock_timeout = '100ms'"); err != nil {
				return err
			}
			_, err := tx.NewRaw("INSERT INTO likes (user_id, target_type, target_id, created_at) VALUES (?, ?, ?, ?)",
				bob.UserID, models.OnThing, thing.ID, models.Now()).Exec(ctx)
			if err != nil {
				return err
			}
			return models.AddCounts(ctx, tx, models.ThingLikes.By(1, thing.ID), models.UserLikes.By(1, bob.UserID))
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := <-recounted; err != nil {
			t.Fatal(err)
		}
		for range 2 { // before and after folding
			if th, err := s.core.Thing(ctx, ada, models.AllThingFields, thing.ID); err != nil || th.LikeCount != 1 {
				t.Errorf("%d likes (%v), want 1", th.LikeCount, err)
			}
			if _, err := s.core.FoldCounts(ctx); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestCountsAfterImport checks that the end of an import also corrects the counts of tags, users
// and categories without published things. On PostgreSQL, changes of them may not be folded yet; on
// SQLite they are negative if a thing that was just imported is unpublished before the end.
func TestCountsAfterImport(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, ada auth.Caller) {
		ctx := t.Context()
		thing, _ := modelstest.PublishedFile(t, s.core, ada)
		if _, err := s.core.UpdateThing(ctx, ada, models.ThingChange{ID: thing.ID, Tags: []string{"vase"}}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.core.FoldCounts(ctx); err != nil {
			t.Fatal(err)
		}
		if s.core.DB.Engine == database.SQLite {
			for _, table := range []string{"tags", "users", "categories"} {
				if _, err := s.core.DB.Write.NewRaw("UPDATE ? SET thing_count = 0", bun.Ident(table)).Exec(ctx); err != nil {
					t.Fatal(err)
				}
			}
		}
		if _, err := s.core.UnpublishThing(ctx, ada, thing.ID); err != nil {
			t.Fatal(err)
		}
		if err := s.core.DB.InTx(ctx, s.core.DB.CountThings); err != nil {
			t.Fatal(err)
		}
		if changed, err := s.Recount(ctx); changed != 0 || err != nil {
			t.Errorf("a recount changed %d counts (%v), want 0", changed, err)
		}
	})
}
