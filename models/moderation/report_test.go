package moderation_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/internal/database/databasetest"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/catalogue"
	"github.com/meshyard/meshyard/models/catalogue/cataloguetest"
	"github.com/meshyard/meshyard/models/comments"
	"github.com/meshyard/meshyard/models/files"
	"github.com/meshyard/meshyard/models/makes"
	"github.com/meshyard/meshyard/models/moderation"
)

// TestReportsAtTheLimit checks that concurrent calls do not exceed the maximum number of open
// reports of a user, and that a user who has reached it can repeat a report, which has no effect.
func TestReportsAtTheLimit(t *testing.T) {
	cataloguetest.Each(t, func(t *testing.T, s *catalogue.Catalogue, ada auth.Caller) {
		ctx := t.Context()
		bob := cataloguetest.NewUser(t, s, "bob")
		var things []*models.Thing
		for range 3 {
			thing, err := s.CreateThing(ctx, ada, models.NewThing{Name: "a", Description: "a", License: models.CC,
				Category: "Art"})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.DB.Write.NewRaw("UPDATE things SET state = 'published' WHERE id = ?", thing.ID).
				Exec(ctx); err != nil {
				t.Fatal(err)
			}
			things = append(things, thing)
		}
		report := func(thing *models.Thing) (*moderation.Report, error) {
			return s.Moderation.ReportContent(ctx, bob, moderation.NewReport{NodeID: thing.NodeID(),
				Reason: moderation.ReportOther})
		}
		first, err := report(things[0])
		if err != nil {
			t.Fatal(err)
		}
		for i := range moderation.MaxOpenReports - 2 {
			r := &moderation.Report{ReporterID: bob.UserID, TargetType: models.OnComment, TargetID: int64(1_000 + i),
				UserID: ada.UserID, Reason: moderation.ReportSpam, State: moderation.Open, CreatedAt: models.Now()}
			if _, err := s.DB.Write.NewInsert().Model(r).Exec(ctx); err != nil {
				t.Fatal(err)
			}
		}
		// There is room for one report. While its transaction is not committed, another call begins.
		done := make(chan error, 1)
		err = s.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
			if _, err := s.Moderation.InsertReport(ctx, tx, bob, models.Target{Type: models.OnThing, ID: things[1].ID},
				ada.UserID, moderation.ReportOther, ""); err != nil {
				return err
			}
			go func() {
				_, err := report(things[2])
				done <- err
			}()
			for s.DB.Engine == database.Postgres && len(done) == 0 {
				waits, err := databasetest.WaitsForLock(ctx, s.DB.DB)
				if err != nil || waits {
					return err
				}
				runtime.Gosched()
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := <-done; models.CodeOf(err) != models.Conflict {
			t.Errorf("one report too many: %v, want %s", err, models.Conflict)
		}
		open, err := s.DB.Read.NewSelect().Model((*moderation.Report)(nil)).Where("rp.reporter_id = ? AND rp.state = ?",
			bob.UserID, moderation.Open).Count(ctx)
		if err != nil || open != moderation.MaxOpenReports {
			t.Errorf("%d open reports (%v), want %d", open, err, moderation.MaxOpenReports)
		}
		if again, err := report(things[0]); err != nil || again.ID != first.ID {
			t.Errorf("the same report again: %+v, %v, want report %d", again, err, first.ID)
		}
	})
}

// TestReportBesideDeletion checks that no report of a comment stays open if the comment is deleted
// at the same time.
func TestReportBesideDeletion(t *testing.T) {
	cataloguetest.Each(t, func(t *testing.T, s *catalogue.Catalogue, ada auth.Caller) {
		ctx := t.Context()
		bob := cataloguetest.NewUser(t, s, "bob")
		thing, _ := cataloguetest.Published(t, s, ada)
		c, err := s.Comments.CreateComment(ctx, ada,
			comments.NewComment{Target: &models.Target{Type: models.OnThing, ID: thing.ID}, Body: "Buy this."})
		if err != nil {
			t.Fatal(err)
		}
		err = cataloguetest.Beside(t, s, func(ctx context.Context, tx bun.Tx) error {
			locked, err := s.LockComment(ctx, tx, c.ID)
			if err != nil {
				return err
			}
			return s.Comments.HideCommentOfOther(ctx, tx, ada, locked, "")
		}, func() error {
			_, err := s.Moderation.ReportContent(ctx, bob, moderation.NewReport{NodeID: c.NodeID(),
				Reason: moderation.ReportAbuse})
			return err
		})
		open, countErr := s.DB.Read.NewSelect().Model((*moderation.Report)(nil)).Where("rp.state = ?", moderation.Open).
			Count(ctx)
		if models.CodeOf(err) != models.NotFound || open != 0 || countErr != nil {
			t.Errorf("%d open reports (%v), want 0; the call returned %v, want %s", open, countErr, err, models.NotFound)
		}
	})
}

// TestReportsOfModerators checks that a moderator neither sees nor decides reports about
// themselves, and that an administrator does.
func TestReportsOfModerators(t *testing.T) {
	cataloguetest.Each(t, func(t *testing.T, s *catalogue.Catalogue, ada auth.Caller) {
		ctx := t.Context()
		scopes := auth.Scopes{auth.Read, auth.Write, auth.Admin}
		moderator := auth.Caller{UserID: ada.UserID, Role: auth.Moderator, Scopes: scopes}
		administrator := auth.Caller{UserID: cataloguetest.NewUser(t, s, "admin").UserID, Role: auth.Administrator,
			Scopes: scopes}
		thing, _ := cataloguetest.Published(t, s, ada)
		others, _ := cataloguetest.Published(t, s, cataloguetest.NewUser(t, s, "eve"))
		bob := cataloguetest.NewUser(t, s, "bob")
		report := func(node string) *moderation.Report {
			t.Helper()
			r, err := s.Moderation.ReportContent(ctx, bob, moderation.NewReport{NodeID: node, Reason: moderation.ReportOther})
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		about, other := report(thing.NodeID()), report(others.NodeID())
		for _, c := range []struct {
			caller auth.Caller
			want   int64
		}{{moderator, 1}, {administrator, 2}} {
			list, err := s.Moderation.Reports(c.caller, moderation.Open)
			if err != nil {
				t.Fatal(err)
			}
			if n, err := list.Select().Count(ctx); n != c.want || err != nil {
				t.Errorf("%s sees %d reports (%v), want %d", c.caller.Role, n, err, c.want)
			}
		}
		if _, err := s.Moderation.DecideReport(ctx, moderator, about.ID, moderation.Dismissed,
			"Nothing."); models.CodeOf(err) != models.NotFound {
			t.Errorf("a moderator decides a report about themselves: %v, want %s", err, models.NotFound)
		}
		for id, caller := range map[int64]auth.Caller{other.ID: moderator, about.ID: administrator} {
			if _, err := s.Moderation.DecideReport(ctx, caller, id, moderation.Dismissed, "Nothing."); err != nil {
				t.Errorf("%s decides report %d: %v", caller.Role, id, err)
			}
		}
	})
}

// TestReportsClosedByRestoring checks that reports of a comment that a moderator dismisses by
// restoring it name the moderator.
func TestReportsClosedByRestoring(t *testing.T) {
	cataloguetest.Each(t, func(t *testing.T, s *catalogue.Catalogue, ada auth.Caller) {
		ctx := t.Context()
		moderator := auth.Caller{UserID: cataloguetest.NewUser(t, s, "mod").UserID, Role: auth.Moderator,
			Scopes: auth.Scopes{auth.Read, auth.Write, auth.Admin}}
		thing, _ := cataloguetest.Published(t, s, ada)
		c, err := s.Comments.CreateComment(ctx, ada,
			comments.NewComment{Target: &models.Target{Type: models.OnThing, ID: thing.ID}, Body: "Nice."})
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.Moderation.ReportContent(ctx, cataloguetest.NewUser(t, s, "bob"), moderation.NewReport{NodeID: c.NodeID(),
			Reason: moderation.ReportSpam})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Moderation.RestoreComment(ctx, moderator, c.ID); err != nil {
			t.Fatal(err)
		}
		if r, err = s.Moderation.Report(ctx, r.ID); err != nil || r.State != moderation.Dismissed ||
			r.DecidedBy != moderator.UserID || r.DecidedAt == nil {
			t.Errorf("the report is %+v (%v), want that the moderator dismissed it", r, err)
		}
	})
}

// TestReportsOfDeletedContent checks that the deletion of reported content by a moderator is the
// decision about its reports, and that its creator, or the owner of the thing that a comment is on,
// decides nothing by deleting it.
func TestReportsOfDeletedContent(t *testing.T) {
	cataloguetest.Each(t, func(t *testing.T, s *catalogue.Catalogue, ada auth.Caller) {
		ctx := t.Context()
		bob, mod := cataloguetest.NewUser(t, s, "bob"), cataloguetest.NewUser(t, s, "mod")
		mod.Role, mod.Scopes = auth.Administrator, auth.Scopes{auth.Read, auth.Write, auth.Admin}
		ok := func(_ any, err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		on, _ := cataloguetest.Published(t, s, bob)
		newThing := func() *models.Thing {
			thing, _ := cataloguetest.Published(t, s, ada)
			return thing
		}
		newMake := func() *models.Make {
			t.Helper()
			m, _, err := s.Makes.CreateMake(ctx, ada, makes.NewMake{ThingID: on.ID})
			ok(m, err)
			return m
		}
		newComment := func() *models.Comment {
			t.Helper()
			c, err := s.Comments.CreateComment(ctx, ada,
				comments.NewComment{Target: &models.Target{Type: models.OnThing, ID: on.ID}, Body: "Buy this."})
			ok(c, err)
			return c
		}
		things, makes, comments := []*models.Thing{newThing(), newThing()}, []*models.Make{newMake(), newMake()},
			[]*models.Comment{newComment(), newComment(), newComment(), newComment()}
		user, err := s.User(ctx, mod, models.AllUserFields, "ada")
		ok(user, err)
		for i, d := range []struct {
			name, node string
			want       string // the reason, if a moderator decided
			delete     func() error
		}{
			{"a thing by its creator", things[0].NodeID(), "",
				func() error { _, err := s.DeleteThing(ctx, ada, things[0].ID, "x"); return err }},
			{"a thing by a moderator", things[1].NodeID(), "Stolen.",
				func() error { _, err := s.DeleteThing(ctx, mod, things[1].ID, "Stolen."); return err }},
			{"a make by its creator", makes[0].NodeID(), "",
				func() error { _, err := s.Makes.DeleteMake(ctx, ada, makes[0].ID, "x"); return err }},
			{"a make by a moderator", makes[1].NodeID(), "Fake.",
				func() error { _, err := s.Makes.DeleteMake(ctx, mod, makes[1].ID, "Fake."); return err }},
			{"a comment by its author", comments[0].NodeID(), "",
				func() error { _, err := s.Comments.DeleteComment(ctx, ada, comments[0].ID, "x"); return err }},
			{"a comment by the owner of the thing", comments[1].NodeID(), "",
				func() error { _, err := s.Comments.DeleteComment(ctx, bob, comments[1].ID, "x"); return err }},
			{"a comment by a moderator", comments[2].NodeID(), "Rude.",
				func() error { _, err := s.Comments.DeleteComment(ctx, mod, comments[2].ID, "Rude."); return err }},
			{"spam by a moderator", comments[3].NodeID(), "Spam.",
				func() error { _, err := s.Moderation.ReportSpam(ctx, mod, comments[3].ID); return err }},
			{"a user by an administrator", user.NodeID(), "A robot.",
				func() error { _, err := s.Account.DeleteAccount(ctx, mod, "ada", "A robot."); return err }},
		} {
			reporter := cataloguetest.NewUser(t, s, fmt.Sprint("reporter-", i))
			r, err := s.Moderation.ReportContent(ctx, reporter, moderation.NewReport{NodeID: d.node,
				Reason: moderation.ReportOther})
			if err != nil {
				t.Fatalf("%s: %v", d.name, err)
			}
			if err := d.delete(); err != nil {
				t.Fatalf("%s: %v", d.name, err)
			}
			if r, err = s.Moderation.Report(ctx, r.ID); err != nil {
				t.Fatal(err)
			}
			wantBy := int64(0)
			if d.want != "" {
				wantBy = mod.UserID
			}
			if r.State != moderation.Resolved || r.DecidedBy != wantBy || (r.DecidedAt != nil) != (wantBy != 0) ||
				r.Decision != d.want {
				t.Errorf("%s: %s by %d at %v for %q, want %s by %d for %q", d.name, r.State, r.DecidedBy, r.DecidedAt, r.Decision,
					moderation.Resolved, wantBy, d.want)
			}
		}
		ok(s.Maintenance.CollectGarbage(ctx, 0, false))
	})
}

// TestReasonsOfDeletions checks that moderators must give a valid reason, also for objects without
// reports.
func TestReasonsOfDeletions(t *testing.T) {
	cataloguetest.Each(t, func(t *testing.T, s *catalogue.Catalogue, ada auth.Caller) {
		ctx := t.Context()
		mod := cataloguetest.NewUser(t, s, "mod")
		mod.Role, mod.Scopes = auth.Administrator, auth.Scopes{auth.Read, auth.Write, auth.Admin}
		thing, model := cataloguetest.Published(t, s, ada)
		m, _, err := s.Makes.CreateMake(ctx, ada, makes.NewMake{ThingID: thing.ID})
		if err != nil {
			t.Fatal(err)
		}
		comment, err := s.Comments.CreateComment(ctx, ada,
			comments.NewComment{Target: &models.Target{Type: models.OnThing, ID: thing.ID}, Body: "Buy this."})
		if err != nil {
			t.Fatal(err)
		}
		for object, del := range map[string]func(reason string) error{
			"thing": func(reason string) error { _, err := s.DeleteThing(ctx, mod, thing.ID, reason); return err },
			"make":  func(reason string) error { _, err := s.Makes.DeleteMake(ctx, mod, m.ID, reason); return err },
			"comment": func(reason string) error {
				_, err := s.Comments.DeleteComment(ctx, mod, comment.ID, reason)
				return err
			},
			"file": func(reason string) error {
				_, err := s.Files.DeleteFile(ctx, mod, files.FileDeletion{ID: model.ID, AllowNoModel: true, Reason: reason})
				return err
			},
			"account": func(reason string) error { _, err := s.Account.DeleteAccount(ctx, mod, "ada", reason); return err },
		} {
			for what, reason := range map[string]string{"blank": " ", "NUL": "a\x00b", "invalid UTF-8": "\xff",
				"too long": strings.Repeat("x", models.MaxReason+1)} {
				if err := del(reason); models.CodeOf(err) != models.BadInput {
					t.Errorf("%s, %s reason: %v, want BadInput", object, what, err)
				}
			}
		}
	})
}
