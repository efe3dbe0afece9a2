package main_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// TestImportDownloadedZIP imports the ZIP files of things, as downloads and unpacked, and compares
// the things: with an origin and files in folders that have the names of the credit, and with
// neither.
func TestImportDownloadedZIP(t *testing.T) {
	t.Parallel()
	binary := buildBinary(t)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"Dragon/thing.json": `{"name": "The [Dragon]", "description": "A **dragon**, not for sale?", "instructions": "Print\n\nit.", "category": "Tools", "tags": ["dragon", "a b"], "license": "GPL-2.0-or-later",
			"creator": "Bob B.", "creatorUrl": "https://cults3d.com/en/users/bob", "url": "https://cults3d.com/en/3d-model/dragon", "sensitive": true}`,
		"Dragon/LICENSE.txt": "Ask me.", "Dragon/Docs/README.md": "A manual.", "Dragon/Supported/Größe.stl": "solid a",
		"Dragon/Supported/größe.stl": "solid A", "Dragon/Unsupported/dragon.stl": "solid b",
		"Dragon/Extras/datapackage.json": `{"title": "Other"}`,
		"Dragon/look.svg":                `<svg xmlns="http://www.w3.org/2000/svg"/>`,
		"Gear/thing.json":                `{"name": "Gear", "description": "Round."}`, "Gear/gear.stl": "solid gear",
	} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			c := newCatalogue(t, binary, databaseOn(t, engine))
			for _, name := range []string{"ada", "bob"} {
				c.run("user", "create", name)
			}
			c.run("import", "folder", dir, "--owner", "ada")
			s := c.serve()
			cl := newClient(s.url)
			ada := &user{name: "ada", token: strings.TrimSpace(c.run("token", "create", "ada"))}
			bob := &user{name: "bob", token: strings.TrimSpace(c.run("token", "create", "bob"))}
			things := func(u *user) (nodes []map[string]any) {
				t.Helper()
				query, _ := json.Marshal(map[string]string{"query": `{ me { things(first: 9) { nodes { id name description instructions isNsfw category { name } tags { name } licenseInfo { spdxId }
					origin { creator creatorUrl url site } files { path kind sha256 } } } } }`})
				a, err := cl.send(u, http.MethodPost, "/graphql", "application/json", strings.NewReader(string(query)))
				if err != nil {
					t.Fatal(err)
				}
				var got struct {
					Data struct {
						Me struct {
							Things struct{ Nodes []map[string]any }
						}
					}
				}
				if err := json.Unmarshal(a.body, &got); err != nil || len(got.Data.Me.Things.Nodes) == 0 {
					t.Fatalf("got %v, %s", err, a.body)
				}
				return got.Data.Me.Things.Nodes
			}
			var archives []string
			want := map[any]map[string]any{}
			for _, thing := range things(ada) {
				id := thing["id"].(string)
				a, err := cl.send(ada, http.MethodGet, "/thing:"+id+"/zip", "", nil)
				if err != nil || a.status != http.StatusOK {
					t.Fatalf("got %v, %+v", err, a)
				}
				archive := filepath.Join(t.TempDir(), "renamed.zip")
				if err := os.WriteFile(archive, a.body, 0o600); err != nil {
					t.Fatal(err)
				}
				archives = append(archives, archive)
				if thing["origin"] == nil { // the copy has the page of the thing
					thing["origin"] = map[string]any{"creator": "ada", "creatorUrl": s.url + "/ada", "url": s.url + "/thing:" + id,
						"site": "Meshyard"}
				}
				delete(thing, "id")
				want[thing["name"]] = thing
			}
			if n := len(want["The [Dragon]"]["files"].([]any)); n != 7 {
				t.Fatalf("the dragon has %d files, want 7: %v", n, want)
			}
			out := c.run(append([]string{"import", "zip", "--owner", "bob"}, archives...)...)
			if !strings.Contains(out, "imported 2 things with 8 files") {
				t.Errorf("import zip: %q", out)
			}
			for _, thing := range things(bob) {
				delete(thing, "id")
				if name := thing["name"]; !reflect.DeepEqual(thing, want[name]) {
					t.Errorf("the copy is\n%v, want\n%v", thing, want[name])
				}
				delete(want, thing["name"])
			}
			if len(want) > 0 {
				t.Errorf("got no copy of %v", want)
			}
			if out := c.run(append([]string{"import", "zip", "--owner", "bob"}, archives...)...); !strings.Contains(out,
				"2 had been imported before") {
				t.Errorf("import zip again: %q", out)
			}
			c.stop(s)
		})
	}
}
