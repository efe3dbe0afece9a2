package search_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/test/servertest"
)

// town is a set of things of ada's, and of users who perform actions on them on different days.
type town struct {
	s           *servertest.Server
	db          *models.DB
	users       map[string]*servertest.Client
	things      []int64
	files       map[int64]int64
	collections map[string]string
	events      []event
	began       time.Time
}

// event is an action of a user on a thing.
type event struct {
	who   string
	what  string
	thing int64
	ago   int // in days
}

var weights = map[string]float64{"download": 1, "collect": 2, "like": 3, "make": 8}

func newTown(t *testing.T, s *servertest.Server, things int, users ...string) *town {
	t.Helper()
	w := &town{s: s, db: servertest.OpenDB(t, s), users: make(map[string]*servertest.Client), files: make(map[int64]int64),
		collections: make(map[string]string), began: time.Now().UTC()}
	for _, name := range append(users, "ada") {
		w.users[name] = s.User(name)
	}
	ada := w.users["ada"]
	for i := range things {
		thing, file := ada.Thing(fmt.Sprint("Thing ", i)), ada.Upload("a.stl", fmt.Append(nil, "solid ", i))
		ada.Finalize("thing", thing, file).Want(t, 200)
		ada.Publish(thing).Want(t, 200)
		w.things, w.files[thing] = append(w.things, thing), file
	}
	return w
}

// do performs an event through the public API, and then moves it into the past.
func (w *town) do(t *testing.T, e event) {
	t.Helper()
	c, id := w.users[e.who], servertest.ID(e.thing)
	table, column := "", "created_at"
	switch e.what {
	case "download":
		table = "downloads"
		c.Get(fmt.Sprintf("/files/%d/download", w.files[e.thing])).Want(t, 302)
	case "like":
		table = "likes"
		c.Query(`mutation ($id: ID!) { likeThing(input: {id: $id}) { thing { id } } }`, servertest.Object{"id": id}, new(any))
	case "collect": // each time in a new collection
		table = "collection_things"
		var made struct {
			CreateCollection struct{ Collection struct{ ID string } }
		}
		c.Query(`mutation { createCollection(input: {name: "Best"}) { collection { id } } }`, nil, &made)
		w.collections[e.who+id] = made.CreateCollection.Collection.ID
		c.Query(`mutation ($c: ID!, $id: ID!) { addToCollection(input: {collectionId: $c, thingId: $id}) { collection { id } } }`, servertest.Object{"c": w.collections[e.who+id], "id": id}, new(any))
	case "make":
		table, column = "makes", "published_at"
		c.Query(`mutation ($id: ID!) { createMake(input: {thingId: $id}) { make { id } } }`, servertest.Object{"id": id},
			new(any))
	}
	w.events = append(w.events, e)
	if e.ago == 0 {
		return
	}
	at := w.began.AddDate(0, 0, -e.ago).Format("2006-01-02 15:04:05.000000-07:00")
	done, err := w.db.SQL().Exec("UPDATE " + table + " SET " + column + " = '" + at +
		"' WHERE id = (SELECT max(id) FROM " + table + ")")
	if err != nil {
		t.Fatal(err)
	}
	if n, err := done.RowsAffected(); n != 1 || err != nil {
		t.Fatalf("%s: %d rows put into the past (%v)", table, n, err)
	}
}

// touch performs an action on all things and reverts it, and folds the counts. So events that were
// moved into the past are included in the popularity.
func (w *town) touch(t *testing.T, who string) {
	t.Helper()
	for _, thing := range w.things {
		w.users[who].Query(`mutation ($id: ID!) { likeThing(input: {id: $id}) { thing { id } } unlikeThing(input: {id: $id}) { thing { id } } }`,
			servertest.Object{"id": servertest.ID(thing)}, new(any))
	}
	w.s.Fold()
}

// popularityDay is one day of a thing's popularity in GraphQL.
type popularityDay struct {
	Day, Event    string
	Users, Weight int
	Points        float64
}

// expected computes the popularity by the documented formula. Each user counts once a day with the
// event of the highest weight, and the creator does not count. Weights are halved every 14 days.
// Only the 90 days up to the last event count.
func (w *town) expected(thing int64, at time.Time) (score float64, days []popularityDay) {
	type key struct{ day, who string }
	heaviest, last := make(map[key]string), ""
	for _, e := range w.events {
		if e.thing != thing {
			continue
		}
		k := key{w.began.AddDate(0, 0, -e.ago).Format(time.DateOnly), e.who}
		last = max(last, k.day)
		if e.who != "ada" && weights[e.what] > weights[heaviest[k]] {
			heaviest[k] = e.what
		}
	}
	end, _ := time.Parse(time.DateOnly, last)
	since := end.AddDate(0, 0, -90).Format(time.DateOnly)
	users := make(map[key]int) // number of users by day and event
	for k, what := range heaviest {
		if k.day >= since {
			users[key{k.day, what}]++
		}
	}
	for k, n := range users {
		day, _ := time.Parse(time.DateOnly, k.day)
		points := float64(n) * weights[k.who] * math.Exp2(-at.Sub(day).Hours()/24/14)
		score += points
		days = append(days, popularityDay{k.day, map[string]string{"download": "DOWNLOAD", "collect": "COLLECT",
			"like": "LIKE", "make": "MAKE"}[k.who], n, int(weights[k.who]), points})
	}
	slices.SortFunc(days, func(a, b popularityDay) int {
		return cmp.Or(-cmp.Compare(a.Day, b.Day), cmp.Compare(b.Weight, a.Weight))
	})
	return score, days
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-4*max(math.Abs(a), math.Abs(b)) }

// explained compares the field popularity of each thing with the formula.
func (w *town) explained(t *testing.T, admin *servertest.Client) {
	t.Helper()
	for _, thing := range w.things {
		var got struct {
			Thing struct {
				Popularity struct {
					Score float64
					Days  []popularityDay
				}
			}
		}
		admin.Query(`query ($id: ID!) { thing(id: $id) { popularity { score days { day event users weight points } } } }`,
			servertest.Object{"id": servertest.ID(thing)}, &got)
		score, days := w.expected(thing, time.Now())
		if p := got.Thing.Popularity; !near(p.Score, score) || !slices.EqualFunc(p.Days, days, func(a, b popularityDay) bool {
			return near(a.Points, b.Points) && a.Day == b.Day && a.Event == b.Event && a.Users == b.Users && a.Weight == b.Weight
		}) {
			t.Errorf("thing %d: popularity\n%+v, want\n%v %+v", thing, p, score, days)
		}
	}
}

// popular returns the IDs of all things sorted by popularity, and checks that both APIs return the
// same order.
func (w *town) popular(t *testing.T) []int64 {
	t.Helper()
	var byREST []struct{ ID int64 }
	w.users["ada"].Get("/popular?per_page=100").Want(t, 200, &byREST)
	ids := make([]int64, len(byREST))
	for i, thing := range byREST {
		ids[i] = thing.ID
	}
	for _, field := range []string{"things(sort: POPULAR, first: 100) { nodes { id } }",
		"search(sort: POPULAR, first: 100) { nodes { ... on Thing { id } } }",
		"search(first: 100) { nodes { ... on Thing { id } } }"} {
		var byGraphQL struct {
			List struct{ Nodes []struct{ ID json.Number } }
		}
		w.users["ada"].Query("{ list: "+field+" }", nil, &byGraphQL)
		if got, want := fmt.Sprint(byGraphQL.List.Nodes), fmt.Sprint(byREST); got != want {
			t.Errorf("%s: %s, and /popular %s", field, got, want)
		}
	}
	return ids
}

// kept returns the stored popularity of all things, by ID.
func (w *town) kept(t *testing.T) string {
	t.Helper()
	rows, err := w.db.SQL().Query("SELECT id, popularity FROM things ORDER BY id")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	kept := ""
	for rows.Next() {
		var id, n int64
		if err := rows.Scan(&id, &n); err != nil {
			t.Fatal(err)
		}
		kept += fmt.Sprintf("%d: %d, ", id, n)
	}
	return kept
}

// TestPopularityFormula checks the formula with one thing for each rule.
func TestPopularityFormula(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		w := newTown(t, s, 9, "bob", "cyd", "dan", "eve", "fay")
		admin := s.Administrator()
		for thing, events := range [][]event{
			{{"bob", "like", 0, 0}, {"cyd", "like", 0, 0}}, // score 6
			// Score 3: only the highest weight of a user and a day counts.
			{{"bob", "download", 0, 0}, {"bob", "download", 0, 0}, {"bob", "like", 0, 0}, {"bob", "collect", 0, 0},
				{"bob", "download", 0, 0}},
			{{"bob", "make", 0, 14}}, // score 4: half the weight
			// Score 5: a quarter of 16, and half of 2.
			{{"bob", "make", 0, 28}, {"cyd", "make", 0, 28}, {"cyd", "download", 0, 28}, {"dan", "collect", 0, 14}},
			// Score 2: the creator does not count.
			{{"ada", "make", 0, 0}, {"ada", "download", 0, 0}, {"ada", "collect", 0, 0}, {"bob", "collect", 0, 0}},
			// A user counts again on each day.
			{{"bob", "download", 0, 0}, {"bob", "download", 0, 1}, {"bob", "download", 0, 2}},
			// Only 90 days up to the last event count.
			{{"bob", "make", 0, 3}, {"cyd", "make", 0, 93}, {"dan", "make", 0, 94}},
			{{"ada", "download", 0, 0}}, // score 0
			// Events of long ago give a lower score than all others, but not 0.
			{{"bob", "make", 0, 200}, {"bob", "collect", 0, 200}, {"cyd", "collect", 0, 210}, {"dan", "download", 0, 200},
				{"eve", "like", 0, 289}},
		} {
			for _, e := range events {
				e.thing = w.things[thing]
				w.do(t, e)
			}
		}
		w.touch(t, "fay")
		w.explained(t, admin)
		want := slices.Clone(w.things)
		slices.SortFunc(want, func(a, b int64) int {
			x, _ := w.expected(a, w.began)
			y, _ := w.expected(b, w.began)
			return cmp.Compare(y, x)
		})
		if got := w.popular(t); !slices.Equal(got, want) {
			t.Errorf("by popularity: %v, want %v", got, want)
		}
		if score, _ := w.expected(w.things[0], w.began.Truncate(24*time.Hour)); !near(score, 6) {
			t.Errorf("two likes of today: %v, want 6", score)
		}
		if score, _ := w.expected(w.things[3], w.began.Truncate(24*time.Hour)); !near(score, 5) {
			t.Errorf("two makes of 28 days ago and a place in a collection of 14: %v, want 5", score)
		}
	})
}

// TestPopularityFollowsEvents checks that each kind of event changes the position of a thing in the
// list after the next fold, and that undoing it restores the position.
func TestPopularityFollowsEvents(t *testing.T) {
	servertest.Concurrent(t, func(t *testing.T, s *servertest.Server) {
		w := newTown(t, s, 5, "bob", "cyd")
		none, download, collect, like, made := w.things[0], w.things[1], w.things[2], w.things[3], w.things[4]
		order := func(when string, want ...int64) {
			t.Helper()
			s.Fold()
			if got := w.popular(t); !slices.Equal(got, want) {
				t.Errorf("%s: %v, want %v", when, got, want)
			}
			kept := w.kept(t)
			if _, err := s.Store.Maintenance.Recount(context.Background()); err != nil {
				t.Fatal(err)
			}
			if again := w.kept(t); again != kept {
				t.Errorf("%s: stored %s, recomputed %s", when, kept, again)
			}
		}
		order("at first, by id", made, like, collect, download, none)
		for i, e := range []event{{"bob", "make", made, 0}, {"bob", "like", like, 0}, {"bob", "collect", collect, 0},
			{"bob", "download", download, 0}} {
			w.do(t, e)
			s.Fold()
			if got := w.popular(t); got[i] != e.thing {
				t.Errorf("after a %s: %v, want %d at place %d", e.what, got, e.thing, i)
			}
		}
		order("by weight", made, like, collect, download, none)
		w.do(t, event{"cyd", "collect", download, 0})
		w.do(t, event{"cyd", "download", none, 0})
		order("collected", made, like, download, collect, none)
		w.do(t, event{"cyd", "like", collect, 0})
		order("liked", made, collect, like, download, none)

		bob := w.users["bob"]
		bob.Query(`mutation ($id: ID!) { unlikeThing(input: {id: $id}) { thing { id } } }`,
			servertest.Object{"id": servertest.ID(like)}, new(any))
		order("no more liked", made, collect, download, none, like)
		bob.Query(`mutation { deleteMake(input: {id: 1}) { deletedId } }`, nil, new(any))
		order("no more made", collect, download, none, made, like)
		bob.Query(`mutation ($c: ID!, $id: ID!) { removeFromCollection(input: {collectionId: $c, thingId: $id}) { collection { id } } }`,
			servertest.Object{"c": w.collections["bob"+servertest.ID(collect)], "id": servertest.ID(collect)}, new(any))
		w.do(t, event{"bob", "download", collect, 0})
		w.do(t, event{"bob", "make", download, 0})
		order("taken out, and made again", download, collect, none, made, like)
		w.users["cyd"].Query(`mutation ($id: ID!) { unlikeThing(input: {id: $id}) { thing { id } } }`,
			servertest.Object{"id": servertest.ID(collect)}, new(any))
		w.users["cyd"].Query(`mutation ($c: ID!) { deleteCollection(input: {id: $c}) { deletedId } }`,
			servertest.Object{"c": w.collections["cyd"+servertest.ID(download)]}, new(any))
		order("with a collection gone", download, collect, none, made, like)
		w.do(t, event{"bob", "collect", none, 0})
		order("and collected again", download, none, collect, made, like)
	})
}

// TestPopularityRandomly checks for random events that incremental updates, a complete recount, and
// the formula give the same popularity.
func TestPopularityRandomly(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		users := []string{"bob", "cyd", "dan", "eve"}
		w := newTown(t, s, 8, users...)
		r := rand.New(rand.NewPCG(7, 7))
		liked := make(map[event]bool)
		for range 120 {
			// Two of the eight things have no events.
			e := event{append(users, "ada")[r.IntN(5)], []string{"download", "download", "collect", "like", "make"}[r.IntN(5)],
				w.things[r.IntN(6)], r.IntN(130)}
			once := event{e.who, e.what, e.thing, 0}
			if e.what == "like" && (e.who == "ada" || liked[once]) {
				continue
			}
			liked[once] = true
			w.do(t, e)
			if r.IntN(4) == 0 {
				s.Fold()
			}
		}
		w.touch(t, "bob") // this also removes the likes of bob
		w.events = slices.DeleteFunc(w.events, func(e event) bool { return e.who == "bob" && e.what == "like" })
		w.explained(t, s.Administrator())

		want := slices.Clone(w.things)
		slices.SortFunc(want, func(a, b int64) int {
			x, _ := w.expected(a, w.began)
			y, _ := w.expected(b, w.began)
			return cmp.Or(cmp.Compare(y, x), cmp.Compare(b, a))
		})
		kept := w.kept(t)
		if got := w.popular(t); !slices.Equal(got, want) {
			t.Errorf("folded: %v, want %v: %s", got, want, kept)
		}
		servertest.SoundCounts(t, s)
		if again := w.kept(t); again != kept {
			t.Errorf("folded: stored %s, recomputed %s", kept, again)
		}
		if got := w.popular(t); !slices.Equal(got, want) {
			t.Errorf("recomputed: %v, want %v", got, want)
		}
	})
}

// TestPopularityIsForModerators checks that only moderators, with a token that has the admin scope,
// can read the field popularity.
func TestPopularityIsForModerators(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		w, admin := servertest.NewWorld(t, s), s.Administrator()
		for name, test := range map[string]struct {
			who  *servertest.Client
			code string
		}{
			"a moderator":               {admin, ""},
			"a moderator without admin": {s.Client(s.Token("staff", auth.Read, auth.Write)), "FORBIDDEN"},
			"the creator":               {w.Ada, "FORBIDDEN"},
			"another":                   {w.Bob, "FORBIDDEN"},
			"nobody":                    {w.Nobody, "UNAUTHENTICATED"},
		} {
			for _, document := range []string{fmt.Sprintf(`{ thing(id: %d) { popularity { score } } }`, w.Thing),
				`{ things { nodes { popularity { days { users } } } } }`} {
				if r := test.who.GraphQL(document, nil); r.Code() != test.code {
					t.Errorf("%s queries %s: %q %s, want %q", name, document, r.Code(), r.Data, test.code)
				}
			}
		}
	})
}
