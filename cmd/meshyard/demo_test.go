package main_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/demo"
)

// TestDemo checks that the demo fills a new server, that each of its things gets a picture (on
// SQLite only), and that it is refused on a server with users or content.
func TestDemo(t *testing.T) {
	t.Parallel()
	binary := buildBinary(t)
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			c := newCatalogue(t, binary, databaseOn(t, engine))
			c.run("user", "create", "admin", "--admin") // as serve does at the first start
			if out := c.run("demo"); !strings.Contains(out, "the demo has 5 users, 21 things and 5 collections") {
				t.Errorf("demo printed %q", out)
			}
			c.refuses(map[string]string{"demo": "the server has users or content"})
			// Rendering takes most of the time and does not depend on the engine.
			renders := engine == "sqlite"
			if !renders {
				c.env = []string{"MESHYARD_PREVIEW_WORKERS=0"}
			}
			s := c.serve()
			const query = `{
				things(first: 100) { totalCount nodes { name image { thumbnail(width: 300, height: 300) { url } } } }
				featured: things(filter: {isFeatured: true}) { totalCount }
				makes(first: 100) { totalCount nodes { image { thumbnail(width: 300, height: 300) { url } } } }
				thing(id: 21) { name license commentCount makeCount likeCount downloadCount }
			}`
			type image struct{ Thumbnail *struct{ URL string } }
			var got struct {
				Data struct {
					Things struct {
						TotalCount int
						Nodes      []struct {
							Name  string
							Image *image
						}
					}
					Featured struct{ TotalCount int }
					Makes    struct {
						TotalCount int
						Nodes      []struct{ Image *image }
					}
					Thing json.RawMessage
				}
				Errors json.RawMessage
			}
			body, err := json.Marshal(map[string]string{"query": query})
			if err != nil {
				t.Fatal(err)
			}
			shown := func(i *image) bool {
				return i != nil && i.Thumbnail != nil && i.Thumbnail.URL != "" || !renders
			}
			waitFor(t, "the pictures of all things and makes", func() bool {
				r, err := http.Post(s.url+"/graphql", "application/json", bytes.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				defer r.Body.Close()
				text, err := io.ReadAll(r.Body)
				if err == nil {
					err = json.Unmarshal(text, &got)
				}
				if err != nil || got.Errors != nil {
					t.Fatalf("%v: %s", err, text)
				}
				for _, n := range got.Data.Things.Nodes {
					if !shown(n.Image) {
						return false
					}
				}
				for _, n := range got.Data.Makes.Nodes {
					if !shown(n.Image) {
						return false
					}
				}
				return true
			})
			makes := 0
			for _, thing := range demo.Things {
				makes += len(thing.Makes)
			}
			d := got.Data
			if d.Things.TotalCount != len(demo.Things) || d.Makes.TotalCount != makes || d.Featured.TotalCount != 4 {
				t.Errorf("%d things, %d makes and %d featured things, want %d, %d and 4",
					d.Things.TotalCount, d.Makes.TotalCount, d.Featured.TotalCount, len(demo.Things), makes)
			}
			const want = `{"name":"Twisted vase","license":"CC_SA","commentCount":2,` +
				`"makeCount":2,"likeCount":4,"downloadCount":4}`
			if string(d.Thing) != want {
				t.Errorf("got the thing %s, want %s", d.Thing, want)
			}
			if _, rows, _ := strings.Cut(c.run("preview", "list"), "\n"); rows != "" {
				t.Errorf("previews failed:\n%s", rows)
			}
		})
	}
	t.Run("a server with a user", func(t *testing.T) {
		c := newCatalogue(t, binary, "")
		c.run("user", "create", "ada")
		c.refuses(map[string]string{"demo": "the server has users or content"})
	})
}
