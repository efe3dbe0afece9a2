package moderation_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/catalogue"
	"github.com/meshyard/meshyard/models/catalogue/cataloguetest"
	"github.com/meshyard/meshyard/models/comments"
	"github.com/meshyard/meshyard/models/files"
	"github.com/meshyard/meshyard/models/makes"
)

// TestDecisionsWithoutEffect checks that a decision that changes nothing is neither recorded nor
// reported to the user concerned, and that the same decision is both where it changes something.
func TestDecisionsWithoutEffect(t *testing.T) {
	cataloguetest.Each(t, func(t *testing.T, s *catalogue.Catalogue, ada auth.Caller) {
		ctx := t.Context()
		u, err := s.Admin().CreateUser(ctx, "admin", true)
		if err != nil {
			t.Fatal(err)
		}
		admin := auth.Caller{UserID: u.ID, Role: auth.Administrator, Scopes: auth.Scopes{auth.Read, auth.Write, auth.Admin}}
		thing, _ := cataloguetest.Published(t, s, ada)
		count := func() (entries, notifications int) {
			t.Helper()
			err := s.DB.Read.NewRaw(
				"SELECT (SELECT count(*) FROM moderation_log), (SELECT count(*) FROM notifications WHERE user_id = ?)", ada.UserID).
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
				t.Errorf("%s: %d entries of the log and %d notifications, want %d of each", what, after-entries,
					notified-notifications, want)
			}
		}
		restore := func() error {
			_, err := s.Moderation.RestoreThing(ctx, admin, thing.ID, "A mistake.")
			return err
		}
		unsuspend := func() error {
			_, err := s.Moderation.UnsuspendUser(ctx, admin, "ada", "A mistake.")
			return err
		}
		setRole := func() error {
			_, err := s.Moderation.SetUserRole(ctx, admin, "ada", auth.Moderator, "Knows how.")
			return err
		}
		decide("restoring a thing that is not taken down", 0, restore)
		decide("taking it down", 1, func() error {
			_, err := s.Moderation.TakeDownThing(ctx, admin, thing.ID, "A weapon.")
			return err
		})
		decide("restoring it", 1, restore)
		decide("restoring it again", 0, restore)
		decide("unsuspending a user who is not suspended", 0, unsuspend)
		decide("suspending the user", 1, func() error {
			_, err := s.Moderation.SuspendUser(ctx, admin, "ada", "Spam.")
			return err
		})
		decide("unsuspending the user", 1, unsuspend)
		decide("unsuspending the user again", 0, unsuspend)
		decide("enabling the user on the command line", 0, func() error {
			_, err := s.Account.Admin().UnsuspendUser(ctx, "ada")
			return err
		})
		decide("setting the role of the user", 1, setRole)
		decide("setting the role that the user has", 0, setRole)
	})
}

// TestOwnDecisions checks that a decision of an administrator about their own content is recorded,
// without a notification.
func TestOwnDecisions(t *testing.T) {
	cataloguetest.Each(t, func(t *testing.T, s *catalogue.Catalogue, _ auth.Caller) {
		ctx := t.Context()
		u, err := s.Admin().CreateUser(ctx, "admin", true)
		if err != nil {
			t.Fatal(err)
		}
		admin := auth.Caller{UserID: u.ID, Role: auth.Administrator, Scopes: auth.Scopes{auth.Read, auth.Write, auth.Admin}}
		thing, _ := cataloguetest.Published(t, s, admin)
		if _, err := s.Moderation.TakeDownThing(ctx, admin, thing.ID, "My mistake."); err != nil {
			t.Fatal(err)
		}
		var entries, notifications int
		err = s.DB.Read.NewRaw(
			"SELECT (SELECT count(*) FROM moderation_log WHERE thing_id = ?), (SELECT count(*) FROM notifications)", thing.ID).
			Scan(ctx, &entries, &notifications)
		if err != nil || entries != 1 || notifications != 0 {
			t.Errorf("got %d entries of the log and %d notifications (%v), want 1 and 0", entries, notifications, err)
		}
	})
}

// TestDecisionsOfNotifications checks that each notification about a decision refers to its entry
// of the moderation log.
func TestDecisionsOfNotifications(t *testing.T) {
	cataloguetest.Each(t, func(t *testing.T, s *catalogue.Catalogue, ada auth.Caller) {
		ctx := t.Context()
		admin, err := s.Admin().CreateUser(ctx, "admin", true)
		if err != nil {
			t.Fatal(err)
		}
		staff := auth.Caller{UserID: admin.ID, Role: auth.Administrator, Scopes: auth.Scopes{auth.Read, auth.Write,
			auth.Admin}}
		thing, _ := cataloguetest.Published(t, s, ada)
		ben := cataloguetest.NewUser(t, s, "ben")
		onUser := func(decide func(context.Context, auth.Caller, string, string) (*models.User, error)) func(string) error {
			return func(reason string) error {
				_, err := decide(ctx, staff, "ada", reason)
				return err
			}
		}
		onThing := func(decide func(context.Context, auth.Caller, int64, string) (*models.Thing, error)) func(string) error {
			return func(reason string) error {
				_, err := decide(ctx, staff, thing.ID, reason)
				return err
			}
		}
		var want []string
		for i, d := range []struct {
			action models.Action
			decide func(reason string) error
		}{
			{models.TookDownThing, onThing(s.Moderation.TakeDownThing)},
			{models.TookDownThing, onThing(s.Moderation.TakeDownThing)},
			{models.SuspendedUser, onUser(s.Moderation.SuspendUser)},
			{models.RestoredThing, onThing(s.Moderation.RestoreThing)},
			{models.UnsuspendedUser, onUser(s.Moderation.UnsuspendUser)},
			{models.SuspendedUser, onUser(s.Account.SuspendAndRevokeTokens)},
			{models.SetUserRole, func(reason string) error {
				_, err := s.Moderation.SetUserRole(ctx, staff, "ada", auth.Moderator, reason)
				return err
			}},
		} {
			reason := fmt.Sprint("Reason ", i)
			if err := d.decide(reason); err != nil {
				t.Fatalf("%s: %v", d.action, err)
			}
			want = append(want, string(d.action)+" "+reason)
		}
		if _, err := s.Social.Follow(ctx, ben, "ada"); err != nil {
			t.Fatal(err)
		}
		var got []string
		err = s.DB.Read.NewRaw("SELECT coalesce(ml.action || ' ' || ml.reason, n.kind) FROM notifications AS n "+
			"LEFT JOIN moderation_log AS ml ON ml.id = n.decision_id WHERE n.user_id = ? ORDER BY n.id", ada.UserID).
			Scan(ctx, &got)
		if want = append(want, "follow"); err != nil || !slices.Equal(got, want) {
			t.Errorf("got %q (%v), want %q", got, err, want)
		}
	})
}

// TestDecisionsOnOwnContent checks that moderators cannot decide on their own content, nor change
// it while it is taken down, and that administrators can.
func TestDecisionsOnOwnContent(t *testing.T) {
	cataloguetest.Each(t, func(t *testing.T, s *catalogue.Catalogue, ada auth.Caller) {
		ctx := t.Context()
		as := func(c auth.Caller, role auth.Role) auth.Caller {
			c.Role, c.Scopes = role, auth.Scopes{auth.Read, auth.Write, auth.Admin}
			return c
		}
		bob := as(cataloguetest.NewUser(t, s, "bob"), auth.Moderator)
		ok := func(_ any, err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		comment := func(thing *models.Thing) *models.Comment {
			t.Helper()
			c, err := s.Comments.CreateComment(ctx, ada,
				comments.NewComment{Target: &models.Target{Type: models.OnThing, ID: thing.ID}, Body: "Buy this."})
			ok(c, err)
			return c
		}
		public, _ := cataloguetest.Published(t, s, ada)
		down, model := cataloguetest.Published(t, s, ada)
		other, _ := cataloguetest.Published(t, s, ada)
		spam, reported := comment(public), comment(public)
		ok(s.Moderation.TakeDownThing(ctx, bob, down.ID, "A weapon."))
		ok(s.Moderation.TakeDownThing(ctx, bob, other.ID, "A weapon."))
		ok(s.Moderation.ReportSpam(ctx, bob, spam.ID))
		ok(s.Moderation.ReportSpam(ctx, cataloguetest.NewUser(t, s, "eve"), reported.ID))
		made, _ := cataloguetest.Published(t, s, bob)
		hidden, _, err := s.Makes.CreateMake(ctx, ada, makes.NewMake{ThingID: made.ID})
		ok(hidden, err)
		ok(s.Moderation.TakeDownThing(ctx, as(bob, auth.Administrator), made.ID, "A weapon."))
		ok(s.DeleteThing(ctx, as(bob, auth.Administrator), made.ID, ""))

		name, description := "b", "b"
		for _, d := range []struct {
			name string
			call func(caller auth.Caller) (any, error)
		}{
			{"feature a thing", func(c auth.Caller) (any, error) { return s.Moderation.FeatureThing(ctx, c, public.ID, true) }},
			{"take a thing down", func(c auth.Caller) (any, error) {
				return s.Moderation.TakeDownThing(ctx, c, public.ID,
					"Mine.")
			}},
			{"replace the reason", func(c auth.Caller) (any, error) {
				return s.Moderation.TakeDownThing(ctx, c, down.ID,
					"A vase.")
			}},
			{"change a taken-down thing", func(c auth.Caller) (any, error) {
				return s.UpdateThing(ctx, c, models.ThingChange{ID: down.ID, Name: &name})
			}},
			{"delete its model", func(c auth.Caller) (any, error) {
				return s.Files.DeleteFile(ctx, c, files.FileDeletion{ID: model.ID, Reason: "Mine."})
			}},
			{"restore a thing", func(c auth.Caller) (any, error) {
				return s.Moderation.RestoreThing(ctx, c, down.ID,
					"A vase.")
			}},
			{"change a hidden make", func(c auth.Caller) (any, error) {
				return s.Makes.UpdateMake(ctx, c, makes.Change{ID: hidden.ID, Description: &description})
			}},
			{"delete a taken-down thing", func(c auth.Caller) (any, error) { return s.DeleteThing(ctx, c, other.ID, "") }},
			{"restore a make", func(c auth.Caller) (any, error) { return s.Moderation.RestoreMake(ctx, c, hidden.ID) }},
			{"restore a comment", func(c auth.Caller) (any, error) { return s.Moderation.RestoreComment(ctx, c, spam.ID) }},
			{"dismiss a report of a comment", func(c auth.Caller) (any, error) {
				return s.Moderation.RestoreComment(ctx, c,
					reported.ID)
			}},
		} {
			if _, err := d.call(as(ada, auth.Moderator)); models.CodeOf(err) != models.Forbidden {
				t.Errorf("%s as a moderator: %v, want %q", d.name, err, models.Forbidden)
			}
			if _, err := d.call(as(ada, auth.Administrator)); err != nil {
				t.Errorf("%s as an administrator: %v", d.name, err)
			}
		}
		ok(s.Maintenance.CollectGarbage(ctx, 0, false))
	})
}

// TestNotificationsOfDecisionsOnContent checks that users are notified, with the reason, when a
// moderator deletes or restores their content, and not when they delete it themselves.
func TestNotificationsOfDecisionsOnContent(t *testing.T) {
	cataloguetest.Each(t, func(t *testing.T, s *catalogue.Catalogue, ada auth.Caller) {
		ctx := t.Context()
		mod := cataloguetest.NewUser(t, s, "mod")
		mod.Role, mod.Scopes = auth.Moderator, auth.Scopes{auth.Read, auth.Write, auth.Admin}
		ok := func(_ any, err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		on, _ := cataloguetest.Published(t, s, mod)
		thing, file := cataloguetest.Published(t, s, ada)
		own, _ := cataloguetest.Published(t, s, ada)
		gone, _ := cataloguetest.Published(t, s, ada)
		newComment := func() int64 {
			t.Helper()
			c, err := s.Comments.CreateComment(ctx, ada,
				comments.NewComment{Target: &models.Target{Type: models.OnThing, ID: own.ID}, Body: "Buy this."})
			ok(c, err)
			return c.ID
		}
		newMake := func() int64 {
			t.Helper()
			m, _, err := s.Makes.CreateMake(ctx, ada, makes.NewMake{ThingID: on.ID})
			ok(m, err)
			return m.ID
		}
		spam, rude, hidden, ugly := newComment(), newComment(), newMake(), newMake()
		admin := mod
		admin.Role = auth.Administrator
		ok(s.Moderation.TakeDownThing(ctx, admin, on.ID, "A weapon."))
		ok(s.DeleteThing(ctx, admin, on.ID, ""))
		_, err := s.DB.Write.NewRaw("DELETE FROM notifications").Exec(ctx)
		ok(nil, err)

		ok(s.Comments.DeleteComment(ctx, ada, newComment(), ""))
		ok(s.DeleteThing(ctx, ada, gone.ID, ""))
		ok(s.Files.DeleteFile(ctx, mod, files.FileDeletion{ID: file.ID, AllowNoModel: true, Reason: "Empty."}))
		ok(s.DeleteThing(ctx, mod, thing.ID, "Stolen."))
		ok(s.Makes.DeleteMake(ctx, mod, ugly, "Not a make."))
		ok(s.Moderation.RestoreMake(ctx, mod, hidden))
		ok(s.Comments.DeleteComment(ctx, mod, rude, "Rude."))
		ok(s.Moderation.ReportSpam(ctx, mod, spam))
		ok(s.Moderation.RestoreComment(ctx, mod, spam))
		var got []string
		err = s.DB.Read.NewRaw(
			"SELECT n.target_type || ' ' || n.target_id || ' ' || ml.action || ' ' || ml.reason FROM notifications AS n "+
				"JOIN moderation_log AS ml ON ml.id = n.decision_id WHERE n.user_id = ? ORDER BY n.id", ada.UserID).Scan(ctx, &got)
		ok(nil, err)
		want := []string{
			fmt.Sprint("user ", ada.UserID, " delete_file Empty."),
			fmt.Sprint("user ", ada.UserID, " delete_thing Stolen."),
			fmt.Sprint("user ", ada.UserID, " delete_make Not a make."),
			fmt.Sprint("make ", hidden, " restore_make "),
			fmt.Sprint("comment ", rude, " delete_comment Rude."),
			fmt.Sprint("comment ", spam, " delete_comment Spam."),
			fmt.Sprint("comment ", spam, " restore_comment "),
		}
		if !slices.Equal(got, want) {
			t.Errorf("the notifications are %q, want %q", got, want)
		}
		ok(s.Maintenance.CollectGarbage(ctx, 0, false))
	})
}

// TestDeletedAfterSpam checks that a comment that is hidden as spam cannot be restored after its
// author, or the owner of the thing, has deleted it, and that it can after a moderator has.
func TestDeletedAfterSpam(t *testing.T) {
	cataloguetest.Each(t, func(t *testing.T, s *catalogue.Catalogue, ada auth.Caller) {
		ctx := t.Context()
		bob, mod := cataloguetest.NewUser(t, s, "bob"), cataloguetest.NewUser(t, s, "mod")
		mod.Role, mod.Scopes = auth.Moderator, auth.Scopes{auth.Read, auth.Write, auth.Admin}
		thing, _ := cataloguetest.Published(t, s, ada)
		for _, c := range []struct {
			name   string
			caller auth.Caller
			final  bool
		}{
			{"the author", bob, true},
			{"the owner of the thing", ada, true},
			{"a moderator", mod, false},
		} {
			comment, err := s.Comments.CreateComment(ctx, bob,
				comments.NewComment{Target: &models.Target{Type: models.OnThing, ID: thing.ID}, Body: "Buy this."})
			if err == nil {
				_, err = s.Moderation.ReportSpam(ctx, mod, comment.ID)
			}
			if err == nil {
				_, err = s.Comments.DeleteComment(ctx, c.caller, comment.ID, "Spam.")
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Moderation.RestoreComment(ctx, mod, comment.ID); (err != nil) != c.final || c.final &&
				models.CodeOf(err) != models.Conflict {
				t.Errorf("restoring after %s deleted it: %v, want an error: %v", c.name, err, c.final)
			}
		}
	})
}
