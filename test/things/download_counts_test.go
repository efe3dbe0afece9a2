package things_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/meshyard/meshyard/test/servertest"
)

// pool contains the IDs of objects of one type that clients have seen, including deleted ones.
type pool struct {
	mu     sync.Mutex
	ids    []string
	owners map[string]int
}

func (p *pool) add(id string, owner int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ids = append(p.ids, id)
	if p.owners == nil {
		p.owners = make(map[string]int)
	}
	p.owners[id] = owner
}

// owner returns the owner of an object, or otherwise if it is unknown.
func (p *pool) owner(id any, otherwise int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if who, ok := p.owners[fmt.Sprint(id)]; ok {
		return who
	}
	return otherwise
}

// one returns a random id, preferring recent ones, or "999999" if there is none.
func (p *pool) one(r *rand.Rand) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.ids) == 0 {
		return "999999"
	}
	return p.ids[max(r.IntN(len(p.ids)), r.IntN(len(p.ids)))]
}

func (p *pool) all() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.ids)
}

// crowd is a group of users who perform random mutations.
type crowd struct {
	users                                       []*servertest.Client
	names                                       []string
	things, files, makes, comments, collections pool
	deeds                                       []deed
	// The number of successful calls of each deed: *atomic.Int64.
	done sync.Map
}

// deed is a mutation. vars returns the variables of its document. The newId in its response is
// added to the pool made. If only the owner of an object may perform it, own is the pool of such
// objects, and the owner usually performs it.
type deed struct {
	name, document string
	vars           func(r *rand.Rand, who int) servertest.Object
	made, own      *pool
}

func newCrowd(t *testing.T, s *servertest.Server) *crowd {
	t.Helper()
	c := &crowd{names: []string{"ada", "bob", "cyd", "dan"}}
	for u, name := range c.names {
		c.users = append(c.users, s.User(name))
		for i := range 9 {
			thing, file := c.users[u].Thing(fmt.Sprint(name, i)), c.users[u].Upload("a.stl", fmt.Append(nil, "solid ", name, i))
			c.users[u].Finalize("thing", thing, file).Want(t, 200)
			if i%3 != 0 {
				c.users[u].Publish(thing).Want(t, 200)
			}
			c.things.add(servertest.ID(thing), u)
			c.files.add(servertest.ID(file), u)
		}
		for range 3 {
			var made struct {
				CreateCollection struct{ Collection struct{ ID string } }
			}
			c.users[u].Query(`mutation { createCollection(input: {name: "Best"}) { collection { id } } }`, nil, &made)
			c.collections.add(made.CreateCollection.Collection.ID, u)
		}
	}
	thing := func(r *rand.Rand) servertest.Object { return servertest.Object{"type": "THING", "id": c.things.one(r)} }
	either := func(r *rand.Rand) servertest.Object {
		if r.IntN(3) == 0 {
			return servertest.Object{"type": "MAKE", "id": c.makes.one(r)}
		}
		return thing(r)
	}
	of := func(name string, value func(r *rand.Rand) any) func(*rand.Rand, int) servertest.Object {
		return func(r *rand.Rand, _ int) servertest.Object { return servertest.Object{name: value(r)} }
	}
	some := func(r *rand.Rand, from []string) []string {
		picked := []string{}
		for range 1 + r.IntN(3) {
			picked = append(picked, from[r.IntN(len(from))])
		}
		return picked
	}
	pair := func(r *rand.Rand, _ int) servertest.Object {
		return servertest.Object{"collection": c.collections.one(r), "thing": c.things.one(r)}
	}
	other := func(r *rand.Rand, who int) servertest.Object {
		return servertest.Object{"name": c.names[(who+1+r.IntN(len(c.names)-1))%len(c.names)]}
	}
	const update = `mutation ($id: ID!, $tags: [String!], $category: String, $ancestors: [ID!]) { updateThing(input: {id: $id, tags: $tags, category: $category, ancestorIds: $ancestors}) { thing { id } } }`
	change := func(name string, value func(r *rand.Rand) any) func(*rand.Rand, int) servertest.Object {
		return func(r *rand.Rand, _ int) servertest.Object {
			return servertest.Object{"id": c.things.one(r), name: value(r)}
		}
	}
	tags := []string{"Wall Mount", "wall_mount", "WALL  MOUNT", "Gear", "gear", "Box", "École", "école"}
	c.deeds = []deed{
		{"like", `mutation ($id: ID!) { likeThing(input: {id: $id}) { thing { id } } }`,
			of("id", func(r *rand.Rand) any { return c.things.one(r) }), nil, nil},
		{"unlike", `mutation ($id: ID!) { unlikeThing(input: {id: $id}) { thing { id } } }`,
			of("id", func(r *rand.Rand) any { return c.things.one(r) }), nil, nil},
		{"like make", `mutation ($id: ID!) { likeMake(input: {id: $id}) { make { id } } }`,
			of("id", func(r *rand.Rand) any { return c.makes.one(r) }), nil, nil},
		{"unlike make", `mutation ($id: ID!) { unlikeMake(input: {id: $id}) { make { id } } }`,
			of("id", func(r *rand.Rand) any { return c.makes.one(r) }), nil, nil},
		{"comment", `mutation ($t: TargetInput!) { createComment(input: {target: $t, body: "Nice."}) { comment { newId: id } } }`, of("t", func(r *rand.Rand) any { return either(r) }), &c.comments, nil},
		{"reply", `mutation ($id: ID!) { createComment(input: {parentId: $id, body: "So it is."}) { comment { newId: id } } }`, of("id", func(r *rand.Rand) any { return c.comments.one(r) }), &c.comments, nil},
		{"delete comment", `mutation ($id: ID!) { deleteComment(input: {id: $id}) { comment { id } } }`,
			of("id", func(r *rand.Rand) any { return c.comments.one(r) }), nil, &c.comments},
		{"make", `mutation ($id: ID!) { createMake(input: {thingId: $id}) { make { newId: id } } }`,
			of("id", func(r *rand.Rand) any { return c.things.one(r) }), &c.makes, nil},
		{"delete make", `mutation ($id: ID!) { deleteMake(input: {id: $id}) { deletedId } }`,
			of("id", func(r *rand.Rand) any { return c.makes.one(r) }), nil, &c.makes},
		{"new collection", `mutation ($n: String!) { createCollection(input: {name: $n}) { collection { newId: id } } }`,
			of("n", func(*rand.Rand) any { return "Shelf" }), &c.collections, nil},
		{"collect", `mutation ($collection: ID!, $thing: ID!) { addToCollection(input: {collectionId: $collection, thingId: $thing}) { collection { id } } }`, pair, nil, &c.collections},
		{"collect more", `mutation ($collection: ID!, $thing: ID!) { addToCollection(input: {collectionId: $collection, thingId: $thing}) { collection { id } } }`, pair, nil, &c.collections},
		{"uncollect", `mutation ($collection: ID!, $thing: ID!) { removeFromCollection(input: {collectionId: $collection, thingId: $thing}) { collection { id } } }`, pair, nil, &c.collections},
		{"delete collection", `mutation ($id: ID!) { deleteCollection(input: {id: $id}) { deletedId } }`,
			of("id", func(r *rand.Rand) any { return c.collections.one(r) }), nil, nil},
		{"follow", `mutation ($name: String!) { followUser(input: {username: $name}) { user { id } } }`, other, nil, nil},
		{"unfollow", `mutation ($name: String!) { unfollowUser(input: {username: $name}) { user { id } } }`, other, nil, nil},
		{"publish", `mutation ($id: ID!) { publishThing(input: {id: $id}) { thing { id } } }`,
			of("id", func(r *rand.Rand) any { return c.things.one(r) }), nil, &c.things},
		{"retag", update, change("tags", func(r *rand.Rand) any { return some(r, tags)[r.IntN(2):] }), nil, &c.things},
		{"move", update, change("category", func(r *rand.Rand) any {
			return []string{"art", "coins-and-badges", "math-art",
				"tools"}[r.IntN(4)]
		}), nil, &c.things},
		{"set ancestors", update, change("ancestors", func(r *rand.Rand) any { return some(r, c.things.all())[:r.IntN(2)] }),
			nil, &c.things},
		{"download", `mutation ($id: ID!) { recordDownload(input: {fileId: $id}) { url } }`,
			of("id", func(r *rand.Rand) any { return c.files.one(r) }), nil, nil},
		{"delete file", `mutation ($id: ID!) { deleteFile(input: {id: $id, allowNoModel: true}) { deletedId } }`,
			of("id", func(r *rand.Rand) any { return c.files.one(r) }), nil, &c.files},
		{"delete thing", `mutation ($id: ID!) { deleteThing(input: {id: $id}) { deletedId } }`,
			of("id", func(r *rand.Rand) any { return c.things.one(r) }), nil, &c.things},
	}
	for _, d := range c.deeds {
		c.done.Store(d.name, new(atomic.Int64))
	}
	return c
}

// act performs n deeds in each of eight goroutines, each with its own seed. None may cause an
// internal error.
func (c *crowd) act(t *testing.T, seed uint64, n int) {
	t.Helper()
	servertest.Together(8, func(i int) int {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		for range n {
			who, d := r.IntN(len(c.users)), c.deeds[r.IntN(len(c.deeds))]
			if d.name == "delete thing" && r.IntN(8) > 0 {
				// Delete fewer things, so that enough objects remain.
				d = c.deeds[slices.IndexFunc(c.deeds, func(d deed) bool { return d.name == "set ancestors" })]
			}
			vars := d.vars(r, who)
			if d.own != nil && r.IntN(4) > 0 {
				id := vars["id"]
				if id == nil {
					id = vars["collection"]
				}
				who = d.own.owner(id, who)
			}
			result := c.users[who].GraphQL(d.document, vars)
			if _, known := servertest.CodeStatus[result.Code()]; !known {
				t.Errorf("%s %v by %s: %+v", d.name, vars, c.names[who], result.Errors)
			}
			if result.Code() != "" {
				continue
			}
			times, _ := c.done.Load(d.name)
			times.(*atomic.Int64).Add(1)
			if id := servertest.NewID.FindSubmatch(result.Data); id != nil && d.made != nil {
				d.made.add(string(id[1]), who)
			}
		}
		return 0
	})
}

// counts queries every count, by its name, such as "thing 3 likeCount".
func (c *crowd) counts(admin *servertest.Client) map[string]int64 {
	counts := make(map[string]int64)
	look := func(field, argument string, ids []string, fields string) {
		for some := range slices.Chunk(ids, 25) {
			document := "{"
			for i, id := range some {
				document += fmt.Sprintf(" a%d: %s(%s: %q) { %s }", i, field, argument, id, fields)
			}
			var found map[string]map[string]any
			if err := json.Unmarshal(admin.GraphQL(document+" }", nil).Data, &found); err != nil {
				panic(fmt.Sprint(document, ": ", err))
			}
			for i, id := range some {
				for name, n := range found[fmt.Sprint("a", i)] {
					if list, ok := n.(map[string]any); ok { // a list with a total count
						n = list["totalCount"]
					}
					counts[field+" "+id+" "+name] = int64(n.(float64))
				}
			}
		}
	}
	look("thing", "id", c.things.all(),
		"likeCount likers { totalCount } collectCount makeCount makes { totalCount } commentCount rootCommentCount remixCount remixes { totalCount } downloadCount fileCount")
	look("make", "id", c.makes.all(), "likeCount likers { totalCount } commentCount rootCommentCount")
	look("comment", "id", c.comments.all(), "replyCount replies { totalCount }")
	look("collection", "id", c.collections.all(), "thingCount")
	look("file", "id", c.files.all(), "downloadCount")
	look("user", "username", c.names,
		"thingCount things { totalCount } makeCount likeCount likedThings { totalCount } collectionCount collections { totalCount } followerCount followers { totalCount } followingCount following { totalCount }")
	look("tag", "name", []string{"wall_mount", "gear", "box", "école"}, "thingCount things { totalCount }")
	look("category", "slug", []string{"art", "coins-and-badges", "math-art", "tools"}, "thingCount things { totalCount }")
	return counts
}

// listsOf maps a count to the list in the schema that has the same length.
var listsOf = map[string]string{
	"thing likeCount": "likers", "thing makeCount": "makes", "thing remixCount": "remixes", "make likeCount": "likers",
	"comment replyCount": "replies",
	"user thingCount":    "things", "user likeCount": "likedThings", "user collectionCount": "collections",
	"user followerCount": "followers", "user followingCount": "following",
	"tag thingCount": "things", "category thingCount": "things",
}

// check checks that counts equal the lengths of their lists, and the download log.
func (c *crowd) check(t *testing.T, s *servertest.Server, when string, counts map[string]int64) {
	t.Helper()
	logged := make(map[string]int64)
	for field, column := range map[string]string{"thing": "thing_id", "file": "file_id"} {
		rows, err := servertest.OpenDB(t, s).SQL().Query("SELECT " + column + ", count(*) FROM downloads WHERE " + column +
			" IS NOT NULL GROUP BY " + column)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var id, n int64
			if err := rows.Scan(&id, &n); err != nil {
				t.Fatal(err)
			}
			logged[fmt.Sprint(field, " ", id, " downloadCount")] = n
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	}
	compared := 0
	for _, key := range slices.Sorted(maps.Keys(counts)) {
		at := strings.Fields(key)
		want, ok := counts[at[0]+" "+at[1]+" "+listsOf[at[0]+" "+at[2]]]
		if at[2] == "downloadCount" {
			want, ok = logged[key], true
		}
		if !ok {
			continue
		}
		compared++
		if counts[key] != want {
			t.Errorf("%s: %s is %d, want %d", when, key, counts[key], want)
		}
	}
	if compared < 100 {
		t.Errorf("%s: only %d counts were compared", when, compared)
	}
}

// differ reports the counts that are not equal.
func differ(t *testing.T, when string, got, want map[string]int64) {
	t.Helper()
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if n, ok := got[key]; !ok || n != want[key] {
			t.Errorf("%s: %s is %d, want %d", when, key, n, want[key])
		}
	}
	if len(got) != len(want) {
		t.Errorf("%s: %d counts, want %d", when, len(got), len(want))
	}
}

// TestCountsNeitherLoseNorDouble checks that each count equals the number of rows, folded or not,
// after many concurrent mutations.
func TestCountsNeitherLoseNorDouble(t *testing.T) {
	servertest.Concurrent(t, func(t *testing.T, s *servertest.Server) {
		c, admin := newCrowd(t, s), s.Administrator()
		stop, folded := make(chan struct{}), sync.WaitGroup{}
		folded.Go(func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(10 * time.Millisecond):
					s.Fold()
				}
			}
		})
		c.act(t, 1, 160)
		close(stop)
		folded.Wait()
		c.act(t, 2, 30) // these changes are not folded yet
		for _, d := range c.deeds {
			if times, _ := c.done.Load(d.name); times.(*atomic.Int64).Load() < 5 {
				t.Errorf("%s was done %d times: the test tests little", d.name, times.(*atomic.Int64).Load())
			}
		}

		before := c.counts(admin)
		c.check(t, s, "before the last fold", before)
		s.Fold()
		differ(t, "after the last fold", c.counts(admin), before)
		servertest.SoundCounts(t, s)
		differ(t, "after a recount", c.counts(admin), before)
		soundRows(t, s)
	})
}

// soundRows checks that no row refers to a deleted object.
func soundRows(t *testing.T, s *servertest.Server) {
	t.Helper()
	db := servertest.OpenDB(t, s)
	for what, where := range map[string]string{
		"likes of a missing thing":                 "likes AS x WHERE target_type = 'thing' AND NOT EXISTS (SELECT 1 FROM things WHERE id = x.target_id)",
		"likes of a missing make":                  "likes AS x WHERE target_type = 'make' AND NOT EXISTS (SELECT 1 FROM makes WHERE id = x.target_id)",
		"comments on a missing thing":              "comments AS x WHERE target_type = 'thing' AND NOT EXISTS (SELECT 1 FROM things WHERE id = x.target_id)",
		"comments on a missing make":               "comments AS x WHERE target_type = 'make' AND NOT EXISTS (SELECT 1 FROM makes WHERE id = x.target_id)",
		"replies to a missing comment":             "comments AS x WHERE parent_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM comments WHERE id = x.parent_id)",
		"files on a missing thing":                 "files AS x WHERE target_type = 'thing' AND NOT EXISTS (SELECT 1 FROM things WHERE id = x.target_id)",
		"files on a missing make":                  "files AS x WHERE target_type = 'make' AND NOT EXISTS (SELECT 1 FROM makes WHERE id = x.target_id)",
		"files on a missing comment":               "files AS x WHERE target_type = 'comment' AND NOT EXISTS (SELECT 1 FROM comments WHERE id = x.target_id)",
		"files on a deleted comment":               "files AS x WHERE target_type = 'comment' AND EXISTS (SELECT 1 FROM comments WHERE id = x.target_id AND deleted_at IS NOT NULL)",
		"files with a missing thing at their root": "files AS x WHERE thing_id <> 0 AND NOT EXISTS (SELECT 1 FROM things WHERE id = x.thing_id)",
		"new downloads that are not recorded":      "new_downloads AS x WHERE NOT EXISTS (SELECT 1 FROM downloads WHERE id = x.id)",
		"deleted comments with text":               "comments AS x WHERE deleted_at IS NOT NULL AND body <> ''",
	} {
		var n int
		if err := db.SQL().QueryRow("SELECT count(*) FROM " + where).Scan(&n); err != nil || n != 0 {
			t.Errorf("%d %s (%v), want 0", n, what, err)
		}
	}
}

// TestRepeatedCountsOnce checks that a repeated like counts once and a repeated unlike is
// subtracted once, whenever counts are folded, and the same for follows and collections.
func TestRepeatedCountsOnce(t *testing.T) {
	servertest.Concurrent(t, func(t *testing.T, s *servertest.Server) {
		w := servertest.NewWorld(t, s)
		var made struct {
			CreateCollection struct{ Collection struct{ ID string } }
		}
		w.Bob.Query(`mutation { createCollection(input: {name: "Best"}) { collection { id } } }`, nil, &made)
		vars := servertest.Object{"thing": servertest.ID(w.Thing), "collection": made.CreateCollection.Collection.ID}
		stop, folded := make(chan struct{}), sync.WaitGroup{}
		folded.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					s.Fold()
				}
			}
		})
		for round := range 6 {
			for _, step := range []struct {
				input string
				want  string
			}{
				{`likeThing(input: {id: $thing}) { thing { id } } followUser(input: {username: "ada"}) { user { id } } addToCollection(input: {collectionId: $collection, thingId: $thing}) { collection { id } }`, "1 1 1 1 1 1 true true true"},
				{`unlikeThing(input: {id: $thing}) { thing { id } } unfollowUser(input: {username: "ada"}) { user { id } } removeFromCollection(input: {collectionId: $collection, thingId: $thing}) { collection { id } }`, "0 0 0 0 0 0 false false false"},
			} {
				servertest.Together(4, func(int) int {
					w.Bob.Query(`mutation ($thing: ID!, $collection: ID!) { `+step.input+` }`, vars, new(any))
					return 0
				})
				var got struct {
					Thing struct {
						LikeCount, CollectCount int
						IsLiked, IsCollected    bool
						Creator                 struct {
							FollowerCount int
							IsFollowed    bool
						}
					}
					Me         struct{ LikeCount, FollowingCount int }
					Collection struct{ ThingCount int }
				}
				w.Bob.Query(`query ($thing: ID!, $collection: ID!) { thing(id: $thing) { likeCount collectCount isLiked isCollected creator { followerCount isFollowed } }
					me { likeCount followingCount } collection(id: $collection) { thingCount } }`, vars, &got)
				g := fmt.Sprint(got.Thing.LikeCount, got.Thing.CollectCount, got.Thing.Creator.FollowerCount, got.Me.LikeCount,
					got.Me.FollowingCount, got.Collection.ThingCount,
					got.Thing.IsLiked, got.Thing.IsCollected, got.Thing.Creator.IsFollowed)
				if g != step.want {
					t.Errorf("round %d, four times %.30s…: %s, want %s", round, step.input, g, step.want)
				}
			}
		}
		close(stop)
		folded.Wait()
	})
}
