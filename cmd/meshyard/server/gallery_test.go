package server_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/cmd/meshyard/server/servertest"
	"github.com/meshyard/meshyard/internal/auth"
	webgallery "github.com/meshyard/meshyard/internal/gallery"
)

// galleryTable lists the cost, the number of statements on both engines, and the response size in
// bytes of each operation of a gallery.
var galleryTable = filepath.Join("testdata", "gallery.tsv")

// expense is the cost, the number of statements, and the response size of an operation.
type expense struct {
	cost, statements int64
	bytes            int
}

// maxPageStatements is the maximum number of statements of each of the galleryPages.
const maxPageStatements = 6

// galleryPages are the documents of the most visited pages, by operation. The gallery sends exactly
// these documents.
var galleryPages = map[string]string{"01-home": "home", "04-search": "search", "07-thing": "thing"}

// TestGallery runs the operations that the pages of a gallery need, as a visitor, a creator and a
// moderator, and compares the expense of each with the table.
func TestGallery(t *testing.T) {
	texts := make(map[string]string)
	names, err := filepath.Glob("../../../graph/testdata/gallery/*.graphql")
	if err != nil || len(names) < 30 {
		t.Fatalf("%d operations, want 30: %v", len(names), err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts[strings.TrimSuffix(filepath.Base(name), ".graphql")] = string(text)
	}
	for name, page := range galleryPages {
		for _, document := range webgallery.Documents() {
			if document.Name == page {
				texts[name] = document.Text
			}
		}
	}
	t.Parallel()
	servertest.Sequential(t)
	want, err := os.ReadFile(galleryTable)
	if err != nil && !*update {
		t.Fatal(err)
	}
	run := func(t *testing.T, s *servertest.Server, column int) map[string]expense {
		known := map[string]string{} // number of statements by operation
		for line := range strings.Lines(string(want)) {
			fields := strings.Split(line, "\t")
			known[fields[0]] = fields[column]
		}
		g := newGallery(t, s)
		g.addPictures(t)
		visitor, admin := s.User("visitor"), s.Client(s.Token("staff", auth.Read, auth.Write, auth.Admin))
		of := map[string]expense{}
		// Use the minimum of at least two rounds, because the first one fills caches.
		for round, more := 0, true; more && round < 10; round++ {
			more = round == 0
			values := object{
				"thing": g.thing, "make": g.make, "collection": g.collection, "file": g.file, "username": "ada", "category": "math-art", "tag": "Gear", "words": "thing",
				"filter": nil, "after": nil, "user": nodeID(t, g.ada),
				"id": g.remix, "query": "thing", "type": "THINGS", "sort": "RELEVANT", "facets": true,
			}
			for _, name := range slices.Sorted(maps.Keys(texts)) {
				caller := map[byte]*servertest.Client{'4': visitor, '5': admin}[name[0]]
				if caller == nil {
					caller = g.ada
				}
				got := runOperation(t, s, caller, texts[name], values)
				// Keep the cost and the size of the first round: each round changes data that later ones read.
				if first, ok := of[name]; ok {
					got = expense{first.cost, min(got.statements, first.statements), first.bytes}
				}
				of[name] = got
				more = more || known[name] != strconv.FormatInt(got.statements, 10)
			}
		}
		return of
	}
	var lite, pg map[string]expense
	t.Run("sqlite", func(t *testing.T) { lite = run(t, servertest.Start(t, "sqlite"), 2) })
	t.Run("postgres", func(t *testing.T) { pg = run(t, servertest.Start(t, "postgres"), 3) })
	if t.Failed() {
		return
	}
	table := "operation\tcost\tstatements on SQLite\tstatements on PostgreSQL\tbytes\n"
	for _, name := range slices.Sorted(maps.Keys(lite)) {
		if lite[name].cost != pg[name].cost || lite[name].bytes != pg[name].bytes {
			t.Errorf("%s: takes %+v on SQLite and %+v on PostgreSQL", name, lite[name], pg[name])
		}
		if n := max(lite[name].statements, pg[name].statements); galleryPages[name] != "" && n > maxPageStatements {
			t.Errorf("%s: takes %d statements, want at most %d", name, n, maxPageStatements)
		}
		table += fmt.Sprintf("%s\t%d\t%d\t%d\t%d\n", name, lite[name].cost, lite[name].statements, pg[name].statements, lite[name].bytes)
	}
	if *update {
		if err := os.WriteFile(galleryTable, []byte(table), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if string(want) != table && !*update {
		t.Errorf("got\n%s\nwant, as in %s,\n%s", table, galleryTable, want)
	}
}

// addPictures adds avatars of ada and bob, and pictures to all previews.
func (g *gallery) addPictures(t *testing.T) {
	t.Helper()
	for i, name := range []string{"ada", "bob"} {
		user := g.s.Client(g.s.Token(name, auth.Read, auth.Write))
		avatar := servertest.Image(t, uint32(i))
		user.Query(`mutation ($id: ID!) { updateProfile(input: {avatarId: $id}) { user { id } } }`, object{"id": servertest.ID(user.Upload("a.png", avatar))}, new(any))
	}
	g.exec(t, "UPDATE previews SET state = 'done', picture = 'png', width = 640, height = 480")
}

// nodeID returns the nodeId of the caller's user.
func nodeID(t testing.TB, c *servertest.Client) string {
	t.Helper()
	var found struct{ Me struct{ NodeID string } }
	c.Query(`{ me { nodeId } }`, nil, &found)
	return found.Me.NodeID
}

var variable = regexp.MustCompile(`\$(\w+): ?(\w+)`)

// runOperation runs an operation with those of the values that it declares as variables, and adds
// the IDs of the objects that it creates to the values.
func runOperation(t *testing.T, s *servertest.Server, c *servertest.Client, text string, values object) expense {
	t.Helper()
	variables, upload := object{}, false
	for _, v := range variable.FindAllStringSubmatch(strings.SplitAfterN(text, "{", 2)[0], -1) {
		value, ok := values[v[1]]
		if upload = v[2] == "Upload"; !ok && !upload {
			t.Fatalf("%s: no value for $%s", text, v[1])
		}
		variables[v[1]] = value
	}
	before := s.RequestStatements()
	var data json.RawMessage
	var cost int64
	if upload {
		result := c.GraphQLUpload(text, variables, "upload", "gallery.stl", []byte("solid gallery\nendsolid gallery\n"))
		if len(result.Errors) > 0 {
			t.Fatalf("%s: %+v", text, result.Errors)
		}
		data = result.Data
	} else {
		request := c.Request(http.MethodPost, "/graphql", object{"query": text, "variables": variables, "extensions": object{"cost": true}})
		request.Header.Set("Content-Type", "application/json")
		var response struct {
			Data       json.RawMessage
			Errors     []any
			Extensions struct{ Cost struct{ Requested int64 } }
		}
		if err := json.Unmarshal(c.Send(request).Bytes, &response); err != nil || len(response.Errors) > 0 {
			t.Fatalf("%s %v: %v %v", text, variables, err, response.Errors)
		}
		data, cost = response.Data, response.Extensions.Cost.Requested
	}
	took := expense{cost, s.RequestStatements() - before, len(steady(data, s.URL))}
	if strings.HasPrefix(text, "mutation") {
		var payloads map[string]map[string]struct{ ID string }
		_ = json.Unmarshal(data, &payloads) // payloads without an object, such as lists, have no ID
		for _, payload := range payloads {
			for noun, created := range payload {
				if created.ID != "" {
					values[noun] = created.ID
				}
			}
		}
	}
	return took
}

var unsteady = regexp.MustCompile(`"lastUsedAt":(null|"[^"]+")|\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)|expires=\d+|signature=[\w-]+|"value":"[^"]*"|"(id|fileId|startCursor|endCursor)":"[^"]*"|/\d+`)

// steady removes from a response what differs from run to run: times, IDs, signatures and the
// server's address. Cursors contain IDs, and PostgreSQL may skip some. It also removes the last use
// of a token, which is written in the background and may be null.
func steady(data []byte, address string) []byte {
	return unsteady.ReplaceAll([]byte(strings.ReplaceAll(string(data), address, "")), nil)
}
