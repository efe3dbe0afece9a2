package server_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/cmd/meshyard/server/servertest"
)

// renders counts the texts that are rendered while f runs.
func renders(s *servertest.Server, f func()) int64 {
	before := s.Store.Renders()
	f()
	return s.Store.Renders() - before
}

// HTML is rendered when a text is saved, and never when it is read.
func TestHTMLIsStored(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		thing := ada.Thing("Lamp")
		var saved struct {
			C struct{ Comment struct{ ID string } }
			M struct{ Make struct{ ID string } }
		}
		const save = `mutation ($id: ID!) {
			updateThing(input: {id: $id, description: "*one*", instructions: "*two*"}) { thing { id } }
			updateProfile(input: {bio: "*three*"}) { user { id } }
			c: createComment(input: {target: {type: THING, id: $id}, body: "*four*"}) { comment { id } }
			m: createMake(input: {thingId: $id, description: "*five*"}) { make { id } } }`
		if n := renders(s, func() { ada.Query(save, object{"id": thing}, &saved) }); n != 5 {
			t.Errorf("saving five texts rendered %d, want 5", n)
		}
		const read = `query ($t: ID!, $c: ID!, $m: ID!) { thing(id: $t) { descriptionHtml instructionsHtml } me { bioHtml } comment(id: $c) { bodyHtml } make(id: $m) { descriptionHtml } }`
		check := func(when string, want ...string) {
			t.Helper()
			var got struct {
				Thing   struct{ DescriptionHTML, InstructionsHTML string }
				Me      struct{ BioHTML string }
				Comment struct{ BodyHTML string }
				Make    struct{ DescriptionHTML string }
			}
			n := renders(s, func() {
				ada.Query(read, object{"t": thing, "c": saved.C.Comment.ID, "m": saved.M.Make.ID}, &got)
			})
			if n != 0 {
				t.Errorf("%s: reading rendered %d texts, want 0", when, n)
			}
			all := []string{got.Thing.DescriptionHTML, got.Thing.InstructionsHTML, got.Me.BioHTML, got.Comment.BodyHTML, got.Make.DescriptionHTML}
			for i, html := range all {
				if want := "<p><em>" + want[i] + "</em></p>\n"; html != want {
					t.Errorf("%s: text %d is %q, want %q", when, i+1, html, want)
				}
			}
		}
		check("saved", "one", "two", "three", "four", "five")
		n := renders(s, func() {
			ada.Query(`mutation ($t: ID!, $c: ID!, $m: ID!) {
				updateThing(input: {id: $t, description: "*uno*"}) { thing { id } } updateComment(input: {id: $c, body: "*quattro*"}) { comment { id } }
				updateMake(input: {id: $m, description: "*cinque*"}) { make { id } } }`, object{"t": thing, "c": saved.C.Comment.ID, "m": saved.M.Make.ID}, new(any))
		})
		if n != 3 {
			t.Errorf("changing three texts rendered %d, want 3", n)
		}
		check("changed", "uno", "two", "three", "quattro", "cinque")
	})
}

// Texts without HTML of this version are rendered on demand, within a bound, until a job has stored it.
func TestStaleHTML(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		thing := ada.Thing("Lamp")
		const comments = 24
		text := strings.Repeat("*a*\n\n", 13_000)
		for i := range comments {
			ada.Query(`mutation ($id: ID!, $body: String!) { createComment(input: {target: {type: THING, id: $id}, body: $body}) { comment { id } } }`,
				object{"id": thing, "body": fmt.Sprint(i, text)}, new(any))
		}
		ada.Query(`mutation ($id: ID!) { updateThing(input: {id: $id, description: "*one*"}) { thing { id } } }`, object{"id": thing}, new(any))
		db := openDB(t, s).SQL()
		for _, statement := range []string{"UPDATE comments SET html_version = 0, body_html = ''", "UPDATE things SET html_version = 0, description_html = ''"} {
			if _, err := db.Exec(statement); err != nil {
				t.Fatal(err)
			}
		}
		if n := renders(s, func() {
			ada.Query(`mutation ($id: ID!) { updateThing(input: {id: $id, instructions: "*two*"}) { thing { id } } }`, object{"id": thing}, new(any))
		}); n != 1 {
			t.Errorf("changing one of two stale texts rendered %d, want 1", n)
		}
		read := func(wantRenders int64, wantPlain int) {
			t.Helper()
			var got struct {
				Thing struct {
					DescriptionHTML, InstructionsHTML string
					Comments                          struct{ Nodes []struct{ BodyHTML string } }
				}
			}
			n := renders(s, func() {
				ada.Query(`query ($id: ID!) { thing(id: $id) { descriptionHtml instructionsHtml comments(first: 100) { nodes { bodyHtml } } } }`, object{"id": thing}, &got)
			})
			if n != wantRenders {
				t.Errorf("reading rendered %d texts, want %d", n, wantRenders)
			}
			plain := 0
			for _, c := range got.Thing.Comments.Nodes {
				if !strings.Contains(c.BodyHTML, "<em>a</em>") {
					plain++
				}
			}
			if plain != wantPlain || len(got.Thing.Comments.Nodes) != comments {
				t.Errorf("%d of %d comments are shown as they were written, want %d of %d", plain, len(got.Thing.Comments.Nodes), wantPlain, comments)
			}
			if got.Thing.DescriptionHTML != "<p><em>one</em></p>\n" || got.Thing.InstructionsHTML != "<p><em>two</em></p>\n" {
				t.Errorf("the thing's texts are %q and %q", got.Thing.DescriptionHTML, got.Thing.InstructionsHTML)
			}
		}
		// 1 MiB holds 16 comments of 65,002 bytes; the thing's short texts are rendered with them.
		read(18, comments-16)
		updated, err := s.Store.RenderStale(context.Background())
		if err != nil || updated != comments+1 {
			t.Errorf("%d rows were rendered again (%v), want %d", updated, err, comments+1)
		}
		read(0, 0)
		if again, err := s.Store.RenderStale(context.Background()); again != 0 || err != nil {
			t.Errorf("%d rows were rendered once more (%v), want 0", again, err)
		}
	})
}

// One operation reads a bounded amount of texts, whatever they are asked for by.
func TestTextsReadAreBounded(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		thing := ada.Thing("Lamp")
		body := strings.Repeat("- a\n", 16_000)
		for range 100 {
			ada.Query(`mutation ($id: ID!, $body: String!) { createComment(input: {target: {type: THING, id: $id}, body: $body}) { comment { id } } }`,
				object{"id": thing, "body": body}, new(any))
		}
		for name, part := range map[string]string{"texts": "id", "HTML": "bodyHtml"} {
			var aliases strings.Builder
			for i := range 6 {
				fmt.Fprintf(&aliases, "c%d: comments(first: %d) { nodes { %s } } ", i, 100-i, part)
			}
			r := ada.GraphQL(`query ($id: ID!) { thing(id: $id) { `+aliases.String()+`} }`, object{"id": thing})
			if r.Code() != "TOO_LARGE" {
				t.Errorf("%s: six times 100 long comments: code %q, want TOO_LARGE", name, r.Code())
			}
		}
		var got struct {
			Thing struct{ Comments struct{ Nodes []any } }
		}
		ada.Query(`query ($id: ID!) { thing(id: $id) { comments(first: 50) { nodes { bodyHtml } } } }`, object{"id": thing}, &got)
		if n := len(got.Thing.Comments.Nodes); n != 50 {
			t.Errorf("%d comments, want 50", n)
		}
	})
}
