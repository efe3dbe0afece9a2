package graph

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/bucket"
	"github.com/meshyard/meshyard/internal/pgtest"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/catalogue"
	"github.com/meshyard/meshyard/models/collections"
)

// newStore returns a store on a new database and an empty bucket. It has no background jobs.
func newStore(t *testing.T, address string) *catalogue.Catalogue {
	t.Helper()
	db, err := models.OpenDB(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	b, err := bucket.Open(t.Context(), "file://"+t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return catalogue.New(db, b, catalogue.Options{}, func(context.Context, bun.Tx, models.Work) error { return nil })
}

// TestTargetIsGoneMeanwhile checks that removing a like or watch succeeds if the target is deleted
// or hidden before it is read for the payload, and that adding one then fails.
func TestTargetIsGoneMeanwhile(t *testing.T) {
	t.Parallel()
	for engine, address := range map[string]func() string{
		"sqlite":   func() string { return "sqlite:" + filepath.Join(t.TempDir(), "meshyard.db") },
		"postgres": func() string { return pgtest.Database(t) },
	} {
		t.Run(engine, func(t *testing.T) {
			s := newStore(t, address())
			user := func(name string) auth.Caller {
				u, err := s.Admin().CreateUser(t.Context(), name, false)
				if err != nil {
					t.Fatal(err)
				}
				return auth.Caller{UserID: u.ID, Role: u.Role(), Scopes: auth.Scopes{auth.Read, auth.Write}}
			}
			ada, bob := user("ada"), user("bob")
			ctx := auth.WithCaller(t.Context(), bob, nil)
			collection := func() int64 {
				t.Helper()
				c, err := s.Collections.CreateCollection(t.Context(), ada, collections.NewCollection{Name: "Lamps"})
				if err != nil {
					t.Fatal(err)
				}
				return c.ID
			}
			for name, gone := range map[string]struct {
				err  models.Code
				make func(ctx context.Context, id int64) error
			}{
				"deleted": {models.NotFound, func(ctx context.Context, id int64) error {
					_, err := s.Collections.DeleteCollection(ctx, ada, id)
					return err
				}},
				"hidden": {models.Forbidden, func(ctx context.Context, id int64) error {
					_, err := s.Collections.UpdateCollection(ctx, ada,
						collections.Change{ID: id, Visibility: new(models.PrivateCollection)})
					return err
				}},
			} {
				// then calls mark, and deletes or hides the target.
				then := func(mark markFunc) markFunc {
					return func(ctx context.Context, by auth.Caller, target models.Target) error {
						if err := mark(ctx, by, target); err != nil {
							return err
						}
						return gone.make(ctx, target.ID)
					}
				}
				for kind, marks := range map[string]struct{ add, remove markFunc }{"like": {s.Social.Like, s.Social.Unlike},
					"watch": {s.Social.Watch, s.Social.Unwatch}} {
					id := collection()
					if c, err := afterMark(ctx, marks.add, models.OnCollection, id, s.Collection); err != nil || c == nil ||
						c.ID != id {
						t.Errorf("add a %s: got %+v and the error %v, want the collection", kind, c, err)
					}
					if c, err := afterUnmark(ctx, then(marks.remove), models.OnCollection, id, s.Collection); err != nil || c != nil {
						t.Errorf("remove a %s while the target is %s: got %+v and the error %v, want neither", kind, name, c, err)
					}
					if _, err := afterUnmark(ctx, marks.remove, models.OnCollection, id,
						s.Collection); models.CodeOf(err) != gone.err {
						t.Errorf("remove a %s again after the target was %s: got the error %v, want %s", kind, name, err, gone.err)
					}
					if _, err := afterMark(ctx, then(marks.add), models.OnCollection, collection(),
						s.Collection); models.CodeOf(err) != gone.err {
						t.Errorf("add a %s while the target is %s: got the error %v, want %s", kind, name, err, gone.err)
					}
				}
			}
		})
	}
}
