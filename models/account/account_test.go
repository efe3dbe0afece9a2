package account_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/auth/oauth"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/account"
	"github.com/meshyard/meshyard/models/catalogue"
	"github.com/meshyard/meshyard/models/catalogue/cataloguetest"
	"github.com/meshyard/meshyard/models/comments"
)

// TestRequestsOutliveTheirAccount checks that requests which were authenticated before an account
// was deleted give the account no session, token, role or name, and that what they add is deleted.
func TestRequestsOutliveTheirAccount(t *testing.T) {
	cataloguetest.Each(t, func(t *testing.T, s *catalogue.Catalogue, ada auth.Caller) {
		ctx := t.Context()
		bob := cataloguetest.NewUser(t, s, "bob")
		bob.Scopes = auth.Scopes{auth.Read, auth.Write}
		thing, _ := cataloguetest.Published(t, s, ada)
		var purges []models.Work
		s.Enqueue = func(_ context.Context, _ bun.Tx, w models.Work) error {
			if w.PurgeAccount == bob.UserID {
				purges = append(purges, w)
			}
			return nil
		}
		if err := s.Account.Admin().DeleteUser(ctx, "bob"); err != nil {
			t.Fatal(err)
		}
		if len(purges) != 2 || !purges[0].At.IsZero() || !purges[1].At.After(models.Now().Add(account.PurgeAgain/2)) {
			t.Errorf("the jobs are %+v, want one now and one later", purges)
		}

		name, administrator := "Bob", true
		for what, refused := range map[string]func() error{
			"a session": func() error { _, err := s.Account.SignIn(ctx, auth.Verified{UserID: bob.UserID}, ""); return err },
			"a token": func() error {
				_, _, err := s.Account.CreateToken(ctx, bob, account.NewToken{Name: "a", Scopes: bob.Scopes})
				return err
			},
			"a token of an application": func() error {
				_, err := s.Account.AuthorizeImplicitly(ctx, oauth.Grant{Application: &oauth.Application{Name: "a"},
					UserID: bob.UserID, Scopes: bob.Scopes})
				return err
			},
			"a role": func() error {
				return s.Account.ApplyRoles(ctx, bob.UserID, auth.Identity{IsAdministrator: &administrator})
			},
			"a profile": func() error {
				_,
					err := s.UpdateProfile(ctx, bob, models.ProfileChange{FirstName: &name})
				return err
			},
		} {
			if err := refused(); models.CodeOf(err) != models.NotFound {
				t.Errorf("%s of a deleted account: got %v, want NOT_FOUND", what, err)
			}
		}
		if users, err := s.UsersByID(ctx, auth.Caller{}, models.AllUserFields, []int64{bob.UserID}); err != nil ||
			users[bob.UserID].FirstName != "" {
			t.Errorf("a deleted account has a name (%v)", err)
		}

		if err := s.Account.PurgeAccount(ctx, bob.UserID); err != nil {
			t.Fatal(err)
		}
		on := models.Target{Type: models.OnThing, ID: thing.ID}
		taken, _ := cataloguetest.Published(t, s, bob)
		admin := auth.Caller{UserID: ada.UserID, Role: auth.Administrator, Scopes: auth.Scopes{auth.Admin}}
		_, takenDown := s.Moderation.TakeDownThing(ctx, admin, taken.ID, "Because.")
		_, commented := s.Comments.CreateComment(ctx, bob, comments.NewComment{Target: &on, Body: "A secret."})
		_, followed := s.Social.Follow(ctx, bob, "ada")
		for _, err := range []error{takenDown, commented, followed, s.Social.Like(ctx, bob, on),
			s.Social.Watch(ctx, bob, on)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Account.PurgeAccount(ctx, bob.UserID); err != nil {
			t.Fatal(err)
		}
		for table, where := range map[string]string{
			"things": "owner_id = ?", "files": "owner_id = ?", "comments": "owner_id = ? AND deleted_at IS NULL",
			"likes": "user_id = ?", "watches": "user_id = ?", "follows": "follower_id = ?", "notifications": "actor_id = ?",
		} {
			if n, err := s.DB.Read.NewSelect().Table(table).Where(where, bob.UserID).Count(ctx); n != 0 || err != nil {
				t.Errorf("%d %s of a deleted account are left (%v)", n, table, err)
			}
		}
		if _, err := s.FoldCounts(ctx); err != nil {
			t.Fatal(err)
		}
		if changed, err := s.Maintenance.Recount(ctx); changed != 0 || err != nil {
			t.Errorf("a recount changed %d counts (%v), want 0", changed, err)
		}
		if _, err := s.Maintenance.CollectGarbage(ctx, 0, false); err != nil {
			t.Fatal(err)
		}
	})
}

// TestPurgeContinues checks that an object which cannot be deleted does not keep the other objects
// of a deleted account, and that the job fails as long as it is there.
func TestPurgeContinues(t *testing.T) {
	cataloguetest.Each(t, func(t *testing.T, s *catalogue.Catalogue, ada auth.Caller) {
		ctx := t.Context()
		bob := cataloguetest.NewUser(t, s, "bob")
		bob.Scopes = auth.Scopes{auth.Read, auth.Write}
		stuck, _ := cataloguetest.Published(t, s, bob)
		cataloguetest.Published(t, s, bob)
		public, _ := cataloguetest.Published(t, s, ada)
		if _, err := s.Comments.CreateComment(ctx, bob,
			comments.NewComment{Target: &models.Target{Type: models.OnThing, ID: public.ID}, Body: "A secret."}); err != nil {
			t.Fatal(err)
		}
		run := func(statement string, args ...any) {
			t.Helper()
			if _, err := s.DB.Write.NewRaw(statement, args...).Exec(ctx); err != nil {
				t.Fatal(err)
			}
		}
		run("CREATE TABLE kept (thing_id bigint REFERENCES things (id))")
		run("INSERT INTO kept VALUES (?)", stuck.ID)
		if err := s.Account.Admin().DeleteUser(ctx, "bob"); err != nil {
			t.Fatal(err)
		}
		left := func() (things, comments int64) {
			t.Helper()
			things, err := s.DB.Write.NewSelect().Table("things").Where("owner_id = ?", bob.UserID).Count(ctx)
			comments, err2 := s.DB.Write.NewSelect().Table("comments").Where("owner_id = ? AND deleted_at IS NULL", bob.UserID).
				Count(ctx)
			if err := errors.Join(err, err2); err != nil {
				t.Fatal(err)
			}
			return things, comments
		}
		err := s.Account.PurgeAccount(ctx, bob.UserID)
		if want := fmt.Sprintf("purge account %d: cannot delete 1 objects, such as things %d: ", bob.UserID,
			stuck.ID); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s…", err, want)
		}
		if things, comments := left(); things != 1 || comments != 0 {
			t.Errorf("%d things and %d comments are left, want 1 and 0", things, comments)
		}
		run("DELETE FROM kept")
		if err := s.Account.PurgeAccount(ctx, bob.UserID); err != nil {
			t.Error(err)
		}
		if things, _ := left(); things != 0 {
			t.Errorf("%d things are left", things)
		}
		if _, err := s.Maintenance.CollectGarbage(ctx, 0, false); err != nil {
			t.Fatal(err)
		}
	})
}

// TestDeletedAccountKeepsNoSecrets checks that the deletion of an account removes what its user
// could sign in with, and the e-mail addresses and the texts that other tables than users contain.
func TestDeletedAccountKeepsNoSecrets(t *testing.T) {
	cataloguetest.Each(t, func(t *testing.T, s *catalogue.Catalogue, ada auth.Caller) {
		ctx := t.Context()
		bob := cataloguetest.NewUser(t, s, "bob")
		secret, _, err := s.Account.Admin().
			RegisterApplication(ctx, account.NewApplication{Name: "App", RedirectURIs: []string{"https://app.example/back"}})
		if err != nil || secret == "" {
			t.Fatal(err)
		}
		_, err = s.Account.Authorize(ctx, oauth.Grant{Application: &oauth.Application{ID: 1}, UserID: bob.UserID,
			Scopes: auth.Scopes{auth.Read}})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Account.Admin().SetPassword(ctx, "bob", "correct horse battery"); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Account.SignIn(ctx, auth.Verified{UserID: bob.UserID}, "Browser"); err != nil {
			t.Fatal(err)
		}
		err = s.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
			_, err := account.InsertToken(ctx, tx, &account.Token{UserID: bob.UserID, Name: "a", Scopes: "read"})
			_, err2 := account.InsertLink(ctx, tx, &account.AccountLink{Purpose: models.ResetLink, UserID: bob.UserID,
				Email: "bob@example.org", ExpiresAt: models.Now().Add(time.Hour)})
			_, err3 := tx.NewInsert().Model(&account.LinkedID{Issuer: "https://id.example", Subject: "bob", UserID: bob.UserID,
				CreatedAt: models.Now()}).Exec(ctx)
			_, err4 := tx.NewRaw(
				"INSERT INTO webhooks (owner_id, is_global, url, description, events, secret, created_at, modified_at) "+
					"VALUES (?0, false, 'https://bob.example/hook', '', '', 'x', ?1, ?1)", bob.UserID, models.Now()).Exec(ctx)
			_, err5 := tx.NewRaw(
				"INSERT INTO printers (owner_id, name, kind, url, created_at, modified_at) VALUES (?0, 'a', 'octoprint', 'http://printer.invalid', ?1, ?1)",
				bob.UserID, models.Now()).Exec(ctx)
			return errors.Join(err, err2, err3, err4, err5, account.ConfirmEmail(ctx, tx, bob.UserID, "bob@example.org"))
		})
		if err != nil {
			t.Fatal(err)
		}
		thing, _ := cataloguetest.Published(t, s, ada)
		spam, err := s.Comments.CreateComment(ctx, bob,
			comments.NewComment{Target: &models.Target{Type: models.OnThing, ID: thing.ID}, Body: "Buy this."})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Moderation.ReportSpam(ctx, auth.Caller{UserID: ada.UserID, Role: auth.Moderator,
			Scopes: auth.Scopes{auth.Admin}}, spam.ID); err != nil {
			t.Fatal(err)
		}
		check := func(when string, want int64) {
			t.Helper()
			for table, where := range map[string]string{
				"tokens": "user_id = ?", "grants": "user_id = ?", "sessions": "user_id = ?", "passwords": "user_id = ?",
				"identities":       "user_id = ?",
				"confirmed_emails": "user_id = ?", "account_links": "user_id = ?", "webhooks": "owner_id = ?",
				"printers": "owner_id = ?", "comments": "owner_id = ? AND spam_body <> ''",
			} {
				if n, err := s.DB.Write.NewSelect().Table(table).Where(where, bob.UserID).Count(ctx); n != want || err != nil {
					t.Errorf("%s: %d rows of %s, want %d (%v)", when, n, table, want, err)
				}
			}
		}
		check("before the deletion", 1)
		if err := s.Account.Admin().DeleteUser(ctx, "bob"); err != nil {
			t.Fatal(err)
		}
		if err := s.Account.PurgeAccount(ctx, bob.UserID); err != nil {
			t.Fatal(err)
		}
		check("after the deletion", 0)
		if _, err := s.FoldCounts(ctx); err != nil {
			t.Fatal(err)
		}
	})
}
