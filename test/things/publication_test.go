package things_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/test/servertest"
)

// TestPublicationStates moves a thing through all states. An unlisted thing and its files must be
// visible to users who have its key only, and must not be in any list or count. A takedown and a
// restore must keep the state.
func TestPublicationStates(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob, admin := s.User("ada"), s.User("bob"), s.Administrator()
		thing := ada.Thing("Vase")
		file := ada.Upload("a.stl", servertest.Mesh(t, "hschendel_simple_bin.stl"))
		ada.Finalize("thing", thing, file).Want(t, 200)
		id := servertest.Object{"id": servertest.ID(thing)}
		publish := func(state string) {
			t.Helper()
			var v struct {
				PublishThing struct{ Thing struct{ State string } }
			}
			ada.Query(`mutation ($id: ID!, $state: PublicationState!) { publishThing(input: {id: $id, state: $state}) { thing { state } } }`,
				servertest.Object{"id": id["id"], "state": state}, &v)
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
			if bytes := s.Client("").Get(fmt.Sprintf("%s/download:%d", s.URL, file)).StatusCode; bytes != status {
				t.Errorf("%s: got %d for the bytes of the file, want %d", what, bytes, status)
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
			if v.Things.TotalCount != want || v.Search.TotalCount != want || v.User.ThingCount != want ||
				v.User.Things.TotalCount != want || v.Category.ThingCount != want {
				t.Errorf("%s: it is counted %+v, want %d", what, v, want)
			}
			if changed, err := s.Store.Maintenance.Recount(context.Background()); changed != 0 || err != nil {
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
		check("unlisted", 404, false)
		if at := publishedAt(); at.Thing.PublishedAt != nil {
			t.Errorf("an unlisted thing: got publishedAt %s, want null", *at.Thing.PublishedAt)
		}
		with := servertest.Keyed(t, ada, bob, thing)
		with.Query(`mutation ($id: ID!) { likeThing(input: {id: $id}) { thing { id } } createMake(input: {thingId: $id}) { make { id } } }`, id, new(any))
		if r := admin.GraphQL(`mutation ($id: ID!) { featureThing(input: {id: $id}) { thing { id } } }`,
			id); r.Code() != "BAD_USER_INPUT" {
			t.Errorf("featuring an unlisted thing: got %+v, want BAD_USER_INPUT", r.Errors)
		}
		publish("PUBLISHED")
		check("published", 200, true)
		first = publishedAt()
		admin.Query(`mutation ($id: ID!) { featureThing(input: {id: $id}) { thing { id } } }`, id, new(any))
		publish("UNLISTED")
		check("unlisted again", 404, false)
		if at := publishedAt(); at.Thing.FeaturedAt != nil {
			t.Errorf("an unlisted thing: got featuredAt %s, want null", *at.Thing.FeaturedAt)
		}
		const takedown = `mutation ($id: ID!) { takeDownThing(input: {id: $id, reason: "A copy."}) { thing { state } } }`
		for range 2 { // the second time has the same effect
			admin.Query(takedown, id, new(any))
		}
		check("taken down", 404, false)
		admin.Query(`mutation ($id: ID!) { restoreThing(input: {id: $id, reason: "No copy."}) { thing { state } } }`, id,
			new(any))
		check("restored", 404, false)
		publish("PUBLISHED")
		if again := publishedAt(); *again.Thing.PublishedAt != *first.Thing.PublishedAt || again.Thing.FeaturedAt != nil {
			t.Errorf("published again: %+v, want the first time, %s, and not featured", again.Thing, *first.Thing.PublishedAt)
		}
		for range 2 {
			unpublish()
		}
		check("unpublished", 403, false)
		admin.Query(takedown, id, new(any))
		admin.Query(`mutation ($id: ID!) { restoreThing(input: {id: $id, reason: "No copy."}) { thing { state } } }`, id,
			new(any))
		check("a draft that was restored", 403, false)
		for what, r := range map[string]*servertest.Result{
			"as a draft": ada.GraphQL(`mutation ($id: ID!) { publishThing(input: {id: $id, state: DRAFT}) { thing { id } } }`,
				id),
			"by bob": bob.GraphQL(`mutation ($id: ID!) { unpublishThing(input: {id: $id}) { thing { id } } }`, id),
		} {
			if code := r.Code(); code != map[string]string{"as a draft": "BAD_USER_INPUT", "by bob": "FORBIDDEN"}[what] {
				t.Errorf("%s: %+v", what, r.Errors)
			}
		}
	})
}

// TestIDsOfHiddenThings checks that the IDs of the things that a user likes and collects include
// only published things.
func TestIDsOfHiddenThings(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob := s.User("ada"), s.User("bob")
		shown, hidden := servertest.PublishedThing(t, ada, "Shown"), servertest.PublishedThing(t, ada, "Hidden")
		collection := servertest.ReadObject(t, bob.Do("POST", "/collections", servertest.Object{"name": "Vases"}))
		for _, id := range []int64{shown, hidden} {
			bob.Do("POST", fmt.Sprintf("/things/%d/likes", id), nil).Want(t, 200)
			bob.Do("POST", fmt.Sprintf("/collections/%v/thing/%d", collection["id"], id), nil).Want(t, 200)
		}
		ids := func() string {
			t.Helper()
			var v struct {
				User struct{ LikedThingIDs, CollectedThingIDs []string }
			}
			bob.Query(`{ user(username: "bob") { likedThingIds collectedThingIds } }`, nil, &v)
			return fmt.Sprint(v.User.LikedThingIDs, v.User.CollectedThingIDs)
		}
		if got, want := ids(), fmt.Sprintf("[%d %d] [%d %d]", hidden, shown, shown, hidden); got != want {
			t.Errorf("of two published things: got %s, want %s", got, want)
		}
		ada.Query(`mutation ($id: ID!) { unpublishThing(input: {id: $id}) { thing { id } } }`,
			servertest.Object{"id": servertest.ID(hidden)}, new(any))
		if got, want := ids(), fmt.Sprintf("[%d] [%d]", shown, shown); got != want {
			t.Errorf("after one was unpublished: got %s, want %s", got, want)
		}
	})
}

// TestUpdateFile renames a file, changes its kind to an attachment and back, and sets its note.
func TestUpdateFile(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		thing, stl := ada.Thing("Vase"), servertest.Mesh(t, "hschendel_simple_bin.stl")
		model, other, image := ada.Upload("a.stl", stl), ada.Upload("b.stl", stl),
			ada.Upload("a.png", servertest.Mesh(t, "lib3mf_thumbnail.png"))
		ada.Finalize("thing", thing, model, other, image).Want(t, 200)
		ada.Publish(thing).Want(t, 200)
		update := func(id int64, fields string) *servertest.Result {
			t.Helper()
			return ada.GraphQL(fmt.Sprintf(
				`mutation { updateFile(input: {id: %d, %s}) { file { name kind rank note directUrl } } }`, id, fields), nil)
		}
		for _, c := range []struct {
			id            int64
			fields, wants string
		}{
			{model, `name: "Body.STL", note: "Print it first.", rank: 7`,
				`{"name":"Body.STL","kind":"MODEL","rank":7,"note":"Print it first."`},
			{model, `kind: ATTACHMENT`, `"kind":"ATTACHMENT","rank":7,"note":"Print it first.","directUrl":null`},
			{model, `note: null`, `"kind":"ATTACHMENT","rank":7,"note":""`},
			{other, `kind: ATTACHMENT`, "only model"},
			{model, `kind: MODEL`, `"kind":"MODEL"`},
			{model, `name: "body.obj"`, "must keep the extension"},
			{model, `name: ""`, "must not be blank"},
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
		servertest.Settled(t, ada, model)
		if ids := servertest.ImageIDs(t, ada, thing); len(ids) != 3 {
			t.Errorf("images %v, want those of all three files", ids)
		}
	}, servertest.Derives)
}

// TestPrintSettings checks that print settings are the same in both APIs, and that changing them
// does not change other details.
func TestPrintSettings(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		const fields = `id detailsParts printSettings { printer rafts supports resolution infill filamentBrand filamentColor filamentMaterial }`
		type settings struct {
			ID, DetailsParts string
			PrintSettings    map[string]any
		}
		var made struct{ CreateThing struct{ Thing settings } }
		ada.Query(`mutation { createThing(input: {name: "A", license: CC, category: "Art", printSettings: {rafts: NO, supports: EITHER, infill: "20%"}}) { thing { `+fields+` } } }`, nil, &made)
		thing := made.CreateThing.Thing
		if p := thing.PrintSettings; p["rafts"] != "NO" || p["supports"] != "EITHER" || p["infill"] != "20%" ||
			p["printer"] != nil {
			t.Errorf("the print settings are %v", p)
		}
		path := "/things/" + thing.ID
		parts := []any{servertest.Object{"type": "tips", "data": []any{servertest.Object{"content": "Slowly."}}},
			servertest.Object{"type": "settings", "name": "Print Settings",
				"data": []any{servertest.Object{"Printer": "Prusa", "Filament Brand": "Any", "infill": 0.25, "Notes": "Hot.",
					"rafts": "maybe"}}}}
		ada.Do("PATCH", path, servertest.Object{"details_parts": parts}).Want(t, 200)
		query := func() settings {
			t.Helper()
			var v struct{ Thing settings }
			ada.Query(`query ($id: ID!) { thing(id: $id) { `+fields+` } }`, servertest.Object{"id": thing.ID}, &v)
			return v.Thing
		}
		if p := query().PrintSettings; p["printer"] != "Prusa" || p["filamentBrand"] != "Any" || p["infill"] != "0.25" ||
			p["rafts"] != nil {
			t.Errorf("the print settings of the legacy client are %v", p)
		}
		change := func(to string) string {
			t.Helper()
			ada.Query(`mutation ($id: ID!) { updateThing(input: {id: $id, printSettings: `+to+`}) { thing { id } } }`,
				servertest.Object{"id": thing.ID}, new(any))
			return query().DetailsParts
		}
		const want = `[{"data":[{"content":"Slowly."}],"type":"tips"},{"data":[{"Notes":"Hot.","Printer":"Ender","supports":"Yes"}],"name":"Print Settings","type":"settings"}]`
		if got := change(`{printer: "Ender", supports: YES}`); got != want {
			t.Errorf("details after a change are %s, want %s", got, want)
		}
		if got := change("null"); got != `[{"data":[{"content":"Slowly."}],"type":"tips"}]` || query().PrintSettings != nil {
			t.Errorf("without print settings: got details %s, want the tips only", got)
		}
		if r := ada.GraphQL(
			`mutation ($id: ID!, $text: String!) { updateThing(input: {id: $id, printSettings: {printer: $text}}) { thing { id } } }`, servertest.Object{"id": thing.ID, "text": strings.Repeat("x", 201)}); r.Code() != "BAD_USER_INPUT" {
			t.Errorf("a printer of 201 characters: got %+v, want BAD_USER_INPUT", r.Errors)
		}
	})
}

// TestHiddenKindsOfThings checks that lists omit the kinds of things that the user has hidden, and
// only for that user.
func TestHiddenKindsOfThings(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob := s.User("ada"), s.User("bob")
		cyd := s.User("cyd")
		// The origin is unlisted, so that only its remixes are in lists.
		origin := servertest.PublishedThing(t, cyd, "Origin")
		cyd.Query(fmt.Sprintf(`mutation { publishThing(input: {id: %d, state: UNLISTED}) { thing { id } } }`, origin), nil,
			new(any))
		for name, fields := range map[string]string{"Plain": "", "Nude": "isNsfw: true", "Dream": "isAiGenerated: true"} {
			id := servertest.PublishedThing(t, ada, name)
			servertest.Keyed(t, cyd, ada, origin).
				Query(fmt.Sprintf(`mutation { updateThing(input: {id: %d, ancestorIds: [%d], tags: ["vase"], %s}) { thing { id } } }`, id, origin, fields), nil, new(any))
		}
		check := func(who string, c *servertest.Client, want int) {
			t.Helper()
			type count struct {
				TotalCount int
				Nodes      []any
			}
			var v struct {
				Things, Search, Filtered count
				Newest, RandomThings     []any
				Category, Tag, User      struct{ Things count }
				Me                       struct{ RecommendedThings count }
				Origin                   struct{ Remixes count }
			}
			servertest.Keyed(t, cyd, c, origin).Query(fmt.Sprintf(`{ origin: thing(id: %d) { remixes { totalCount nodes { id } } } randomThings(first: 100) { id } me { recommendedThings { totalCount nodes { id } } } things { totalCount nodes { id } } search { totalCount nodes { __typename } } filtered: things(filter: {creators: ["ada"]}) { totalCount nodes { id } } newest { id }
				category(slug: "tools") { things { totalCount nodes { id } } } tag(name: "vase") { things { totalCount nodes { id } } } user(username: "ada") { things { totalCount nodes { id } } } }`, origin), nil, &v)
			for what, list := range map[string]count{"remixes": v.Origin.Remixes, "things": v.Things, "search": v.Search,
				"filtered": v.Filtered, "newest": {len(v.Newest), v.Newest}, "category": v.Category.Things, "tag": v.Tag.Things,
				"user": v.User.Things} {
				if list.TotalCount != want || len(list.Nodes) != want {
					t.Errorf("%s, %s: %d things, totalCount %d, want %d", who, what, len(list.Nodes), list.TotalCount, want)
				}
			}
			if n := len(v.RandomThings); n > want {
				t.Errorf("%s: %d things at random, want at most %d", who, n, want)
			}
			// ada gets no recommendations of her own things.
			if n := v.Me.RecommendedThings.TotalCount; c != ada && n != want {
				t.Errorf("%s: %d things are recommended, want %d", who, n, want)
			}
		}
		check("bob", bob, 3)
		for _, step := range []struct {
			input string
			left  int
		}{{"isNsfwHidden: true", 2}, {"isAiGeneratedHidden: true", 1}, {"isNsfwHidden: false", 2}} {
			for _, c := range []*servertest.Client{bob, ada} {
				c.Query(`mutation { updateProfile(input: {`+step.input+`}) { user { isNsfwHidden } } }`, nil, new(any))
			}
			check("bob with "+step.input, bob, step.left)
			check("the creator with "+step.input, ada, 3)
		}
		check("another user", s.User("eve"), 3)
		var v struct {
			Me, User struct{ IsNsfwHidden, IsAiGeneratedHidden *bool }
		}
		bob.Query(`{ me { isNsfwHidden isAiGeneratedHidden } user(username: "ada") { isNsfwHidden isAiGeneratedHidden } }`,
			nil, &v)
		if v.Me.IsNsfwHidden == nil || *v.Me.IsNsfwHidden || !*v.Me.IsAiGeneratedHidden || v.User.IsNsfwHidden != nil {
			t.Errorf("preferences are %+v", v)
		}
	})
}

// TestViews checks that each viewer counts once a day in all APIs together, and that the creator
// never counts.
func TestViews(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob, eve := s.User("ada"), s.User("bob"), s.User("eve")
		thing := servertest.PublishedThing(t, ada, "Vase")
		id := servertest.Object{"id": servertest.ID(thing)}
		count := func() int {
			t.Helper()
			s.Fold()
			var v struct{ Thing struct{ ViewCount int } }
			ada.Query(`query ($id: ID!) { thing(id: $id) { viewCount } }`, id, &v)
			return v.Thing.ViewCount
		}
		for i, see := range []func(){
			func() { ada.Get(fmt.Sprint("/things/", thing)).Want(t, 200) },
			func() { bob.Get(fmt.Sprint("/things/", thing)).Want(t, 200) },
			func() { bob.Query(`query ($id: ID!) { thing(id: $id) { name } }`, id, new(any)) },
			func() { s.Client("").Get(fmt.Sprintf("%s/thing:%d", s.URL, thing)).Want(t, 200) },
			func() { bob.Query(`{ things { nodes { name } } }`, nil, new(any)) },
			func() { eve.Query(`query ($id: ID!) { thing(id: $id) { name } }`, id, new(any)) },
		} {
			see()
			see()
			if got, want := count(), []int{0, 1, 1, 2, 2, 3}[i]; got != want {
				t.Errorf("after step %d: %d views, want %d", i, got, want)
			}
		}
		db := servertest.OpenDB(t, s).SQL()
		var users, hashes int
		if err := db.QueryRow(
			"SELECT count(*) FILTER (WHERE length(viewer) < 5), count(*) FILTER (WHERE length(viewer) > 40) FROM views").
			Scan(&users, &hashes); err != nil || users != 2 || hashes != 1 {
			t.Errorf("%d users and %d hashes of networks (%v), want 2 and 1", users, hashes, err)
		}
		// On the next day viewers count again, and the rows of earlier days are deleted.
		if _, err := db.Exec("UPDATE views SET day = day - 2"); err != nil {
			t.Fatal(err)
		}
		bob.Get(fmt.Sprint("/things/", thing)).Want(t, 200)
		if got := count(); got != 4 {
			t.Errorf("%d views on the next day, want 4", got)
		}
		var rows int
		if err := db.QueryRow("SELECT count(*) FROM views").Scan(&rows); err != nil || rows != 1 {
			t.Errorf("%d rows of views (%v), want 1", rows, err)
		}
	})
}
