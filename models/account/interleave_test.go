package account_test

import (
	"testing"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/internal/database/databasetest"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/account"
	"github.com/meshyard/meshyard/models/catalogue"
	"github.com/meshyard/meshyard/models/catalogue/cataloguetest"
)

// TestDeadlocksAreRepeated checks that statements that lock several rows are repeated if PostgreSQL
// aborts them to resolve a deadlock. SQLite has no row locks.
func TestDeadlocksAreRepeated(t *testing.T) {
	cataloguetest.Each(t, func(t *testing.T, s *catalogue.Catalogue, ada auth.Caller) {
		if s.DB.Engine == database.SQLite {
			return
		}
		ctx := t.Context()
		bob := cataloguetest.NewUser(t, s, "bob")
		thing, _ := cataloguetest.Published(t, s, ada)
		for _, by := range []auth.Caller{bob, cataloguetest.NewUser(t, s, "cyd")} {
			if err := s.Social.Like(ctx, by, models.Target{Type: models.OnThing, ID: thing.ID}); err != nil {
				t.Fatal(err)
			}
		}
		_, invitation, err := s.Account.Admin().CreateInvitation(ctx, account.NewInvitation{})
		if err != nil {
			t.Fatal(err)
		}
		_, application, err := s.Account.Admin().RegisterApplication(ctx, account.NewApplication{Name: "App"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Account.IssueOwn(ctx, application.OAuth()); err != nil {
			t.Fatal(err)
		}
		for _, test := range []struct {
			first, second string // the rows that act locks, in this order
			act           func() error
		}{
			{"notifications WHERE actor_id = 2", "notifications WHERE actor_id = 3",
				func() error { _, err := s.Social.MarkNotificationsRead(ctx, ada, nil); return err }},
			{"invitations", "account_links", func() error { return s.Account.Admin().RevokeInvitation(ctx, invitation.ID) }},
			{"applications", "tokens", func() error { return s.Account.Admin().DeleteApplication(ctx, application.ClientID) }},
		} {
			err := databasetest.Deadlock(ctx, s.DB.DB, test.first, test.second, test.act)
			if err != nil {
				t.Errorf("%s: %v", test.first, err)
			}
		}
	})
}
