package account_test

import (
	"context"
	"errors"
	"testing"

	"github.com/uptrace/bun"
	"golang.org/x/sync/errgroup"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/internal/database/databasetest"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/account"
	"github.com/meshyard/meshyard/models/catalogue"
	"github.com/meshyard/meshyard/models/catalogue/cataloguetest"
	"github.com/meshyard/meshyard/models/lists"
	"github.com/meshyard/meshyard/models/search"
)

// renamedUser returns a user with a published thing, renamed from benjamin to name.
func renamedUser(t *testing.T, s *catalogue.Catalogue, name string) *models.User {
	t.Helper()
	cataloguetest.Published(t, s, cataloguetest.NewUser(t, s, "benjamin"))
	u, err := s.Account.Admin().RenameUser(t.Context(), "benjamin", name)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// wantFound checks the number of hits of a search.
func wantFound(t *testing.T, s *catalogue.Catalogue, kind search.SearchType, name string, want int64) {
	t.Helper()
	found, err := s.Search.Search(t.Context(), kind, name, lists.Filter{}, lists.ByRelevance)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := found.Count(t.Context(), []int64{1}); n[1] != want || err != nil {
		t.Errorf("%v for %s: %d found, want %d (%v)", kind, name, n[1], want, err)
	}
}

// TestRenamedUsersAreFound checks that a user, and the things of the user, are found by the new
// name and not by the old one, which another user may take.
func TestRenamedUsersAreFound(t *testing.T) {
	cataloguetest.Each(t, func(t *testing.T, s *catalogue.Catalogue, _ auth.Caller) {
		renamedUser(t, s, "zacharias")
		for _, kind := range []search.SearchType{search.SearchThings, search.SearchUsers} {
			wantFound(t, s, kind, "benjamin", 0)
			wantFound(t, s, kind, "zacharias", 1)
		}
	})
}

// TestRenameDuringPublication checks that a thing which is published or unpublished while its
// creator is renamed is found by the new name, or not at all.
func TestRenameDuringPublication(t *testing.T) {
	cataloguetest.Each(t, func(t *testing.T, s *catalogue.Catalogue, _ auth.Caller) {
		ctx := t.Context()
		thing, _ := cataloguetest.Published(t, s, cataloguetest.NewUser(t, s, "benjamin"))
		setState := func(ctx context.Context, tx bun.Tx, to models.PublicationState) error {
			if _, err := s.LockThing(ctx, tx, thing.ID); err != nil {
				return err
			}
			if _, err := tx.NewRaw("UPDATE things SET state = ? WHERE id = ?", to, thing.ID).Exec(ctx); err != nil {
				return err
			}
			return s.DB.Index(ctx, tx, models.ThingIndex, thing.ID)
		}
		for _, c := range []struct {
			to       models.PublicationState
			from, as string
			found    int64
		}{{models.Draft, "benjamin", "zacharias", 0}, {models.Published, "zacharias", "balthasar", 1}} {
			renamed := make(chan error, 1)
			err := s.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) (err error) {
				if err := setState(ctx, tx, c.to); err != nil {
					return err
				}
				go func() {
					_, err := s.Account.Admin().RenameUser(context.WithoutCancel(ctx), c.from, c.as)
					renamed <- err
				}()
				// Renaming must end, or wait for this transaction.
				for waiting := s.DB.Engine == database.SQLite; !waiting && len(renamed) == 0; {
					waiting, err = databasetest.WaitsForLock(ctx, s.DB.DB)
					if err != nil {
						return err
					}
				}
				return nil
			})
			if err := errors.Join(err, <-renamed); err != nil {
				t.Fatal(err)
			}
			documents := s.DB.Read.NewSelect().Table("thing_documents")
			if n, err := documents.Count(ctx); n != c.found || err != nil {
				t.Errorf("%s: %d documents, want %d (%v)", c.to, n, c.found, err)
			}
			wantFound(t, s, search.SearchThings, c.as, c.found)
		}
	})
}

// TestLastAdministratorStays checks that two administrators cannot remove each other, one after the
// other with a role that is out of date, or at the same time.
func TestLastAdministratorStays(t *testing.T) {
	cataloguetest.Each(t, func(t *testing.T, s *catalogue.Catalogue, ada auth.Caller) {
		ctx := t.Context()
		administrator := func(name string) auth.Caller {
			u, err := s.Admin().CreateUser(ctx, name, true)
			if err != nil {
				t.Fatal(err)
			}
			return auth.Caller{UserID: u.ID, Role: auth.Administrator, Scopes: auth.Scopes{auth.Read, auth.Write, auth.Admin}}
		}
		demote := func(by auth.Caller, name string) error {
			_, err := s.Moderation.SetUserRole(ctx, by, name, auth.Member, "No longer here.")
			return err
		}
		suspend := func(by auth.Caller, name string) error {
			_, err := s.Account.SuspendAndRevokeTokens(ctx, by, name, "No longer here.")
			return err
		}
		left := func() int64 {
			t.Helper()
			n, err := s.DB.Write.NewSelect().Model((*models.User)(nil)).Where("u.is_admin AND u.suspended_at IS NULL").Count(ctx)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		first, second := administrator("first"), administrator("second")
		if err := demote(first, "second"); err != nil {
			t.Fatal(err)
		}
		if err := demote(second, "first"); models.CodeOf(err) != models.BadInput || left() != 1 {
			t.Errorf("demoting the last administrator: %v, %d left", err, left())
		}
		fourth := administrator("fourth")
		if _, err := s.Moderation.SuspendUser(ctx, fourth, "first", "No longer here."); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Moderation.SuspendUser(ctx, first, "fourth",
			"No longer here."); models.CodeOf(err) != models.BadInput || left() != 1 {
			t.Errorf("suspending the last administrator: %v, %d left", err, left())
		}
		if _, err := s.Moderation.UnsuspendUser(ctx, fourth, "first", "A mistake."); err != nil {
			t.Fatal(err)
		}
		if err := demote(first, "fourth"); err != nil {
			t.Fatal(err)
		}
		third := administrator("third")
		for range 5 {
			var together errgroup.Group
			together.Go(func() error { return suspend(first, "third") })
			together.Go(func() error { return demote(third, "first") })
			if err := together.Wait(); err == nil || left() != 1 {
				t.Errorf("removing each other: %v, %d left", err, left())
			}
			if _, err := s.DB.Write.NewRaw("UPDATE users SET is_admin = true, suspended_at = NULL WHERE id IN (?, ?)",
				first.UserID, third.UserID).Exec(ctx); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestActionsBesideRenaming checks that an action on a user returns that user if the user is
// renamed at the same time, and another user takes the old name.
func TestActionsBesideRenaming(t *testing.T) {
	cataloguetest.Each(t, func(t *testing.T, s *catalogue.Catalogue, ada auth.Caller) {
		ctx := t.Context()
		admin := auth.Caller{UserID: ada.UserID, Role: auth.Administrator, Scopes: auth.Scopes{auth.Read, auth.Write,
			auth.Admin}}
		for _, test := range []struct {
			name string
			act  func(name string) (*models.User, error)
		}{
			{"bob", func(name string) (*models.User, error) { return s.Social.Follow(ctx, ada, name) }},
			{"cyd", func(name string) (*models.User, error) { return s.Moderation.SuspendUser(ctx, admin, name, "Because.") }},
			{"dan", func(name string) (*models.User, error) {
				return s.Account.RenameUser(ctx, admin, name, "renamed-"+name)
			}},
		} {
			user, rename := cataloguetest.NewUser(t, s, test.name), "UPDATE users SET username = ? WHERE id = ?"
			var got *models.User
			err := cataloguetest.Beside(t, s, func(ctx context.Context, tx bun.Tx) error {
				if _, err := s.LockAccount(ctx, tx, user.UserID); err != nil {
					return err
				}
				if _, err := tx.NewRaw(rename, "former-"+test.name, user.UserID).Exec(ctx); err != nil {
					return err
				}
				return s.InsertUser(ctx, tx, &models.User{Username: test.name, DefaultLicense: models.CC, CreatedAt: models.Now()})
			}, func() (err error) {
				got, err = test.act(test.name)
				return err
			})
			if err != nil || got.ID != user.UserID {
				t.Errorf("an action on %s returned %v (%v)", test.name, got, err)
			}
		}
	})
}

// TestSuspensionWithoutReason checks that a suspension without a reason takes effect.
func TestSuspensionWithoutReason(t *testing.T) {
	cataloguetest.Each(t, func(t *testing.T, s *catalogue.Catalogue, _ auth.Caller) {
		ctx := t.Context()
		u, err := s.Account.Admin().SuspendAndRevokeTokens(ctx, "ada", "")
		if err != nil {
			t.Fatal(err)
		}
		var token string
		err = s.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
			token, err = account.InsertToken(ctx, tx, &account.Token{UserID: u.ID, Scopes: "read write"})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		caller, err := s.Account.Authenticate(ctx, token)
		if err != nil || caller.Suspended == "" {
			t.Errorf("the caller is %+v (%v), want a suspended one", caller, err)
		}
	})
}

// TestSuspensionOfOneself checks that administrators can suspend each other, but not themselves.
func TestSuspensionOfOneself(t *testing.T) {
	cataloguetest.Each(t, func(t *testing.T, s *catalogue.Catalogue, _ auth.Caller) {
		var callers []auth.Caller
		for _, name := range []string{"cleo", "dora"} {
			u, err := s.Admin().CreateUser(t.Context(), name, true)
			if err != nil {
				t.Fatal(err)
			}
			callers = append(callers, auth.Caller{UserID: u.ID, Role: auth.Administrator,
				Scopes: auth.Scopes{auth.Read, auth.Write, auth.Admin}})
		}
		if _, err := s.Account.SuspendAndRevokeTokens(t.Context(), callers[0], "cleo",
			"Mine."); models.CodeOf(err) != models.BadInput {
			t.Errorf("cleo by cleo: got %v, want %s", err, models.BadInput)
		}
		if _, err := s.Account.SuspendAndRevokeTokens(t.Context(), callers[0], "dora", "Spam."); err != nil {
			t.Errorf("dora by cleo: got %v, want no error", err)
		}
	})
}
