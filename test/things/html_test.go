package things_test

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/cmd/meshyard/server"
	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/fieldset"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/comments"
	"github.com/meshyard/meshyard/test/servertest"
)

// renders returns the number of texts that are rendered while f runs.
func renders(s *servertest.Server, f func()) int64 {
	before := s.Store.Renders()
	f()
	return s.Store.Renders() - before
}

// TestHTMLIsStored checks that HTML is rendered when a text is saved, and never when it is read.
func TestHTMLIsStored(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		thing := ada.Thing("Lamp")
		var saved struct {
			C struct{ Comment struct{ ID string } }
			M struct{ Make struct{ ID string } }
			L struct{ Collection struct{ ID string } }
		}
		const save = `mutation ($id: ID!) {
			updateThing(input: {id: $id, description: "*one*", instructions: "*two*"}) { thing { id } }
			updateProfile(input: {bio: "*three*"}) { user { id } }
			c: createComment(input: {target: {type: THING, id: $id}, body: "*four*"}) { comment { id } }
			m: createMake(input: {thingId: $id, description: "*five*"}) { make { id } }
			l: createCollection(input: {name: "Lamps", description: "*six*"}) { collection { id } } }`
		if n := renders(s, func() { ada.Query(save, servertest.Object{"id": thing}, &saved) }); n != 6 {
			t.Errorf("saving six texts rendered %d, want 6", n)
		}
		const read = `query ($t: ID!, $c: ID!, $m: ID!, $l: ID!) { thing(id: $t) { descriptionHtml instructionsHtml } me { bioHtml } comment(id: $c) { bodyHtml } make(id: $m) { descriptionHtml } collection(id: $l) { descriptionHtml } }`
		check := func(when string, want ...string) {
			t.Helper()
			var got struct {
				Thing            struct{ DescriptionHTML, InstructionsHTML string }
				Me               struct{ BioHTML string }
				Comment          struct{ BodyHTML string }
				Make, Collection struct{ DescriptionHTML string }
			}
			n := renders(s, func() {
				ada.Query(read, servertest.Object{"t": thing, "c": saved.C.Comment.ID, "m": saved.M.Make.ID,
					"l": saved.L.Collection.ID}, &got)
			})
			if n != 0 {
				t.Errorf("%s: reading rendered %d texts, want 0", when, n)
			}
			all := []string{got.Thing.DescriptionHTML, got.Thing.InstructionsHTML, got.Me.BioHTML, got.Comment.BodyHTML,
				got.Make.DescriptionHTML, got.Collection.DescriptionHTML}
			for i, html := range all {
				if want := "<p><em>" + want[i] + "</em></p>\n"; html != want {
					t.Errorf("%s: text %d is %q, want %q", when, i+1, html, want)
				}
			}
		}
		check("saved", "one", "two", "three", "four", "five", "six")
		n := renders(s, func() {
			ada.Query(`mutation ($t: ID!, $c: ID!, $m: ID!, $l: ID!) {
				updateThing(input: {id: $t, description: "*uno*"}) { thing { id } } updateComment(input: {id: $c, body: "*quattro*"}) { comment { id } }
				updateMake(input: {id: $m, description: "*cinque*"}) { make { id } }
				updateCollection(input: {id: $l, description: "*sei*"}) { collection { id } } }`, servertest.Object{"t": thing, "c": saved.C.Comment.ID, "m": saved.M.Make.ID, "l": saved.L.Collection.ID}, new(any))
		})
		if n != 4 {
			t.Errorf("changing four texts rendered %d, want 4", n)
		}
		check("changed", "uno", "two", "three", "quattro", "cinque", "sei")
	})
}

// TestStaleHTML checks that texts whose HTML is of an earlier version are rendered on demand,
// within a limit, until RenderStale has stored the new HTML. The server is not started, because its
// job would interfere.
func TestStaleHTML(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			s, err := server.Open(ctx, servertest.Settings(t, engine), slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			user, err := s.Store.Admin().CreateUser(ctx, "ada", false)
			if err != nil {
				t.Fatal(err)
			}
			ada := auth.Caller{UserID: user.ID}
			thing, err := s.Store.CreateThing(ctx, ada, models.NewThing{Name: "Lamp", License: models.CC, Category: "art",
				Description: "*one*"})
			if err != nil {
				t.Fatal(err)
			}
			var ids []int64
			for i := range 24 {
				c, err := s.Store.Comments.CreateComment(ctx, ada,
					comments.NewComment{Target: &models.Target{Type: models.OnThing, ID: thing.ID}, Body: fmt.Sprintf("%02d *a* ", i) +
						strings.Repeat("word ", 13_000)})
				if err != nil {
					t.Fatal(err)
				}
				ids = append(ids, c.ID)
			}
			db, err := models.OpenDB(ctx, s.Settings.DatabaseURL)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = db.Close() })
			for _, statement := range []string{"UPDATE comments SET html_version = 0, body_html = ''",
				"UPDATE things SET html_version = 0, description_html = ''"} {
				if _, err := db.SQL().ExecContext(ctx, statement); err != nil {
					t.Fatal(err)
				}
			}
			before := s.Store.Renders()
			if _, err := s.Store.UpdateThing(ctx, ada,
				models.ThingChange{ID: thing.ID, Instructions: new("*two*")}); err != nil {
				t.Fatal(err)
			}
			if n := s.Store.Renders() - before; n != 1 {
				t.Errorf("changing one of two stale texts rendered %d, want 1", n)
			}
			read := func(wantRenders int64, wantPlain int) {
				t.Helper()
				before, ctx := s.Store.Renders(), models.WithReadLimits(ctx)
				shown, err := s.Store.Thing(ctx, ada, fieldset.Of[models.Thing]("ShownDescription", "ShownInstructions"), thing.ID)
				if err != nil {
					t.Fatal(err)
				}
				for text, want := range map[string]string{shown.ShownDescription: "one", shown.ShownInstructions: "two"} {
					html, err := s.Store.HTML(ctx, text, shown.Stale)
					if want = "<p><em>" + want + "</em></p>\n"; err != nil || html != want {
						t.Errorf("the HTML of %q is %q (%v), want %q", text, html, err, want)
					}
				}
				rows, err := models.ByIDs(ctx, s.Store.Store, ada, fieldset.Of[models.Comment]("ShownBody"), ids)
				var html []string
				for _, c := range rows {
					text, htmlErr := s.Store.HTML(ctx, c.ShownBody, c.Stale)
					html, err = append(html, text), errors.Join(err, htmlErr)
				}
				if err != nil || len(html) != len(ids) {
					t.Errorf("%d comments have HTML (%v), want %d", len(html), err, len(ids))
				}
				plain := 0
				for _, h := range html {
					if !strings.Contains(h, "<em>a</em>") {
						plain++
					}
				}
				if n := s.Store.Renders() - before; n != wantRenders || plain != wantPlain {
					t.Errorf("reading rendered %d texts and showed %d as they were written, want %d and %d", n, plain, wantRenders,
						wantPlain)
				}
			}
			// The limit of 1 MiB is enough for 16 comments of 65,007 bytes and the short texts of the thing.
			read(18, len(ids)-16)
			if updated, err := s.Store.Maintenance.RenderStale(ctx); err != nil || updated != len(ids)+1 {
				t.Errorf("%d rows were rendered again (%v), want %d", updated, err, len(ids)+1)
			}
			read(0, 0)
			if again, err := s.Store.Maintenance.RenderStale(ctx); again != 0 || err != nil {
				t.Errorf("%d rows were rendered once more (%v), want 0", again, err)
			}
		})
	}
}

// TestTextsReadAreBounded checks that the size of the texts that one operation reads is limited,
// however they are requested.
func TestTextsReadAreBounded(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		thing := ada.Thing("Lamp")
		body := strings.Repeat("- a\n", 16_000)
		ada.Query(`mutation ($id: ID!, $body: String!) { createComment(input: {target: {type: THING, id: $id}, body: $body}) { comment { id } } }`,
			servertest.Object{"id": thing, "body": body}, new(any))
		db := servertest.OpenDB(t, s).SQL()
		for range 99 {
			// The HTML has twice its length, because that of a comment is read once for all five lists.
			if _, err := db.Exec(`INSERT INTO comments (owner_id, target_type, target_id, thing_id, body, body_html, html_version, created_at, modified_at)
				SELECT owner_id, target_type, target_id, thing_id, body, body_html || body_html, html_version, created_at, modified_at FROM comments ORDER BY id LIMIT 1`); err != nil {
				t.Fatal(err)
			}
		}
		ask := func(field string) *servertest.Result {
			var aliases strings.Builder
			for i := range 5 {
				fmt.Fprintf(&aliases, "c%d: comments(first: %d) { nodes { %s } } ", i, 100-i, field)
			}
			return ada.GraphQL(`query ($id: ID!) { thing(id: $id) { `+aliases.String()+`} }`, servertest.Object{"id": thing})
		}
		for _, field := range []string{"body", "bodyHtml"} {
			// The error aborts the whole operation, so that no other fields are read in vain. It is not that
			// of a response that is too large, which would be found only after all texts were read.
			if r := ask(field); r.Code() != "TOO_LARGE" || string(r.Data) != "null" || !strings.Contains(r.Errors[0].Message,
				"reads more than 20 MiB of texts") {
				t.Errorf("%s of five times 100 long comments: errors %+v and data %.100s, want TOO_LARGE and null", field, r.Errors,
					r.Data)
			}
		}
		// Texts that the operation does not select are not read.
		if r := ask("id"); r.Code() != "" {
			t.Errorf("ids of five times 100 long comments: code %q", r.Code())
		}
		var got struct {
			Thing struct{ Comments struct{ Nodes []any } }
		}
		ada.Query(`query ($id: ID!) { thing(id: $id) { comments(first: 40) { nodes { bodyHtml } } } }`,
			servertest.Object{"id": thing}, &got)
		if n := len(got.Thing.Comments.Nodes); n != 40 {
			t.Errorf("%d comments, want 40", n)
		}
	})
}
