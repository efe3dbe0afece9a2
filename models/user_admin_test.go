package models

import (
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/meshyard/meshyard/internal/auth"
)

// TestRenamedUsersAreFound checks that a user, and the things of the user, are found by the new
// name and not by the old one, which another user may take.
func TestRenamedUsersAreFound(t *testing.T) {
	eachStore(t, func() {}, func(t *testing.T, s *Store, _ auth.Caller) {
		ctx := t.Context()
		u, err := s.Admin().CreateUser(ctx, "benjamin", false)
		if err != nil {
			t.Fatal(err)
		}
		published(t, s, auth.Caller{UserID: u.ID})
		if _, err := s.Admin().RenameUser(ctx, "benjamin", "zacharias"); err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]int64{"benjamin": 0, "zacharias": 1} {
			for _, kind := range []SearchType{SearchThings, SearchUsers} {
				found, err := s.Search(ctx, kind, name, Filter{}, ByRelevance)
				if err != nil {
					t.Fatal(err)
				}
				if n, err := found.Count(ctx, []int64{1}); n[1] != want || err != nil {
					t.Errorf("%v for %s: %d found, want %d (%v)", kind, name, n[1], want, err)
				}
			}
		}
	})
}

// TestLastAdministratorStays checks that two administrators cannot remove each other, one after the
// other with a role that is out of date, or at the same time.
func TestLastAdministratorStays(t *testing.T) {
	eachStore(t, func() {}, func(t *testing.T, s *Store, ada auth.Caller) {
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
		disable := func(by auth.Caller, name string) error {
			_, err := s.DisableUser(ctx, by, name, "No longer here.")
			return err
		}
		left := func() int64 {
			t.Helper()
			n, err := s.db.Write.NewSelect().Model((*User)(nil)).Where("u.is_admin AND u.suspended_at IS NULL").Count(ctx)
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
		third := administrator("third")
		for range 5 {
			var together errgroup.Group
			together.Go(func() error { return disable(first, "third") })
			together.Go(func() error { return demote(third, "first") })
			if err := together.Wait(); err == nil || left() != 1 {
				t.Errorf("removing each other: %v, %d left", err, left())
			}
			if _, err := s.db.Write.NewRaw("UPDATE users SET is_admin = true, suspended_at = NULL WHERE id IN (?, ?)", first.UserID, third.UserID).Exec(ctx); err != nil {
				t.Fatal(err)
			}
		}
	})
}
