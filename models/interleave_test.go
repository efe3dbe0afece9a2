package models

import (
	"testing"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/internal/database/databasetest"
)

// TestDeadlocksAreRepeated checks that statements that lock several rows are repeated if PostgreSQL
// aborts them to resolve a deadlock. SQLite has no row locks.
func TestDeadlocksAreRepeated(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, ada auth.Caller) {
		if s.DB.Engine == database.SQLite {
			return
		}
		ctx := t.Context()
		bob := newUser(t, s, "bob")
		thing, _ := published(t, s, ada)
		for _, by := range []auth.Caller{bob, newUser(t, s, "cyd")} {
			if err := s.Like(ctx, by, Target{OnThing, thing.ID}); err != nil {
				t.Fatal(err)
			}
		}
		_, invitation, err := s.Admin().CreateInvitation(ctx, NewInvitation{})
		if err != nil {
			t.Fatal(err)
		}
		_, application, err := s.Admin().RegisterApplication(ctx, NewApplication{Name: "App"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.IssueOwn(ctx, application.oauth()); err != nil {
			t.Fatal(err)
		}
		for _, test := range []struct {
			first, second string // the rows that act locks, in this order
			act           func() error
		}{
			{"notifications WHERE actor_id = 2", "notifications WHERE actor_id = 3", func() error { _, err := s.MarkNotificationsRead(ctx, ada, nil); return err }},
			{"invitations", "account_links", func() error { return s.Admin().RevokeInvitation(ctx, invitation.ID) }},
			{"applications", "tokens", func() error { return s.Admin().DeleteApplication(ctx, application.ClientID) }},
		} {
			err := databasetest.Deadlock(ctx, s.DB.DB, test.first, test.second, test.act)
			if err != nil {
				t.Errorf("%s: %v", test.first, err)
			}
		}
	})
}
