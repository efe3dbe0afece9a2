package graphql_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"github.com/meshyard/meshyard/graph"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/test/servertest"
)

// walked is a list that a test pages through: a field of the schema and its own arguments, a
// document open with the placeholder LIST for the list, the selection key for the key of an entry,
// and an SQL statement that returns the keys of all entries in order.
type walked struct {
	field, args, open, key, sql string
}

func (l walked) String() string { return l.field + "(" + l.args + ")" }

// part is one page of a list, as the API returns it.
type part struct {
	Edges []struct {
		Cursor string
		Node   any
	}
	Nodes    []any
	PageInfo struct {
		HasNextPage, HasPreviousPage bool
		StartCursor, EndCursor       *string
	}
	TotalCount int
}

func (l walked) ask(c *servertest.Client, args servertest.Object) *servertest.Result {
	_, name, _ := strings.Cut(l.field, ".")
	list := "list: " + name + "(first: $first, after: $after, last: $last, before: $before, " + l.args +
		") { edges { cursor node { " + l.key +
		" } } nodes { " + l.key + " } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } totalCount }"
	return c.GraphQL("query ($first: Int, $after: String, $last: Int, $before: String) { "+strings.Replace(l.open, "LIST",
		list, 1)+" }", args)
}

// part requests a page of the list, which must succeed.
func (l walked) part(t *testing.T, c *servertest.Client, args servertest.Object) (p part) {
	t.Helper()
	var data any
	servertest.Decode(t, l.ask(c, args), &data)
	text, err := json.Marshal(servertest.Below(data, "list"))
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if err != nil {
		t.Fatalf("%v %v: %v: %s", l, args, err, text)
	}
	return p
}

// keys returns the keys of the entries of a page, and checks that nodes, edges and cursors are
// consistent.
func (p part) keys(t *testing.T, what string) []string {
	t.Helper()
	keys := []string{}
	for i, e := range p.Edges {
		keys = append(keys, fmt.Sprint(servertest.Below(e.Node, "key")))
		if i >= len(p.Nodes) || fmt.Sprint(p.Nodes[i]) != fmt.Sprint(e.Node) {
			t.Errorf("%s: edge %d holds %v, and nodes are %v", what, i, e.Node, p.Nodes)
		}
	}
	var start, end *string
	if n := len(p.Edges); n > 0 {
		start, end = &p.Edges[0].Cursor, &p.Edges[n-1].Cursor
	}
	same := func(a, b *string) bool { return a == nil && b == nil || a != nil && b != nil && *a == *b }
	if len(p.Nodes) != len(p.Edges) || !same(p.PageInfo.StartCursor, start) || !same(p.PageInfo.EndCursor, end) {
		t.Errorf("%s: %d nodes, %d edges, and pageInfo %+v", what, len(p.Nodes), len(p.Edges), p.PageInfo)
	}
	return keys
}

// walk pages through the list forward, backward and by page number, with two entries per page. Each
// way must return all entries once, in order.
func (l walked) walk(t *testing.T, c *servertest.Client, want []string) {
	t.Helper()
	const step = 2
	check := func(way string, i int, p part, from, to int) {
		t.Helper()
		what := fmt.Sprintf("%v %s, part %d", l, way, i)
		if got := p.keys(t, what); !slices.Equal(got, want[from:to]) {
			t.Errorf("%s: %v, want %v", what, got, want[from:to])
		}
		next, previous := to < len(want), from > 0
		if p.PageInfo.HasNextPage != next || p.PageInfo.HasPreviousPage != previous {
			t.Errorf("%s: hasNextPage %v, hasPreviousPage %v, want %v, %v", what, p.PageInfo.HasNextPage,
				p.PageInfo.HasPreviousPage, next, previous)
		}
		if p.TotalCount != len(want) {
			t.Errorf("%s: totalCount %d, want %d", what, p.TotalCount, len(want))
		}
	}
	check("whole", 0, l.part(t, c, servertest.Object{"first": 100}), 0, len(want))
	check("with no arguments", 0, l.part(t, c, nil), 0, min(30, len(want)))
	var after, before any
	for i := 0; i*step < len(want); i++ {
		from, to := i*step, min(i*step+step, len(want))
		p := l.part(t, c, servertest.Object{"first": step, "after": after})
		check("forward", i, p, from, to)
		check("by page", i, l.part(t, c, servertest.Object{"first": step, "after": graph.PageCursor(i + 1)}), from, to)
		if p.PageInfo.EndCursor == nil {
			return
		}
		after = *p.PageInfo.EndCursor

		p = l.part(t, c, servertest.Object{"last": step, "before": before})
		check("backward", i, p, len(want)-to, len(want)-from)
		if p.PageInfo.StartCursor == nil {
			return
		}
		before = *p.PageInfo.StartCursor
	}
	for way, args := range map[string]servertest.Object{"after the last": {"after": after, "first": step},
		"before the first": {"before": before, "last": step}, "on a page beyond": {"after": graph.PageCursor(1000),
			"first": step}} {
		if p := l.part(t, c, args); len(p.keys(t, way)) > 0 || way != "before the first" && p.PageInfo.HasNextPage ||
			way == "before the first" && p.PageInfo.HasPreviousPage {
			t.Errorf("%v %s: %+v, want nothing", l, way, p)
		}
	}
}

// refuses checks that the list rejects invalid arguments, and the cursor alien of another list,
// with an error that names the argument.
func (l walked) refuses(t *testing.T, c *servertest.Client, alien string) {
	t.Helper()
	own := *l.part(t, c, servertest.Object{"first": 1}).PageInfo.EndCursor
	for _, test := range []struct {
		args  servertest.Object
		field string
	}{
		{servertest.Object{"first": 0}, "first"}, {servertest.Object{"first": -1}, "first"},
		{servertest.Object{"first": 101}, "first"},
		{servertest.Object{"last": 0}, "last"}, {servertest.Object{"last": 101}, "last"},
		{servertest.Object{"first": 1, "last": 1}, "last"},
		{servertest.Object{"after": "page:0"}, "after"}, {servertest.Object{"after": "page:1", "before": own}, "after"},
		{servertest.Object{"after": "page:1", "last": 1}, "after"},
		{servertest.Object{"after": "garbage"}, "after"}, {servertest.Object{"before": "garbage"}, "before"},
		{servertest.Object{"after": ""}, "after"}, {servertest.Object{"after": own[:4]}, "after"},
		{servertest.Object{"after": own + "!"}, "after"},
		{servertest.Object{"after": alien}, "after"}, {servertest.Object{"before": alien, "last": 2}, "before"},
	} {
		r := l.ask(c, test.args)
		if r.Code() != "BAD_USER_INPUT" || r.Errors[0].Extensions.Field != test.field {
			t.Errorf("%v %v: %+v %.100s, want BAD_USER_INPUT of %s", l, test.args, r.Errors, r.Data, test.field)
		}
	}
}

// gallery is a catalogue in which every list has some entries, and the objects whose lists are
// tested.
type gallery struct {
	s          *servertest.Server
	db         *models.DB
	ada        *servertest.Client
	thing      string // comments, makes and so on are attached to it
	make       string
	comment    string
	collection string
	remix      string // a remix of all other things
	file       string // a model
}

func newGallery(t *testing.T, s *servertest.Server) *gallery {
	t.Helper()
	g := &gallery{s: s, db: servertest.OpenDB(t, s), ada: s.User("ada")}
	users := []*servertest.Client{}
	for _, name := range []string{"bob", "cyd", "dan", "eve", "fay"} {
		users = append(users, s.User(name))
		g.ada.Query(`mutation ($name: String!) { followUser(input: {username: $name}) { user { id } } }`,
			servertest.Object{"name": name}, new(any))
	}
	id := func(c *servertest.Client, document string, vars servertest.Object) string {
		t.Helper()
		r := c.GraphQL(document, vars)
		found := servertest.NewID.FindSubmatch(r.Data)
		if found == nil {
			t.Fatalf("%s %v: %s %+v", document, vars, r.Data, r.Errors)
		}
		return string(found[1])
	}
	things, files := []string{}, []string{} // not null in the first request
	for i := range 6 {
		file := servertest.ID(g.ada.Upload("a.stl", fmt.Append(nil, "solid ", i)))
		thing := id(g.ada, `mutation ($n: String!, $f: ID!, $t: [String!], $a: [ID!]) { createThing(input: {name: $n, license: CC, category: "math-art", description: "A thing.", files: [{id: $f}], tags: $t, ancestorIds: $a}) { thing { newId: id } } }`,
			servertest.Object{"n": fmt.Sprint("Thing ", i), "f": file, "t": []string{"Gear", fmt.Sprint("tag ", i)},
				"a": things[:min(i, 1)]})
		things, files = append(things, thing), append(files, file)
		g.ada.Query(`mutation ($id: ID!) { publishThing(input: {id: $id}) { thing { id } } }`, servertest.Object{"id": thing},
			new(any))
	}
	g.file = files[0]
	// All models have the same shape.
	g.exec(t, `UPDATE previews SET state = 'done', mesh = '{"format": "stl", "keys": ["shape"], "descriptor": [0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]}', shape_id = (SELECT min(id) FROM previews)`,
		"INSERT INTO shape_keys (key, preview_id) SELECT 'shape', id FROM previews")
	draft := id(g.ada, `mutation { createThing(input: {name: "Draft thing", license: CC, category: "math-art", tags: ["Gear"]}) { thing { newId: id } } }`, nil)
	g.thing, g.remix = things[0], things[5]
	g.ada.Query(`mutation ($id: ID!, $a: [ID!]) { updateThing(input: {id: $id, ancestorIds: $a}) { thing { id } } }`,
		servertest.Object{"id": g.remix, "a": append([]string{things[3]}, things[:3]...)}, new(any))
	admin := s.Administrator()
	for _, thing := range things[1:] {
		admin.Query(`mutation ($id: ID!) { featureThing(input: {id: $id}) { thing { id } } }`, servertest.Object{"id": thing},
			new(any))
	}
	// bob is a moderator, and can see the lists for moderators.
	for _, role := range []string{"MODERATOR", "MEMBER", "ADMINISTRATOR", "MODERATOR"} {
		admin.Query(`mutation ($role: Role!) { setUserRole(input: {username: "bob", role: $role, reason: "To test."}) { user { id } } }`, servertest.Object{"role": role}, new(any))
		s.Token("bob", "read")
	}

	const comment, like = `mutation ($t: TargetInput!) { createComment(input: {target: $t, body: "Nice thing."}) { comment { newId: id } } }`, `mutation ($id: ID!) { likeThing(input: {id: $id}) { thing { id } } }`
	on := func(kind, id string) servertest.Object {
		return servertest.Object{"t": servertest.Object{"type": kind, "id": id}}
	}
	for i := range 4 {
		g.make = id(users[0], `mutation ($id: ID!) { createMake(input: {thingId: $id}) { make { newId: id } } }`,
			servertest.Object{"id": g.thing})
		g.collection = id(users[0], `mutation { createCollection(input: {name: "Things"}) { collection { newId: id } } }`,
			nil)
		users[0].Query(`mutation ($c: ID!, $id: ID!) { addToCollection(input: {collectionId: $c, thingId: $id}) { collection { id } } }`, servertest.Object{"c": g.collection, "id": things[i]}, new(any))
	}
	// Only ada sees the make and the comment on her draft.
	id(g.ada, `mutation ($id: ID!) { createMake(input: {thingId: $id}) { make { newId: id } } }`,
		servertest.Object{"id": draft})
	id(g.ada, comment, on("THING", draft))
	for i, thing := range things {
		users[0].Query(like, servertest.Object{"id": thing}, new(any))
		users[0].Query(`mutation ($id: ID!) { watchThing(input: {id: $id}) { thing { id } } }`,
			servertest.Object{"id": thing}, new(any))
		users[0].Query(`mutation ($id: ID!) { recordDownload(input: {fileId: $id}) { url } }`,
			servertest.Object{"id": files[i]}, new(any))
		g.comment = id(users[0], comment, on("THING", g.thing))
		if i < 5 {
			users[0].Query(`mutation ($c: ID!, $id: ID!) { addToCollection(input: {collectionId: $c, thingId: $id}) { collection { id } } }`, servertest.Object{"c": g.collection, "id": thing}, new(any))
			id(users[0], comment, on("MAKE", g.make))
		}
	}
	for i, u := range users {
		u.Query(`mutation { followUser(input: {username: "ada"}) { user { id } } }`, nil, new(any))
		if i > 0 {
			u.Query(like, servertest.Object{"id": g.thing}, new(any))
			u.Query(`mutation ($id: ID!) { likeMake(input: {id: $id}) { make { id } } }`, servertest.Object{"id": g.make},
				new(any))
			u.Query(`mutation ($id: ID!) { likeCollection(input: {id: $id}) { collection { id } } }`,
				servertest.Object{"id": g.collection}, new(any))
			u.Query(like, servertest.Object{"id": things[i]}, new(any))
		}
		reply := id(u, `mutation ($id: ID!) { createComment(input: {parentId: $id, body: "So it is."}) { comment { newId: id } } }`, servertest.Object{"id": g.comment})
		if i == 2 {
			u.Query(`mutation ($id: ID!) { deleteComment(input: {id: $id}) { comment { id } } }`, servertest.Object{"id": reply},
				new(any))
		}
	}
	for i := range 4 {
		users[0].Thing("A draft of bob")
		users[0].Upload("a.txt", fmt.Append(nil, "Text ", i))
	}
	for i, thing := range append(things[:4:4], append(things[:4:4], things[:4]...)...) {
		users[i/4].Query(`mutation ($id: ID!) { reportContent(input: {nodeId: $id, reason: OTHER}) { report { id } } }`,
			servertest.Object{"id": models.NodeRef{Type: "Thing", ID: int64(servertest.Must(strconv.Atoi(thing))(t))}.NodeID()},
			new(any))
	}
	g.exec(t, "UPDATE reports SET state = 'resolved' WHERE id % 3 = 1",
		"UPDATE reports SET state = 'dismissed' WHERE id % 3 = 2")
	for range 5 {
		g.exec(t, "INSERT INTO webhooks (owner_id, url, events, secret, created_at, modified_at) SELECT id, 'https://hook.invalid/', 'make.created', '', created_at, created_at FROM users WHERE username = 'bob'",
			"INSERT INTO webhook_deliveries (webhook_id, message_id, event, payload, state, created_at) SELECT 1, 'msg', 'make.created', '{}', CASE id % 3 WHEN 0 THEN 'waiting' WHEN 1 THEN 'delivered' ELSE 'failed' END, created_at FROM users")
	}
	for range 5 {
		g.exec(t, "INSERT INTO printers (owner_id, name, kind, url, created_at, modified_at) SELECT id, 'printer', 'octoprint', 'http://printer.invalid', created_at, created_at FROM users WHERE username = 'bob'",
			"INSERT INTO print_jobs (printer_id, owner_id, file_name, size, state, created_at) SELECT p.id, p.owner_id, 'a.gcode', 1, 'done', u.created_at FROM users AS u, printers AS p WHERE p.id = 1")
	}
	g.exec(t, "UPDATE notifications SET read_at = created_at WHERE id % 5 = 0")
	s.Fold()
	return g
}

func (g *gallery) exec(t *testing.T, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		if _, err := g.db.SQL().Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// keys returns the first column of a statement.
func (g *gallery) keys(t *testing.T, statement string) []string {
	t.Helper()
	rows, err := g.db.SQL().Query(statement)
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	defer rows.Close()
	keys := []string{}
	for rows.Next() {
		var key string
		if err := rows.Scan(&key); err != nil {
			t.Fatal(err)
		}
		keys = append(keys, key)
	}
	return keys
}

// lists returns all lists of the schema, with each value of their enum and boolean arguments.
func (g *gallery) lists() []walked {
	const (
		shown    = "state = 'published'"
		ofShown  = "(thing_id IS NULL OR thing_id IN (SELECT id FROM things WHERE state = 'published'))"
		bob, ada = "(SELECT id FROM users WHERE username = 'bob')", "(SELECT id FROM users WHERE username = 'ada')"
		key      = "key: id"
	)
	thing, print, comment := `thing(id: "`+g.thing+`") { LIST }`, `make(id: "`+g.make+`") { LIST }`,
		`comment(id: "`+g.comment+`") { LIST }`
	lists := []walked{
		{"Query.things", "sort: NEWEST", "LIST", key, "SELECT id FROM things WHERE " + shown +
			" ORDER BY published_at DESC, id DESC"},
		{"Query.things", "sort: POPULAR", "LIST", key, "SELECT id FROM things WHERE " + shown +
			" ORDER BY popularity DESC, id DESC"},
		{"Query.things", "sort: MAKES", "LIST", key, "SELECT id FROM things WHERE " + shown +
			" ORDER BY make_count DESC, id DESC"},
		{"Query.things", "sort: FEATURED", "LIST", key,
			"SELECT id FROM things WHERE featured_at IS NOT NULL ORDER BY featured_at DESC, id DESC"},
		{"Query.things", "sort: LIKES", "LIST", key, "SELECT id FROM things WHERE " + shown +
			" ORDER BY like_count DESC, id DESC"},
		{"Query.things", "sort: DOWNLOADS", "LIST", key, "SELECT id FROM things WHERE " + shown +
			" ORDER BY download_count DESC, id DESC"},
		{"Query.things", "sort: UPDATED", "LIST", key, "SELECT id FROM things WHERE " + shown +
			" ORDER BY modified_at DESC, id DESC"},
		{"Query.things", "sort: OLDEST", "LIST", key, "SELECT id FROM things WHERE " + shown + " ORDER BY published_at, id"},
		{"Query.things", "sort: NAME", "LIST", key, "SELECT id FROM things WHERE " + shown + " ORDER BY sort_name, id"},
		{"Query.things", `sort: POPULAR, filter: {creators: "ada", tags: "GEAR", hasMakes: false}`, "LIST", key,
			"SELECT id FROM things WHERE " + shown + " AND id <> " + g.thing + " ORDER BY popularity DESC, id DESC"},
		{"Query.users", "sort: NEWEST", "LIST", key, "SELECT id FROM users ORDER BY id DESC"},
		{"Query.users", "sort: NAME", "LIST", key, "SELECT id FROM users ORDER BY sort_name, id"},
		{"Query.users", "sort: THINGS", "LIST", key, "SELECT id FROM users ORDER BY thing_count DESC, id DESC"},
		{"Query.users", "sort: FOLLOWERS, filter: {role: MEMBER}", "LIST", key,
			"SELECT id FROM users WHERE NOT (is_admin OR is_moderator) ORDER BY follower_count DESC, id DESC"},
		{"Query.makes", "", "LIST", key, "SELECT id FROM makes WHERE " + shown + " AND " + ofShown + " ORDER BY id DESC"},
		{"Query.comments", "", "LIST", key, "SELECT id FROM comments WHERE deleted_at IS NULL AND " + ofShown +
			" ORDER BY id DESC"},
		{"Query.collections", "", "LIST", key, "SELECT id FROM collections ORDER BY id DESC"},
		{"User.drafts", "", "me { LIST }", key, "SELECT id FROM things WHERE state = 'draft' AND owner_id = " + bob +
			" ORDER BY id DESC"},
		{"User.pendingUploads", "", "me { LIST }", key, "SELECT id FROM files WHERE state = 'pending' AND owner_id = " + bob +
			" ORDER BY id DESC"},
		{"Query.tags", "", "LIST", "key: slug", "SELECT slug FROM tags ORDER BY thing_count DESC, id DESC"},
		{"Query.tags", `prefix: "Tag "`, "LIST", "key: slug",
			"SELECT slug FROM tags WHERE slug <> 'gear' ORDER BY thing_count DESC, id DESC"},
		{"Thing.ancestors", "", `thing(id: "` + g.remix + `") { LIST }`, key,
			"SELECT ancestor_id FROM thing_ancestors WHERE thing_id = " + g.remix + " ORDER BY position"},
		{"Thing.remixes", "", thing, key, "SELECT thing_id FROM thing_ancestors WHERE ancestor_id = " + g.thing +
			" ORDER BY thing_id DESC"},
		{"Thing.makes", "", thing, key, "SELECT id FROM makes WHERE thing_id = " + g.thing + " ORDER BY id DESC"},
		{"Thing.comments", "rootsOnly: false", thing, key,
			"SELECT id FROM comments WHERE target_type = 'thing' AND target_id = " + g.thing + " ORDER BY id DESC"},
		{"Thing.comments", "rootsOnly: true", thing, key,
			"SELECT id FROM comments WHERE target_type = 'thing' AND parent_id IS NULL AND target_id = " + g.thing +
				" ORDER BY id DESC"},
		{"Thing.likers", "", thing, key, "SELECT user_id FROM likes WHERE target_type = 'thing' AND target_id = " + g.thing +
			" ORDER BY created_at DESC, id DESC"},
		{"Make.comments", "rootsOnly: false", print, key,
			"SELECT id FROM comments WHERE target_type = 'make' AND target_id = " + g.make + " ORDER BY id DESC"},
		{"Make.comments", "rootsOnly: true", print, key,
			"SELECT id FROM comments WHERE target_type = 'make' AND parent_id IS NULL AND target_id = " + g.make +
				" ORDER BY id DESC"},
		{"Make.likers", "", print, key, "SELECT user_id FROM likes WHERE target_type = 'make' AND target_id = " + g.make +
			" ORDER BY created_at DESC, id DESC"},
		{"Comment.replies", "", comment, key, "SELECT id FROM comments WHERE parent_id = " + g.comment + " ORDER BY id"},
		{"User.things", "", `user(username: "ada") { LIST }`, key, "SELECT id FROM things WHERE " + shown +
			" ORDER BY id DESC"},
		{"User.makes", "", "me { LIST }", key, "SELECT id FROM makes WHERE owner_id = " + bob + " ORDER BY id DESC"},
		{"User.likedThings", "", "me { LIST }", key,
			"SELECT target_id FROM likes WHERE target_type = 'thing' AND user_id = " + bob + " ORDER BY id DESC"},
		{"User.collections", "", "me { LIST }", key, "SELECT id FROM collections WHERE owner_id = " + bob +
			" ORDER BY id DESC"},
		{"User.followers", "", `user(username: "ADA") { LIST }`, key, "SELECT follower_id FROM follows WHERE followed_id = " +
			ada + " ORDER BY id DESC"},
		{"User.following", "", `user(username: "ada") { LIST }`, key, "SELECT followed_id FROM follows WHERE follower_id = " +
			ada + " ORDER BY id DESC"},
		{"User.feed", "", "me { LIST }", "... on Thing { key: id }", "SELECT id FROM things WHERE " + shown +
			" ORDER BY published_at DESC, id DESC"},
		{"User.downloads", "", "me { LIST }", "file { key: id }", "SELECT file_id FROM downloads WHERE user_id = " + bob +
			" ORDER BY id DESC"},
		{"User.downloadedThings", "", "me { LIST }", key, "SELECT thing_id FROM downloads WHERE user_id = " + bob +
			" GROUP BY thing_id ORDER BY max(id) DESC"},
		{"User.watchedThings", "", "me { LIST }", key,
			"SELECT target_id FROM watches WHERE target_type = 'thing' AND user_id = " + bob + " ORDER BY id DESC"},
		{"User.notifications", "unreadOnly: false", "me { LIST }", key, "SELECT id FROM notifications WHERE user_id = " +
			bob + " ORDER BY id DESC"},
		{"User.notifications", "unreadOnly: true", "me { LIST }", key,
			"SELECT id FROM notifications WHERE read_at IS NULL AND user_id = " + bob + " ORDER BY id DESC"},
		{"Mesh.duplicates", "", `file(id: "` + g.file + `") { mesh { LIST } }`, key,
			"SELECT id FROM files WHERE kind = 'model' AND id <> " + g.file + " ORDER BY id DESC"},
		{"Category.things", "", `category(slug: "art") { LIST }`, key, "SELECT id FROM things WHERE " + shown +
			" ORDER BY published_at DESC, id DESC"},
		{"Tag.things", "", `tag(name: "GEAR") { LIST }`, key, "SELECT id FROM things WHERE " + shown + " ORDER BY id DESC"},
		{"Collection.things", "", `collection(id: "` + g.collection + `") { LIST }`, key,
			"SELECT thing_id FROM collection_things WHERE collection_id = " + g.collection + " ORDER BY position DESC, id DESC"},
		{"Collection.likers", "", `collection(id: "` + g.collection + `") { LIST }`, key,
			"SELECT user_id FROM likes WHERE target_type = 'collection' AND target_id = " + g.collection +
				" ORDER BY created_at DESC, id DESC"},
		{"Query.tokens", "", "LIST", key, "SELECT id FROM tokens WHERE revoked_at IS NULL AND user_id = " + bob +
			" ORDER BY id DESC"},
		{"Query.webhooks", "", "LIST", key, "SELECT id FROM webhooks WHERE owner_id = " + bob + " ORDER BY id DESC"},
		{"Webhook.deliveries", "state: null", `webhook(id: "1") { LIST }`, key,
			"SELECT id FROM webhook_deliveries ORDER BY id DESC"},
		{"Webhook.deliveries", "state: WAITING", `webhook(id: "1") { LIST }`, key,
			"SELECT id FROM webhook_deliveries WHERE state = 'waiting' ORDER BY id DESC"},
		{"Webhook.deliveries", "state: DELIVERED", `webhook(id: "1") { LIST }`, key,
			"SELECT id FROM webhook_deliveries WHERE state = 'delivered' ORDER BY id DESC"},
		{"Webhook.deliveries", "state: FAILED", `webhook(id: "1") { LIST }`, key,
			"SELECT id FROM webhook_deliveries WHERE state = 'failed' ORDER BY id DESC"},
		{"Query.printers", "", "LIST", key, "SELECT id FROM printers WHERE owner_id = " + bob + " ORDER BY id DESC"},
		{"Printer.jobs", "", `printer(id: "1") { LIST }`, key,
			"SELECT id FROM print_jobs WHERE printer_id = 1 ORDER BY id DESC"},
		{"Query.moderationLog", "", "LIST", key, "SELECT id FROM moderation_log ORDER BY id DESC"},
		{"Query.reports", "state: OPEN", "LIST", key, "SELECT id FROM reports WHERE state = 'open' ORDER BY id DESC"},
		{"Query.reports", "state: RESOLVED", "LIST", key, "SELECT id FROM reports WHERE state = 'resolved' ORDER BY id DESC"},
		{"Query.reports", "state: DISMISSED", "LIST", key,
			"SELECT id FROM reports WHERE state = 'dismissed' ORDER BY id DESC"},
		{"Query.reports", "state: null", "LIST", key, "SELECT id FROM reports ORDER BY id DESC"},
	}
	const hit = "... on Thing { key: id } ... on Make { key: id } ... on User { key: id } ... on Collection { key: id }"
	for kind, of := range map[string]struct {
		from, newest string
		by           map[string]string
	}{
		"THINGS": {"things WHERE " + shown, "published_at DESC, id", map[string]string{"RELEVANT": "popularity",
			"TEXT": "popularity", "POPULAR": "popularity", "MAKES": "make_count",
			"DOWNLOADS": "download_count", "LIKES": "like_count", "UPDATED": "modified_at"}},
		"MAKES": {"makes WHERE " + shown + " AND " + ofShown, "id", map[string]string{"RELEVANT": "like_count",
			"TEXT": "like_count", "POPULAR": "like_count", "LIKES": "like_count"}},
		"USERS": {"users WHERE username <> ''", "id", map[string]string{"RELEVANT": "thing_count",
			"TEXT": "thing_count", "FOLLOWERS": "follower_count", "POPULAR": "thing_count", "DESIGNS": "thing_count",
			"MAKES": "make_count"}},
		"COLLECTIONS": {"collections WHERE name <> ''", "id", map[string]string{"RELEVANT": "thing_count",
			"TEXT": "thing_count", "POPULAR": "thing_count"}},
	} {
		for _, sort := range []string{"RELEVANT", "TEXT", "POPULAR", "MAKES", "NEWEST", "DESIGNS", "FOLLOWERS", "DOWNLOADS",
			"LIKES", "UPDATED", "OLDEST", "NAME"} {
			by, query := of.newest, ""
			if kind != "USERS" && sort == "NEWEST" {
				query = `, query: "THING"` // a word that all of them contain
			}
			if column := of.by[sort]; column != "" {
				by = column + " DESC, id"
			}
			by += " DESC"
			switch {
			case sort == "OLDEST":
				by = strings.ReplaceAll(of.newest, " DESC", "")
			case sort == "NAME" && kind != "MAKES":
				by = "sort_name, id"
			}
			lists = append(lists, walked{"Query.search", "type: " + kind + ", sort: " + sort + query, "LIST", hit,
				"SELECT id FROM " + of.from + " ORDER BY " + by})
		}
	}
	return lists
}

// TestListsAreWalkedWhole checks that paging through each list forward, backward and by page number
// returns every entry once, even if many entries have the same sort key.
func TestListsAreWalkedWhole(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		g := newGallery(t, s)
		bob := s.Client(s.Token("bob", "read", "write", "admin"))
		for _, keys := range []struct {
			name       string
			statements []string
		}{
			{"as they came", nil},
			{"some alike", []string{
				"UPDATE things SET published_at = (SELECT max(published_at) FROM things), modified_at = published_at, popularity = id / 3, make_count = id / 4, like_count = id / 3, download_count = id / 4, name = 'Thing ' || id / 3 WHERE state = 'published' AND id <> " + g.thing,
				"UPDATE things SET featured_at = (SELECT min(featured_at) FROM things) WHERE featured_at IS NOT NULL AND id <> " +
					g.remix,
				"UPDATE likes SET created_at = (SELECT min(created_at) FROM likes) WHERE id % 3 <> 0",
				"UPDATE tags SET thing_count = 1 + id / 2 WHERE slug <> 'gear'", "UPDATE makes SET like_count = id / 2",
				"UPDATE collections SET thing_count = -(id / 2)",
				"UPDATE collections SET name = 'things ' || id / 2",
				"UPDATE users SET follower_count = id / 3, thing_count = -(id / 2), make_count = 7 - id / 2",
			}},
			{"all alike", []string{
				"UPDATE things SET published_at = (SELECT max(published_at) FROM things), modified_at = (SELECT max(modified_at) FROM things), popularity = 0, make_count = 0, like_count = 0, download_count = 0, name = 'A:thing?' WHERE state = 'published'",
				"UPDATE things SET featured_at = (SELECT max(published_at) FROM things) WHERE featured_at IS NOT NULL",
				"UPDATE likes SET created_at = (SELECT min(created_at) FROM likes)",
				"UPDATE tags SET thing_count = 1 WHERE slug <> 'gear'", "UPDATE makes SET like_count = 0",
				"UPDATE collections SET thing_count = 0",
				"UPDATE users SET follower_count = 0, thing_count = 0, make_count = 0",
			}},
		} {
			t.Run(strings.ReplaceAll(keys.name, " ", "_"), func(t *testing.T) {
				g.exec(t, keys.statements...)
				for _, l := range g.lists() {
					want := g.keys(t, l.sql)
					if len(want) < 4 {
						t.Errorf("%v has %d entries: the test tests little", l, len(want))
					}
					l.walk(t, bob, want)
				}
			})
		}
	})
}

// TestRecommendations checks that recommendations are the things that a user does not like yet, the
// most popular first. bob has none, because bob likes everything.
func TestRecommendations(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		g := newGallery(t, s)
		want := g.keys(t, "SELECT id FROM things WHERE state = 'published' AND id NOT IN (SELECT target_id FROM likes WHERE target_type = 'thing' AND user_id = (SELECT id FROM users WHERE username = 'cyd')) ORDER BY popularity DESC, id DESC")
		recommended := walked{"User.recommendedThings", "", "me { LIST }", "key: id", ""}
		recommended.walk(t, s.Client(s.Token("cyd", "read")), want)
		if got := recommended.part(t, s.Client(s.Token("bob", "read")), nil); len(want) < 3 || got.TotalCount != 0 {
			t.Errorf("%d things are recommended to cyd and %d to bob", len(want), got.TotalCount)
		}
	})
}

// TestListsRefuse checks that every list rejects invalid arguments and cursors of other lists in
// the same way.
func TestListsRefuse(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		g := newGallery(t, s)
		bob := s.Client(s.Token("bob", "read", "write", "admin"))
		lists := g.lists()
		for i, l := range lists {
			other := lists[(i+1)%len(lists)]
			for n := i + 2; other.field == l.field && l.field != "Query.search"; n++ {
				other = lists[n%len(lists)]
			}
			end := other.part(t, bob, servertest.Object{"first": 1}).PageInfo.EndCursor
			if end == nil {
				t.Fatalf("%s is empty", other)
			}
			l.refuses(t, bob, *end)
		}
		// The same field with another sort order or filter is another list.
		for a, b := range map[int]int{0: 1, 1: 2, 2: 3, 8: 7, 22: 23, 23: 22, 25: 26} {
			lists[a].refuses(t, bob, *lists[b].part(t, bob, servertest.Object{"first": 1}).PageInfo.EndCursor)
		}
	})
}

// TestEveryListIsWalked checks that lists contains every connection of the schema, with every value
// of its enum and boolean arguments.
func TestEveryListIsWalked(t *testing.T) {
	walks := make(map[string]string)
	for _, l := range new(gallery).lists() {
		walks[l.field] += "(" + l.args + ") "
	}
	walks["User.recommendedThings"] = "TestRecommendations"
	schema, connections := graph.New(nil).Schema(), 0
	walks["Query.problems"] = "TestProblems, with ofAllUsers: false, ofAllUsers: true"
	for _, kind := range schema.Types["ProblemKind"].EnumValues {
		walks["Query.problems"] += ", kinds: " + kind.Name
	}
	for _, definition := range schema.Types {
		for _, field := range definition.Fields {
			if !strings.HasSuffix(field.Type.Name(), "Connection") || definition.Kind != ast.Object {
				continue
			}
			connections++
			name := definition.Name + "." + field.Name
			if walks[name] == "" {
				t.Errorf("%s is not walked by any test", name)
			}
			for _, argument := range field.Arguments {
				var values []string
				if kind := schema.Types[argument.Type.Name()]; argument.Type.Name() == "Boolean" {
					values = []string{"false", "true"}
				} else {
					for _, v := range kind.EnumValues {
						values = append(values, v.Name)
					}
				}
				for _, v := range values {
					if !strings.Contains(walks[name], argument.Name+": "+v) {
						t.Errorf("%s is not walked with %s: %s", name, argument.Name, v)
					}
				}
			}
			for i, argument := range []string{"first", "after", "last", "before"} {
				if len(field.Arguments) <= i || field.Arguments[i].Name != argument {
					t.Errorf("%s does not take %s at place %d, as all lists do", name, argument, i)
				}
			}
			delete(walks, name)
		}
	}
	if len(walks) > 0 || connections < 25 {
		t.Errorf("%d connections, and these are none: %v", connections, walks)
	}
}

// TestWalkWhilePublishing checks that paging by cursor returns each thing that existed at the
// start, and no thing twice, while others are published and featured.
func TestWalkWhilePublishing(t *testing.T) {
	servertest.Concurrent(t, func(t *testing.T, s *servertest.Server) {
		ada, admin := s.User("ada"), s.Administrator()
		stl := servertest.Mesh(t, "hschendel_simple_bin.stl")
		publish := func() string {
			id := ada.Thing("A thing")
			ada.Finalize("thing", id, ada.Upload("a.stl", stl)).Want(t, 200)
			ada.Publish(id).Want(t, 200)
			admin.Query(`mutation ($id: ID!) { featureThing(input: {id: $id}) { thing { id } } }`,
				servertest.Object{"id": servertest.ID(id)}, new(any))
			return servertest.ID(id)
		}
		var there []string
		for range 15 {
			there = append(there, publish())
		}
		stop, done := make(chan struct{}), sync.WaitGroup{}
		done.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					publish()
					s.Fold()
				}
			}
		})
		for _, sort := range []string{"NEWEST", "POPULAR", "FEATURED", "NAME"} {
			l := walked{"Query.things", "sort: " + sort, "LIST", "key: id", ""}
			for _, way := range []string{"forward", "backward"} {
				seen, args := make(map[string]int), servertest.Object{"first": 2}
				if way == "backward" {
					args = servertest.Object{"last": 2}
				}
				for parts := 0; ; parts++ {
					p := l.part(t, ada, args)
					for _, key := range p.keys(t, l.String()) {
						seen[key]++
					}
					more := p.PageInfo.HasNextPage
					if way == "forward" {
						args["after"] = p.PageInfo.EndCursor
					} else {
						more, args["before"] = p.PageInfo.HasPreviousPage, p.PageInfo.StartCursor
					}
					if !more || parts == 200 {
						break
					}
				}
				for _, id := range there {
					if seen[id] == 0 {
						t.Errorf("%v %s: thing %s was passed over", l, way, id)
					}
				}
				for id, n := range seen {
					if n > 1 {
						t.Errorf("%v %s: thing %s came %d times", l, way, id, n)
					}
				}
			}
		}
		close(stop)
		done.Wait()
	})
}

const nested = `{ things(first: 30) { nodes { name creator { username } tags { name thingCount } image { name publicUrl } files { name size downloadCount creator { username } } fileCount
	makes(first: 3) { nodes { name creator { username } image { name } } } comments(first: 3) { nodes { body creator { username } files { name } replies(first: 2) { nodes { id } } } }
	likers(first: 2) { totalCount nodes { id } } ancestors { nodes { id } } remixes { nodes { id creator { username } } } category { name parent { name } } isLiked isCollected } } }`

// costs are the requests whose statements are counted. Those that begin with / are REST requests,
// with %[1]s for a user and %[2]s for a thing.
var costs = []struct{ name, request string }{
	{"things, nested", nested},
	{"four lists of each thing",
		`{ things(first: 100) { nodes { comments(first: 3) { nodes { body } } makes(first: 3) { edges { node { name } } } likers(first: 3) { nodes { username } } files(first: 3) { name } } } }`},
	{"things of the categories of things",
		`{ things(first: 30) { nodes { category { name things(first: 3) { nodes { id } } parent { things(first: 3) { totalCount } } } } } }`},
	{"things of the tags of things",
		`{ things(first: 30) { nodes { tags { name things(first: 3) { totalCount nodes { id } } } } } }`},
	{"what users of things do", `{ things(first: 30) { nodes { creator { isFollowed things(first: 3) { totalCount nodes { id image { name } } } likedThings(first: 3) { nodes { id } } makes(first: 3) { nodes { id } }
		collections(first: 3) { nodes { name things(first: 2) { nodes { id } } } } followers(first: 3) { nodes { username } } following(first: 3) { totalCount } } } } }`},
	{"makes", `{ makes(first: 30) { nodes { isLiked thing { name creator { username } } creator { username } files { name } likers(first: 2) { nodes { username } } comments(first: 2) { nodes { creator { username } parent { id } replies(first: 2) { totalCount } } } } } }`},
	{"comments", `{ comments(first: 30) { nodes { creator { username } files { name } parent { body creator { username } } replies(first: 2) { nodes { creator { username } } } target { ... on Thing { name creator { username } } ... on Make { name thing { name } } } } } }`},
	{"collections", `{ collections(first: 30) { nodes { name creator { username } things(first: 2) { totalCount nodes { name creator { username } } } } } }`},
	{"search of things",
		`{ search(query: "thing", first: 30) { totalCount nodes { ... on Thing { name creator { username } tags { name } image { name } } } } }`},
	{"search of makes", `{ search(type: MAKES, first: 30) { nodes { ... on Make { name thing { name } creator { username } } } } }`},
	{"feed", `{ me { feed(first: 30) { totalCount nodes { ... on Thing { name creator { username } image { name } } ... on Make { name thing { name } creator { username } } ... on Collection { name creator { username } } } } } }`},
	{"users", `{ users(first: 30, sort: NAME) { totalCount nodes { username isFollowed things(first: 2) { nodes { id } } } } }`},
	{"search of users", `{ search(type: USERS, first: 30) { nodes { ... on User { username isFollowed things(first: 2) { nodes { id } } } } } }`},
	{"search of collections",
		`{ search(type: COLLECTIONS, first: 30) { nodes { ... on Collection { name creator { username } things(first: 2) { nodes { name } } } } } }`},
	{"downloads", `{ me { downloads(first: 30) { nodes { createdAt thing { name creator { username } } file { name target { ... on Thing { name } } } } } downloadedThings(first: 30) { nodes { name tags { name } } } } }`},
	{"popularity", `{ things(first: 30) { nodes { popularity { score days { day users } } } } }`},
	{"REST newest", "/newest"},
	{"REST popular", "/popular"},
	{"REST featured", "/featured"},
	{"REST search", "/search/thing"},
	{"REST tags", "/tags"},
	{"REST categories", "/categories"},
	{"REST things of a category", "/categories/chess/things"},
	{"REST collections", "/collections"},
	{"REST copies", "/copies"},
	{"REST comments", "/comments"},
	{"REST thing", "/things/%[2]s"},
	{"REST threads of a thing", "/things/%[2]s/threaded-comments"},
	{"REST copies of a thing", "/things/%[2]s/copies"},
	{"REST likes of a thing", "/things/%[2]s/likes"},
	{"REST derivatives of a thing", "/things/%[2]s/derivatives"},
	{"REST user", "/users/%[1]s"},
	{"REST things of a user", "/users/%[1]s/things"},
	{"REST likes of a user", "/users/%[1]s/likes"},
	{"REST collections of a user", "/users/%[1]s/collections"},
	{"REST copies of a user", "/users/%[1]s/copies"},
	{"REST downloads of a user", "/users/%[1]s/downloads"},
}

// cost returns the number of statements of a request: the minimum of several measurements, because
// jobs also send statements.
func cost(t *testing.T, s *servertest.Server, c *servertest.Client, request, user, thing string) int64 {
	t.Helper()
	least := int64(1 << 62)
	for range 8 {
		before := s.RequestStatements()
		if strings.HasPrefix(request, "/") {
			path := request
			if strings.Contains(path, "%") {
				path = strings.NewReplacer("%[1]s", user, "%[2]s", thing).Replace(path)
			}
			c.Get(path).Want(t, 200)
		} else {
			servertest.Decode(t, c.GraphQL(request, nil), new(any))
		}
		least = min(least, s.RequestStatements()-before)
	}
	return least
}

// listFixture fills a catalogue. For each of n users it creates a thing in one of several
// categories, and comments, makes, likes, collections and files on it.
type listFixture struct {
	s          *servertest.Server
	users      []*servertest.Client
	things     []string
	categories []string
}

func (m *listFixture) grow(t *testing.T, n int) {
	t.Helper()
	png := servertest.Mesh(t, "lib3mf_thumbnail.png")
	do := func(c *servertest.Client, document string, vars servertest.Object) string {
		t.Helper()
		r := c.GraphQL(document, vars)
		if len(r.Errors) > 0 {
			t.Fatalf("%s %v: %+v", document, vars, r.Errors)
		}
		if id := servertest.NewID.FindSubmatch(r.Data); id != nil {
			return string(id[1])
		}
		return ""
	}
	for range n {
		i := len(m.users)
		c := m.s.User(fmt.Sprint("user", i))
		stl, picture, note := c.Upload("a.stl", fmt.Append(nil, "solid ", i)), c.Upload("a.png", png),
			c.Upload("b.txt", fmt.Append(nil, "Note ", i))
		thing := do(c, `mutation ($n: String!, $s: String!, $f: [PendingUploadInput!], $t: [String!], $a: [ID!]) { createThing(input: {name: $n, license: CC, category: $s, description: "Thing.", files: $f, tags: $t, ancestorIds: $a}) { thing { newId: id } } }`,
			servertest.Object{"n": fmt.Sprint("Thing ", i), "s": m.categories[i%len(m.categories)],
				"f": []servertest.Object{{"id": servertest.ID(stl)}, {"id": servertest.ID(picture)}},
				"t": []string{"Gear", fmt.Sprint("Tag ", i)}, "a": m.things[max(0, i-3):]})
		do(c, `mutation ($id: ID!) { publishThing(input: {id: $id}) { thing { id } } }`, servertest.Object{"id": thing})
		m.users, m.things = append(m.users, c), append(m.things, thing)
		for _, on := range []string{m.things[0], m.things[i/2], m.things[max(0, i-1)]} {
			target := servertest.Object{"t": servertest.Object{"type": "THING", "id": on}, "id": on}
			root := do(c, `mutation ($t: TargetInput!) { createComment(input: {target: $t, body: "Nice thing."}) { comment { newId: id } } }`, target)
			do(m.users[0], `mutation ($id: ID!) { createComment(input: {parentId: $id, body: "Is it?"}) { comment { newId: id } } }`, servertest.Object{"id": root})
			do(c, `mutation ($id: ID!) { createComment(input: {parentId: $id, body: "It is."}) { comment { newId: id } } }`,
				servertest.Object{"id": root})
			made := do(c, `mutation ($id: ID!) { createMake(input: {thingId: $id}) { make { newId: id } } }`, target)
			do(m.users[max(0, i-1)],
				`mutation ($id: ID!) { createComment(input: {target: {type: MAKE, id: $id}, body: "Well done."}) { comment { newId: id } } }`, servertest.Object{"id": made})
			collection := do(c, `mutation { createCollection(input: {name: "Things"}) { collection { newId: id } } }`, nil)
			do(c, `mutation ($c: ID!, $id: ID!) { addToCollection(input: {collectionId: $c, thingId: $id}) { collection { id } } }`, servertest.Object{"c": collection, "id": on})
			if on != thing {
				do(c, `mutation ($id: ID!) { likeThing(input: {id: $id}) { thing { id } } }`, target)
				do(m.users[0], `mutation ($c: ID!) { likeMake(input: {id: $c}) { make { id } } }`, servertest.Object{"c": made})
			}
			if note != 0 {
				c.Finalize("comment", servertest.Atoi(t, root), note).Want(t, 200)
				c.Finalize("make", servertest.Atoi(t, made), c.Upload("a.png", png)).Want(t, 200)
				note = 0
			}
		}
		if i > 0 {
			do(c, `mutation ($n: String!) { followUser(input: {username: $n}) { user { id } } }`,
				servertest.Object{"n": fmt.Sprint("user", i/2)})
			do(m.users[0], `mutation ($n: String!) { followUser(input: {username: $n}) { user { id } } }`,
				servertest.Object{"n": fmt.Sprint("user", i)})
		}
		m.users[0].Get(fmt.Sprintf("/files/%d/download", stl)).Want(t, 302)
	}
}

// costOf contains the number of statements on the engine that was measured first, by request.
var costOf sync.Map

// TestStatementsAreFew compares the number of statements of each request with the golden file. It
// must not grow with the number of objects, and must be the same on both engines.
func TestStatementsAreFew(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		m := &listFixture{s: s, things: []string{}, categories: []string{"math-art", "chess", "pets", "math", "audio",
			"rings", "diy", "dice"}}
		m.grow(t, 3)
		admin := s.Administrator()
		feature := func() {
			for _, thing := range m.things {
				admin.Query(`mutation ($id: ID!) { featureThing(input: {id: $id}) { thing { id } } }`,
					servertest.Object{"id": thing}, new(any))
			}
			s.Fold()
		}
		who := func(request string) *servertest.Client {
			if strings.Contains(request, "popularity") {
				return admin
			}
			return m.users[0]
		}
		feature()
		few := make(map[string]int64)
		for _, c := range costs {
			few[c.name] = cost(t, s, who(c.request), c.request, "user0", m.things[0])
		}
		m.grow(t, 9)
		feature()
		engine := filepath.Base(t.Name())
		for _, c := range costs {
			many := cost(t, s, who(c.request), c.request, "user0", m.things[0])
			if many != few[c.name] || few[c.name] == 0 {
				t.Errorf("%s: 12 of each cost %d statements, 3 cost %d", c.name, many, few[c.name])
			}
			if other, again := costOf.LoadOrStore(c.name, many); again && other != many {
				t.Errorf("%s: %d statements on %s, %d on the other engine", c.name, many, engine, other)
			}
		}
		lines := make([]string, len(costs))
		for i, c := range costs {
			lines[i] = fmt.Sprintf("%s: %d", c.name, few[c.name])
		}
		path := filepath.Join("testdata", "statements.golden")
		if *servertest.Update {
			if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			return
		}
		kept, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		want := strings.Split(strings.TrimSpace(string(kept)), "\n")
		for i, line := range lines {
			if !slices.Contains(want, line) {
				t.Errorf("%q is not in %s, which has %q at its place: go test ./test/graphql -run TestStatementCounts -update keeps it", line, path, append(want, make([]string, len(lines))...)[i])
			}
		}
		if len(want) != len(lines) {
			t.Errorf("%s has %d lines, want %d", path, len(want), len(lines))
		}
	})
}
