package models

import (
	"testing"

	"github.com/meshyard/meshyard/internal/auth"
)

// TestDecisionsWithoutEffect checks that a decision that changes nothing is neither recorded nor
// reported to the user concerned, and that the same decision is both where it changes something.
func TestDecisionsWithoutEffect(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, ada auth.Caller) {
		ctx := t.Context()
		u, err := s.Admin().CreateUser(ctx, "admin", true)
		if err != nil {
			t.Fatal(err)
		}
		admin := auth.Caller{UserID: u.ID, Role: auth.Administrator, Scopes: auth.Scopes{auth.Read, auth.Write, auth.Admin}}
		thing, _ := published(t, s, ada)
		count := func() (entries, notifications int) {
			t.Helper()
			err := s.db.Read.NewRaw("SELECT (SELECT count(*) FROM moderation_log), (SELECT count(*) FROM notifications WHERE user_id = ?)", ada.UserID).
				Scan(ctx, &entries, &notifications)
			if err != nil {
				t.Fatal(err)
			}
			return entries, notifications
		}
		// decide makes a decision, and checks how many entries and notifications it adds.
		decide := func(what string, want int, decision func() error) {
			t.Helper()
			entries, notifications := count()
			if err := decision(); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			if after, notified := count(); after-entries != want || notified-notifications != want {
				t.Errorf("%s: %d entries of the log and %d notifications, want %d of each", what, after-entries, notified-notifications, want)
			}
		}
		restore := func() error {
			_, err := s.RestoreThing(ctx, admin, thing.ID, "A mistake.")
			return err
		}
		unsuspend := func() error {
			_, err := s.UnsuspendUser(ctx, admin, "ada", "A mistake.")
			return err
		}
		setRole := func() error {
			_, err := s.SetUserRole(ctx, admin, "ada", auth.Moderator, "Knows how.")
			return err
		}
		decide("restoring a thing that is not taken down", 0, restore)
		decide("taking it down", 1, func() error {
			_, err := s.TakeDownThing(ctx, admin, thing.ID, "A weapon.")
			return err
		})
		decide("restoring it", 1, restore)
		decide("restoring it again", 0, restore)
		decide("unsuspending a user who is not suspended", 0, unsuspend)
		decide("suspending the user", 1, func() error {
			_, err := s.SuspendUser(ctx, admin, "ada", "Spam.")
			return err
		})
		decide("unsuspending the user", 1, unsuspend)
		decide("unsuspending the user again", 0, unsuspend)
		decide("enabling the user on the command line", 0, func() error {
			_, err := s.Admin().UnsuspendUser(ctx, "ada")
			return err
		})
		decide("setting the role of the user", 1, setRole)
		decide("setting the role that the user has", 0, setRole)
	})
}
