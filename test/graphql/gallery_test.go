package graphql_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/config"
	webgallery "github.com/meshyard/meshyard/internal/web/gallery"
	"github.com/meshyard/meshyard/test/servertest"
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
const maxPageStatements = 7

// galleryPages are the documents of the most visited pages.
var galleryPages = []string{"home", "search", "thing"}

// TestGallery runs the documents that the gallery sends, as a creator, a visitor and an
// administrator, and compares the expense of each with the table.
func TestGallery(t *testing.T) {
	texts := make(map[string]string)
	for _, document := range webgallery.Documents() {
		texts[document.Name] = document.Text
		if !slices.ContainsFunc(galleryUses, func(u galleryUse) bool { return u.document == document.Name }) {
			t.Errorf("galleryUses has no use of the document %s", document.Name)
		}
	}
	t.Parallel()
	servertest.Sequential(t)
	want, err := os.ReadFile(galleryTable)
	if err != nil && !*servertest.Update {
		t.Fatal(err)
	}
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/stalls.stl" {
			<-r.Context().Done() // the import of it is in progress until it is canceled
		}
		_, _ = w.Write([]byte("solid cube"))
	}))
	t.Cleanup(service.Close)
	run := func(t *testing.T, s *servertest.Server, column int) map[string]expense {
		known := map[string]string{} // number of statements by operation
		for line := range strings.Lines(string(want)) {
			fields := strings.Split(line, "\t")
			known[fields[0]] = fields[column]
		}
		g := newGallery(t, s)
		g.addPictures(t)
		callers := map[string]*servertest.Client{"": g.ada, "visitor": s.User("visitor"),
			"staff": s.Client(s.Token("staff", auth.Read, auth.Write, auth.Admin))}
		of := map[string]expense{}
		// Use the minimum of at least two rounds, because the first one fills caches.
		for round, more := 0, true; more && round < 10; round++ {
			more = round == 0
			callers["guest"] = s.User("guest") // deletes the account in each round
			values := map[string]string{
				"service": service.URL,
				"thing":   g.thing, "remix": g.remix, "make": g.make, "collection": g.collection, "comment": g.comment,
				"file": g.file, "user": servertest.NodeID(t, g.ada),
			}
			for _, use := range galleryUses {
				name, _, _ := strings.Cut(use.document, " (")
				got := use.run(t, s, callers[use.caller], texts[name], values)
				name = use.document
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
	sources := func(s *config.Settings) {
		// Responses contain the path.
		s.Library = []config.Library{{Name: "models", Dir: filepath.Join("testdata", "library")}}
		s.LinkLimit, s.LinkAllowPrivate = 1<<20, true
	}
	var lite, pg map[string]expense
	t.Run("sqlite", func(t *testing.T) { lite = run(t, servertest.Start(t, "sqlite", sources), 2) })
	t.Run("postgres", func(t *testing.T) { pg = run(t, servertest.Start(t, "postgres", sources), 3) })
	if t.Failed() {
		return
	}
	table := "operation\tcost\tstatements on SQLite\tstatements on PostgreSQL\tbytes\n"
	for _, name := range slices.Sorted(maps.Keys(lite)) {
		if lite[name].cost != pg[name].cost || lite[name].bytes != pg[name].bytes {
			t.Errorf("%s: takes %+v on SQLite and %+v on PostgreSQL", name, lite[name], pg[name])
		}
		if n := max(lite[name].statements, pg[name].statements); slices.Contains(galleryPages, name) &&
			n > maxPageStatements {
			t.Errorf("%s: takes %d statements, want at most %d", name, n, maxPageStatements)
		}
		table += fmt.Sprintf("%s\t%d\t%d\t%d\t%d\n", name, lite[name].cost, lite[name].statements, pg[name].statements,
			lite[name].bytes)
	}
	if *servertest.Update {
		if err := os.WriteFile(galleryTable, []byte(table), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if string(want) != table && !*servertest.Update {
		t.Errorf("got\n%s\nwant, as in %s,\n%s", table, galleryTable, want)
	}
}

// addPictures adds avatars of ada and bob, and pictures to all previews.
func (g *gallery) addPictures(t *testing.T) {
	t.Helper()
	for i, name := range []string{"ada", "bob"} {
		user := g.s.Client(g.s.Token(name, auth.Read, auth.Write))
		avatar := servertest.Image(t, uint32(i))
		user.Query(`mutation ($id: ID!) { updateProfile(input: {avatarId: $id}) { user { id } } }`,
			servertest.Object{"id": servertest.ID(user.Upload("a.png", avatar))}, new(any))
	}
	g.exec(t, "UPDATE previews SET state = 'done', picture = 'png', width = 640, height = 480")
}

// run sends the text of the document, and adds the created object to the values.
func (u galleryUse) run(t *testing.T, s *servertest.Server, c *servertest.Client, text string,
	values map[string]string) expense {
	t.Helper()
	var variables servertest.Object
	if u.variables != "" {
		if err := json.Unmarshal([]byte(os.Expand(u.variables, func(name string) string { return values[name] })),
			&variables); err != nil {
			t.Fatalf("%s: %v", u.document, err)
		}
	}
	input, _ := variables["input"].(map[string]any)
	file, upload := input["file"].(string)
	before := s.RequestStatements()
	var data json.RawMessage
	var cost int64
	if upload {
		input["file"] = nil
		content := []byte("solid gallery\nendsolid gallery\n")
		if filepath.Ext(file) == ".png" {
			content = servertest.Mesh(t, "lib3mf_thumbnail.png")
		}
		result := c.GraphQLUpload(text, variables, "input.file", file, content)
		if len(result.Errors) > 0 {
			t.Fatalf("%s: %+v", text, result.Errors)
		}
		data = result.Data
	} else {
		request := c.Request(http.MethodPost, "/graphql", servertest.Object{"query": text, "variables": variables,
			"extensions": servertest.Object{"cost": true}})
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
	if name, at, ok := strings.Cut(u.created, "="); ok {
		values[name] = textAt(t, data, at)
	}
	return took
}

// textAt returns the text at a path of keys and indexes, such as invitations.0.id.
func textAt(t *testing.T, data json.RawMessage, at string) string {
	t.Helper()
	var found any
	if err := json.Unmarshal(data, &found); err != nil {
		t.Fatal(err)
	}
	for _, key := range strings.Split(at, ".") {
		switch v := found.(type) {
		case map[string]any:
			found = v[key]
		case []any:
			found = v[servertest.Must(strconv.Atoi(key))(t)]
		}
	}
	text, ok := found.(string)
	if !ok {
		t.Fatalf("%s has no text at %s", data, at)
	}
	return text
}

var unsteady = regexp.MustCompile(
	`"lastUsedAt":(null|"[^"]+")|\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)|expires=\d+|signature=[\w-]+|"value":"[^"]*"|"(id|fileId|startCursor|endCursor)":"[^"]*"|/\d+`)

// steady removes from a response what differs from run to run: times, IDs, signatures and the
// server's address. Cursors contain IDs, and PostgreSQL may skip some. It also removes the last use
// of a token, which is written in the background and may be null.
func steady(data []byte, address string) []byte {
	return unsteady.ReplaceAll([]byte(strings.ReplaceAll(string(data), address, "")), nil)
}
