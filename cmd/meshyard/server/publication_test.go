package server_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/cmd/meshyard/server/servertest"
)

// TestPublicationStates moves a thing through all states. A user who has the id of an unlisted
// thing sees it with its files, and no list or count contains it; a takedown and a restore keep the
// state.
func TestPublicationStates(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob, staff := s.User("ada"), s.User("bob"), s.Staff()
		thing := ada.Thing("Vase")
		file := ada.Upload("a.stl", servertest.Mesh(t, "hschendel_simple_bin.stl"))
		ada.Finalize("thing", thing, file).Want(t, 200)
		id := object{"id": servertest.ID(thing)}
		publish := func(state string) {
			t.Helper()
			var v struct {
				PublishThing struct{ Thing struct{ State string } }
			}
			ada.Query(`mutation ($id: ID!, $state: PublicationState!) { publishThing(input: {id: $id, state: $state}) { thing { state } } }`,
				object{"id": id["id"], "state": state}, &v)
			if got := v.PublishThing.Thing.State; got != state {
				t.Errorf("the thing is %s, want %s", got, state)
			}
		}
		unpublish := func() {
			t.Helper()
			ada.Query(`mutation ($id: ID!) { unpublishThing(input: {id: $id}) { thing { state } } }`, id, new(any))
		}
		check := func(what string, status int, listed bool) {
			t.Helper()
			s.Fold()
			bob.Get(fmt.Sprint("/things/", thing)).Want(t, status)
			if bytes := s.Client("").Get(fmt.Sprintf("%s/download:%d", s.URL, file)).StatusCode; (bytes == 403) != (status == 403) {
				t.Errorf("%s: the bytes answer %d", what, bytes)
			}
			var v struct {
				Things, Search struct{ TotalCount int }
				User           struct {
					ThingCount int
					Things     struct{ TotalCount int }
				}
				Category struct{ ThingCount int }
			}
			bob.Query(`{ things { totalCount } search(query: "vase") { totalCount } user(username: "ada") { thingCount things { totalCount } } category(slug: "tools") { thingCount } }`, nil, &v)
			want := 0
			if listed {
				want = 1
			}
			if v.Things.TotalCount != want || v.Search.TotalCount != want || v.User.ThingCount != want || v.User.Things.TotalCount != want || v.Category.ThingCount != want {
				t.Errorf("%s: it is counted %+v, want %d", what, v, want)
			}
			if changed, err := s.Store.Recount(context.Background()); changed != 0 || err != nil {
				t.Errorf("%s: a recount changed %d counts (%v), want 0", what, changed, err)
			}
		}
		var first struct {
			Thing struct{ PublishedAt, FeaturedAt *string }
		}
		publishedAt := func() (at struct {
			Thing struct{ PublishedAt, FeaturedAt *string }
		}) {
			t.Helper()
			ada.Query(`query ($id: ID!) { thing(id: $id) { publishedAt featuredAt } }`, id, &at)
			return at
		}
		check("a draft", 403, false)
		publish("UNLISTED")
		check("unlisted", 200, false)
		if at := publishedAt(); at.Thing.PublishedAt != nil {
			t.Errorf("an unlisted thing was published at %s", *at.Thing.PublishedAt)
		}
		bob.Query(`mutation ($id: ID!) { likeThing(input: {id: $id}) { thing { id } } createMake(input: {thingId: $id}) { make { id } } }`, id, new(any))
		if r := staff.GraphQL(`mutation ($id: ID!) { featureThing(input: {id: $id}) { thing { id } } }`, id); r.Code() != "BAD_USER_INPUT" {
			t.Errorf("featuring an unlisted thing: %+v", r.Errors)
		}
		publish("PUBLISHED")
		check("published", 200, true)
		first = publishedAt()
		staff.Query(`mutation ($id: ID!) { featureThing(input: {id: $id}) { thing { id } } }`, id, new(any))
		publish("UNLISTED")
		check("unlisted again", 200, false)
		const takedown = `mutation ($id: ID!) { takeDownThing(input: {id: $id, reason: "A copy."}) { thing { state } } }`
		for range 2 { // the second time with the same effect
			staff.Query(takedown, id, new(any))
		}
		check("taken down", 403, false)
		staff.Query(`mutation ($id: ID!) { restoreThing(input: {id: $id, reason: "No copy."}) { thing { state } } }`, id, new(any))
		check("restored", 200, false)
		publish("PUBLISHED")
		if again := publishedAt(); *again.Thing.PublishedAt != *first.Thing.PublishedAt || again.Thing.FeaturedAt != nil {
			t.Errorf("published again: %+v, want the first time, %s, and not featured", again.Thing, *first.Thing.PublishedAt)
		}
		for range 2 {
			unpublish()
		}
		check("unpublished", 403, false)
		staff.Query(takedown, id, new(any))
		staff.Query(`mutation ($id: ID!) { restoreThing(input: {id: $id, reason: "No copy."}) { thing { state } } }`, id, new(any))
		check("a draft that was restored", 403, false)
		for what, r := range map[string]*servertest.Result{
			"as a draft": ada.GraphQL(`mutation ($id: ID!) { publishThing(input: {id: $id, state: DRAFT}) { thing { id } } }`, id),
			"by bob":     bob.GraphQL(`mutation ($id: ID!) { unpublishThing(input: {id: $id}) { thing { id } } }`, id),
		} {
			if code := r.Code(); code != map[string]string{"as a draft": "BAD_USER_INPUT", "by bob": "FORBIDDEN"}[what] {
				t.Errorf("%s: %+v", what, r.Errors)
			}
		}
	})
}

// TestUpdateFile renames a file, makes it an attachment and a model again, and notes something
// about it.
func TestUpdateFile(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		thing, stl := ada.Thing("Vase"), servertest.Mesh(t, "hschendel_simple_bin.stl")
		model, other, image := ada.Upload("a.stl", stl), ada.Upload("b.stl", stl), ada.Upload("a.png", servertest.Mesh(t, "lib3mf_thumbnail.png"))
		ada.Finalize("thing", thing, model, other, image).Want(t, 200)
		ada.Publish(thing).Want(t, 200)
		update := func(id int64, fields string) *servertest.Result {
			t.Helper()
			return ada.GraphQL(fmt.Sprintf(`mutation { updateFile(input: {id: %d, %s}) { file { name kind rank note directUrl } } }`, id, fields), nil)
		}
		for _, c := range []struct {
			id            int64
			fields, wants string
		}{
			{model, `name: "Body.STL", note: "Print it first.", rank: 7`, `{"name":"Body.STL","kind":"MODEL","rank":7,"note":"Print it first."`},
			{model, `kind: ATTACHMENT`, `"kind":"ATTACHMENT","rank":7,"note":"Print it first.","directUrl":null`},
			{model, `note: null`, `"kind":"ATTACHMENT","rank":7,"note":""`},
			{other, `kind: ATTACHMENT`, "only model"},
			{model, `kind: MODEL`, `"kind":"MODEL"`},
			{model, `name: "body.obj"`, "must keep the extension"},
			{model, `name: ""`, "must not be empty"},
			{model, `name: null`, "must not be null"},
			{model, `kind: IMAGE`, "follows from its bytes"},
			{image, `kind: MODEL`, "follows from its bytes"},
		} {
			r := update(c.id, c.fields)
			got := string(r.Data)
			for _, e := range r.Errors {
				got += e.Message
			}
			if !strings.Contains(got, c.wants) {
				t.Errorf("%s: got %s, want %s", c.fields, got, c.wants)
			}
		}
		settled(t, ada, model)
		if ids := imageIDs(t, ada, thing); len(ids) != 3 {
			t.Errorf("images %v, want those of all three files", ids)
		}
	}, derives)
}
