package models

import (
	"context"
	"errors"
	"testing"

	"github.com/uptrace/bun"
	"golang.org/x/sync/errgroup"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/internal/database/databasetest"
)

// renamedUser returns a user with a published thing, renamed from benjamin to name.
func renamedUser(t *testing.T, s *Store, name string) *User {
	t.Helper()
	published(t, s, newUser(t, s, "benjamin"))
	u, err := s.Admin().RenameUser(t.Context(), "benjamin", name)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// wantFound checks the number of hits of a search.
func wantFound(t *testing.T, s *Store, kind SearchType, name string, want int64) {
	t.Helper()
	found, err := s.Search(t.Context(), kind, name, Filter{}, ByRelevance)
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
	eachStore(t, func(t *testing.T, s *Store, _ auth.Caller) {
		renamedUser(t, s, "zacharias")
		for _, kind := range []SearchType{SearchThings, SearchUsers} {
			wantFound(t, s, kind, "benjamin", 0)
			wantFound(t, s, kind, "zacharias", 1)
		}
	})
}

// TestRenameDuringPublication checks that a thing which is published or unpublished while its
// creator is renamed is found by the new name, or not at all.
func TestRenameDuringPublication(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, _ auth.Caller) {
		ctx := t.Context()
		thing, _ := published(t, s, newUser(t, s, "benjamin"))
		setState := func(ctx context.Context, tx bun.Tx, to PublicationState) error {
			if _, err := s.lockThing(ctx, tx, thing.ID); err != nil {
				return err
			}
			if _, err := tx.NewRaw("UPDATE things SET state = ? WHERE id = ?", to, thing.ID).Exec(ctx); err != nil {
				return err
			}
			return s.DB.index(ctx, tx, ThingIndex, thing.ID)
		}
		for _, c := range []struct {
			to       PublicationState
			from, as string
			found    int64
		}{{Draft, "benjamin", "zacharias", 0}, {Published, "zacharias", "balthasar", 1}} {
			renamed := make(chan error, 1)
			err := s.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) (err error) {
				if err := setState(ctx, tx, c.to); err != nil {
					return err
				}
				go func() {
					_, err := s.Admin().RenameUser(context.WithoutCancel(ctx), c.from, c.as)
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
			wantFound(t, s, SearchThings, c.as, c.found)
		}
	})
}

// TestLastAdministratorStays checks that two administrators cannot remove each other, one after the
// other with a role that is out of date, or at the same time.
func TestLastAdministratorStays(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, ada auth.Caller) {
		ctx := t.Context()
		administrator := func(name string) auth.Caller {
			u, err := s.Admin().CreateUser(ctx, name, true)
			if err != nil {
				t.Fatal(err)
			}
			return auth.Caller{UserID: u.ID, Role: auth.Administrator, Scopes: auth.Scopes{auth.Read, auth.Write, auth.Admin}}
		}
		demote := func(by auth.Caller, name string) error {
			_, err := s.SetUserRole(ctx, by, name, auth.Member, "No longer here.")
			return err
		}
		suspend := func(by auth.Caller, name string) error {
			_, err := s.SuspendAndRevokeTokens(ctx, by, name, "No longer here.")
			return err
		}
		left := func() int64 {
			t.Helper()
			n, err := s.DB.Write.NewSelect().Model((*User)(nil)).Where("u.is_admin AND u.suspended_at IS NULL").Count(ctx)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		first, second := administrator("first"), administrator("second")
		if err := demote(first, "second"); err != nil {
			t.Fatal(err)
		}
		if err := demote(second, "first"); CodeOf(err) != BadInput || left() != 1 {
			t.Errorf("demoting the last administrator: %v, %d left", err, left())
		}
		fourth := administrator("fourth")
		if _, err := s.SuspendUser(ctx, fourth, "first", "No longer here."); err != nil {
			t.Fatal(err)
		}
		if _, err := s.SuspendUser(ctx, first, "fourth", "No longer here."); CodeOf(err) != BadInput || left() != 1 {
			t.Errorf("suspending the last administrator: %v, %d left", err, left())
		}
		if _, err := s.UnsuspendUser(ctx, fourth, "first", "A mistake."); err != nil {
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
			if _, err := s.DB.Write.NewRaw("UPDATE users SET is_admin = true, suspended_at = NULL WHERE id IN (?, ?)", first.UserID, third.UserID).Exec(ctx); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestActionsBesideRenaming checks that an action on a user returns that user if the user is
// renamed at the same time, and another user takes the old name.
func TestActionsBesideRenaming(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, ada auth.Caller) {
		ctx := t.Context()
		admin := auth.Caller{UserID: ada.UserID, Role: auth.Administrator, Scopes: auth.Scopes{auth.Read, auth.Write, auth.Admin}}
		for _, test := range []struct {
			name string
			act  func(name string) (*User, error)
		}{
			{"bob", func(name string) (*User, error) { return s.Follow(ctx, ada, name) }},
			{"cyd", func(name string) (*User, error) { return s.SuspendUser(ctx, admin, name, "Because.") }},
			{"dan", func(name string) (*User, error) { return s.RenameUser(ctx, admin, name, "renamed-"+name) }},
		} {
			user, rename := newUser(t, s, test.name), "UPDATE users SET username = ? WHERE id = ?"
			var got *User
			err := beside(t, s, func(ctx context.Context, tx bun.Tx) error {
				if _, err := s.LockAccount(ctx, tx, user.UserID); err != nil {
					return err
				}
				if _, err := tx.NewRaw(rename, "former-"+test.name, user.UserID).Exec(ctx); err != nil {
					return err
				}
				return s.insertUser(ctx, tx, &User{Username: test.name, DefaultLicense: CC, CreatedAt: Now()})
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
	eachStore(t, func(t *testing.T, s *Store, _ auth.Caller) {
		ctx := t.Context()
		u, err := s.Admin().SuspendAndRevokeTokens(ctx, "ada", "")
		if err != nil {
			t.Fatal(err)
		}
		var token string
		err = s.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
			token, err = insertToken(ctx, tx, &Token{UserID: u.ID, Scopes: "read write"})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		caller, err := s.Authenticate(ctx, token)
		if err != nil || caller.Suspended == "" {
			t.Errorf("the caller is %+v (%v), want a suspended one", caller, err)
		}
	})
}

// TestSuspensionOfOneself checks that administrators can suspend each other, but not themselves.
func TestSuspensionOfOneself(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, _ auth.Caller) {
		var callers []auth.Caller
		for _, name := range []string{"cleo", "dora"} {
			u, err := s.Admin().CreateUser(t.Context(), name, true)
			if err != nil {
				t.Fatal(err)
			}
			callers = append(callers, auth.Caller{UserID: u.ID, Role: auth.Administrator, Scopes: auth.Scopes{auth.Read, auth.Write, auth.Admin}})
		}
		if _, err := s.SuspendAndRevokeTokens(t.Context(), callers[0], "cleo", "Mine."); CodeOf(err) != BadInput {
			t.Errorf("cleo by cleo: got %v, want %s", err, BadInput)
		}
		if _, err := s.SuspendAndRevokeTokens(t.Context(), callers[0], "dora", "Spam."); err != nil {
			t.Errorf("dora by cleo: got %v, want no error", err)
		}
	})
}
