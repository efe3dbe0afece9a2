package things_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/test/servertest"
)

// lifecycleRounds is the number of random calls of each client of TestLifecycleTogether.
const lifecycleRounds = 60

// TestLifecycleTogether checks that owners, users and moderators can change the states of the same
// things at the same time, with everything that belongs to them: no call fails for a reason of the
// server, and counts, search documents, rows and objects match afterwards. A thing that was
// published always has a model.
func TestLifecycleTogether(t *testing.T) {
	servertest.Concurrent(t, func(t *testing.T, s *servertest.Server) {
		ada, bob, admin := s.User("ada"), s.User("bob"), s.Administrator()
		mod := moderator(t, s, admin, "mod")
		ada2 := s.Client(s.Token("ada", auth.Read, auth.Write))
		stl, png := servertest.Mesh(t, "hschendel_simple_bin.stl"), servertest.Mesh(t, "lib3mf_thumbnail.png")
		w := &lifecycle{t: t, things: make([]int64, 4)}
		create := func(c *servertest.Client) int64 {
			id := c.Thing("Thing")
			c.Finalize("thing", id, c.Upload("a.stl", stl)).Want(t, 200)
			c.Do("PATCH", fmt.Sprint("/things/", id), servertest.Object{"description": "Something.",
				"tags": []string{"one", "two"}})
			c.Publish(id)
			return id
		}
		for i := range w.things {
			w.things[i] = create(ada)
		}
		collection := newCollection(t, bob, "All")
		clients := []*servertest.Client{ada, ada2, bob, mod, admin, bob}
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		servertest.Together(len(clients), func(i int) bool {
			c, r := clients[i], rand.New(rand.NewPCG(seed, uint64(i)))
			owns, moderates := c == ada || c == ada2, c == mod || c == admin
			for range lifecycleRounds {
				id, other := w.any(r, &w.things), w.any(r, &w.things)
				switch n := r.IntN(12); {
				case owns && n == 0:
					w.mutate(c, `publishThing(input: {id: %d, state: %s}) { thing { id } }`, id,
						[]string{"PUBLISHED", "UNLISTED"}[r.IntN(2)])
				case owns && n == 1:
					w.mutate(c, `unpublishThing(input: {id: %d}) { thing { id } }`, id)
				case owns && n == 2:
					w.add(&w.files, c.Upload("b.stl", stl))
					w.mutate(c, `finalizeFiles(input: {files: [{id: %d}], target: {type: THING, id: %d}}) { files { id } }`,
						w.any(r, &w.files), id)
				case owns && n == 3:
					w.mutate(c, `updateThing(input: {id: %d, tags: ["%d", "two"], ancestorIds: [%d], category: "%s"}) { thing { id } }`, id, r.IntN(3), other, []string{"Art", "Tools"}[r.IntN(2)])
				case owns && n == 4:
					w.mutate(c, `deleteFile(input: {id: %d}) { deletedId }`, w.any(r, &w.files))
				case owns && n == 5 && r.IntN(3) == 0:
					w.mutate(c, `deleteThing(input: {id: %d}) { deletedId }`, id)
					w.replace(id, create(c))
				case owns && n == 6:
					w.created(c, &w.things,
						`createThing(input: {name: "Remix", license: CC, category: "Art", description: "x", ancestorIds: [%d, %d]}) { thing { id } }`, id, other)
				case owns:
					w.mutate(c, `publishThing(input: {id: %d, state: PUBLISHED}) { thing { id } }`, id)
				case moderates && n < 3:
					w.mutate(c, `takeDownThing(input: {id: %d, reason: "x"}) { thing { id } }`, id)
				case moderates && n < 7:
					w.mutate(c, `restoreThing(input: {id: %d, reason: "x"}) { thing { id } }`, id)
				case moderates && n == 7:
					w.mutate(c, `deleteFile(input: {id: %d, reason: "x"}) { deletedId }`, w.any(r, &w.files))
				case moderates && n == 8:
					w.mutate(c, `featureThing(input: {id: %d}) { thing { id } }`, id)
				case moderates && n == 9:
					w.mutate(c, `restoreMake(input: {id: %d}) { make { id } }`, w.any(r, &w.makes))
				case moderates && n == 10:
					c.Do("POST", fmt.Sprintf("/comments/%d/%s", w.any(r, &w.comments), []string{"spam", "restore"}[r.IntN(2)]), nil)
				case moderates && r.IntN(3) == 0:
					w.mutate(c, `deleteThing(input: {id: %d, reason: "x"}) { deletedId }`, id)
					w.replace(id, create(ada))
				case n == 0:
					w.created(c, &w.makes, `createMake(input: {thingId: %d}) { make { id } }`, id)
				case n == 1:
					w.created(c, &w.comments, `createComment(input: {target: {type: THING, id: %d}, body: "x"}) { comment { id } }`,
						id)
				case n == 2:
					w.created(c, &w.comments, `createComment(input: {target: {type: MAKE, id: %d}, body: "x"}) { comment { id } }`,
						w.any(r, &w.makes))
				case n == 3:
					w.created(c, &w.comments, `createComment(input: {parentId: %d, body: "x"}) { comment { id } }`,
						w.any(r, &w.comments))
				case n == 4:
					w.mutate(c, `likeThing(input: {id: %d}) { thing { id } }`, id)
				case n == 5:
					w.mutate(c, `unlikeThing(input: {id: %d}) { thing { id } }`, id)
				case n == 6:
					w.mutate(c, `moveThings(input: {collectionId: %d, thingIds: [%d]}) { collection { id } }`, collection, id)
				case n == 7:
					w.mutate(c, `deleteMake(input: {id: %d}) { deletedId }`, w.any(r, &w.makes))
				case n == 8:
					w.mutate(c, `finalizeFiles(input: {files: [{id: %d}], target: {type: MAKE, id: %d}}) { files { id } }`,
						c.Upload("c.png", png), w.any(r, &w.makes))
				case n == 9:
					w.mutate(c, `recordDownload(input: {fileId: %d}) { url }`, w.any(r, &w.files))
				case n == 10:
					w.mutate(c, `deleteComment(input: {id: %d}) { comment { id } }`, w.any(r, &w.comments))
				default:
					w.mutate(c, `watchThing(input: {id: %d}) { thing { id } }`, id)
				}
			}
			return true
		})
		s.Fold()
		if changed, err := s.Store.Maintenance.Recount(context.Background()); changed != 0 || err != nil {
			t.Errorf("a recount changed %d counts (%v), want 0", changed, err)
		}
		if _, err := s.Store.Maintenance.CollectGarbage(context.Background(), 0, false); err != nil {
			t.Error(err)
		}
		servertest.SoundCatalogue(t, s)
		var bare, odd int
		db := servertest.OpenDB(t, s).SQL()
		err := db.QueryRow(`SELECT count(*) FROM things AS t WHERE state <> 'draft' AND NOT EXISTS (SELECT 1 FROM files AS f WHERE f.target_type = 'thing' AND f.target_id = t.id AND f.state = 'finalized' AND f.kind = 'model')`).Scan(&bare)
		if err != nil || bare > 0 {
			t.Errorf("%d published things have no model (%v)", bare, err)
		}
		err = db.QueryRow(`SELECT count(*) FROM things WHERE (taken_down_at IS NULL) <> (hidden_state = '') OR taken_down_at IS NOT NULL AND state <> 'draft' OR featured_at IS NOT NULL AND state <> 'published' OR state = 'published' AND published_at IS NULL`).Scan(&odd)
		if err != nil || odd > 0 {
			t.Errorf("%d things have an impossible state (%v)", odd, err)
		}
	})
}

// lifecycle holds the IDs of the objects that clients of TestLifecycleTogether use.
type lifecycle struct {
	t                              *testing.T
	mu                             sync.Mutex
	things, files, makes, comments []int64
}

func (w *lifecycle) any(r *rand.Rand, of *[]int64) int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(*of) == 0 {
		return 1
	}
	recent := (*of)[max(0, len(*of)-8):]
	return recent[r.IntN(len(recent))]
}

func (w *lifecycle) add(to *[]int64, id int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	*to = append(*to, id)
}

func (w *lifecycle) replace(id, by int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, old := range w.things {
		if old == id {
			w.things[i] = by
		}
	}
}

// mutate runs a mutation, which may be refused because of what other clients have done.
func (w *lifecycle) mutate(c *servertest.Client, format string, args ...any) *servertest.Result {
	r := c.GraphQL("mutation { "+fmt.Sprintf(format, args...)+" }", nil)
	if !slices.Contains([]string{"", "NOT_FOUND", "FORBIDDEN", "BAD_USER_INPUT", "CONFLICT"}, r.Code()) {
		w.t.Errorf(format+": %+v", append(args, r.Errors)...)
	}
	return r
}

// created runs a mutation that creates an object, and remembers its ID.
func (w *lifecycle) created(c *servertest.Client, to *[]int64, format string, args ...any) {
	var of map[string]map[string]struct {
		ID int64 `json:",string"`
	}
	if r := w.mutate(c, format, args...); r.Code() == "" && json.Unmarshal(r.Data, &of) == nil {
		for _, payload := range of {
			for _, made := range payload {
				w.add(to, made.ID)
			}
		}
	}
}
