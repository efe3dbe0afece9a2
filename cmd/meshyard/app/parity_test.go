package app_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/formatter"
	"github.com/vektah/gqlparser/v2/parser"

	"github.com/meshyard/meshyard/cmd/meshyard/app/apptest"
	"github.com/meshyard/meshyard/rest"
)

// step is one operation, sent by REST to one server and as its stored document to another.
type step struct {
	operation    string
	method, path string
	body         map[string]any
	variables    map[string]any // of the document
	file         string         // for an upload
	bob          bool           // called by bob and not by ada
}

// The steps of the parity test. Ids count up alike on both servers.
var paritySteps = []step{
	{operation: "post_files_0_upload_file", method: "POST", path: "/files/0/uploadFile", file: "hschendel_simple_bin.stl"},
	{operation: "post_files_0_upload_file", method: "POST", path: "/files/0/uploadFile", file: "lib3mf_thumbnail.png"},
	{operation: "post_files_0_upload_file", method: "POST", path: "/files/0/uploadFile", file: "own_assembly.pdf"},
	{
		operation: "post_things", method: "POST", path: "/things",
		body:      map[string]any{"name": "Bracket", "license": "ccsa", "category": "Tools", "description": "Holds *much*.", "tags": []string{"holder", "Wall Mount"}, "is_wip": 1, "files": []any{map[string]any{"id": 3, "type": "pending"}}},
		variables: map[string]any{"name": "Bracket", "license": "CC_SA", "category": "Tools", "description": "Holds *much*.", "tags": []string{"holder", "Wall Mount"}, "is_wip": true, "files": []any{map[string]any{"id": "3"}}},
	},
	{operation: "post_things", method: "POST", path: "/things", body: map[string]any{"name": " ", "license": "cc", "category": "Tools"}, variables: map[string]any{"name": " ", "license": "CC", "category": "Tools"}},
	{operation: "post_things", method: "POST", path: "/things", body: map[string]any{"name": "x", "license": "cc", "category": "Shelf"}, variables: map[string]any{"name": "x", "license": "CC", "category": "Shelf"}},
	{operation: "post_things_thing_id_publish", method: "POST", path: "/things/1/publish", variables: map[string]any{"thing_id": "1"}},
	{operation: "get_things_thing_id", method: "GET", path: "/things/1", variables: map[string]any{"thing_id": "1"}, bob: true},
	{operation: "post_files_0_finalize_files", method: "POST", path: "/files/0/FinalizeFiles", body: map[string]any{"pending_uploads": []any{map[string]any{"id": 1, "rank": 5}, map[string]any{"id": "2"}}, "target_id": "1", "target_type": "thing"}, variables: map[string]any{"pending_uploads": []any{map[string]any{"id": "1", "rank": 5}, map[string]any{"id": "2"}}, "target_id": "1", "target_type": "THING"}},
	{operation: "get_files_file_id", method: "GET", path: "/files/1", variables: map[string]any{"file_id": "1"}},
	{operation: "get_files_file_id", method: "GET", path: "/files/1", variables: map[string]any{"file_id": "1"}, bob: true},
	{operation: "get_files_file_id_download", method: "GET", path: "/files/1/download", variables: map[string]any{"file_id": "1"}, bob: true},
	{operation: "post_things_thing_id_publish", method: "POST", path: "/things/1/publish", variables: map[string]any{"thing_id": "1"}, bob: true},
	{operation: "post_things_thing_id_publish", method: "POST", path: "/things/1/publish", variables: map[string]any{"thing_id": "1"}},
	{operation: "get_things_thing_id", method: "GET", path: "/things/1", variables: map[string]any{"thing_id": "1"}, bob: true},
	{operation: "get_things_thing_id", method: "GET", path: "/things/77", variables: map[string]any{"thing_id": "77"}},
	{operation: "get_things_thing_id_files", method: "GET", path: "/things/1/files", variables: map[string]any{"thing_id": "1"}},
	{operation: "get_things_thing_id_files", method: "GET", path: "/things/1/files?file_id=3", variables: map[string]any{"thing_id": "1", "file_id": []string{"3"}}},
	{operation: "get_files_file_id_download", method: "GET", path: "/files/1/download", variables: map[string]any{"file_id": "1"}, bob: true},
	{operation: "get_files_file_id_download", method: "GET", path: "/files/2/download", variables: map[string]any{"file_id": "2"}},
	{operation: "head_files_file_id_download", method: "HEAD", path: "/files/1/download", variables: map[string]any{"file_id": "1"}, bob: true},
	{operation: "head_files_file_id_download", method: "HEAD", path: "/files/77/download", variables: map[string]any{"file_id": "77"}, bob: true},
	{operation: "get_users_username_downloads", method: "GET", path: "/users/bob/downloads?per_page=5", variables: map[string]any{"username": "bob", "page": 1, "per_page": 5}, bob: true},
	{operation: "get_users_username_downloads", method: "GET", path: "/users/bob/downloads", variables: map[string]any{"username": "bob", "page": 1, "per_page": 30}},
	{operation: "get_users_username_downloads", method: "GET", path: "/users/carl/downloads", variables: map[string]any{"username": "carl", "page": 1, "per_page": 30}},
	{operation: "post_things_thing_id_files", method: "POST", path: "/things/1/files", body: map[string]any{"filename": "more.stl"}, variables: map[string]any{"thing_id": "1", "filename": "more.stl"}},
	{operation: "post_things_thing_id_files", method: "POST", path: "/things/1/files", body: map[string]any{"filename": "more.stl"}, variables: map[string]any{"thing_id": "1", "filename": "more.stl"}, bob: true},
	{operation: "post_files_file_id_finalize", method: "POST", path: "/files/4/finalize", variables: map[string]any{"file_id": "4"}},
	{operation: "post_files_file_id_finalize", method: "POST", path: "/files/1/finalize", variables: map[string]any{"file_id": "1"}},
	{operation: "get_files_file_id_finalize", method: "GET", path: "/files/1/finalize", variables: map[string]any{"file_id": "1"}, bob: true},
	{operation: "get_files_file_id_finalize", method: "GET", path: "/files/3/finalize", variables: map[string]any{"file_id": "3"}},
	{operation: "post_things_thing_id_copies", method: "POST", path: "/things/1/copies", body: map[string]any{"filename": "made.jpg", "description": "Mine."}, variables: map[string]any{"thing_id": "1", "filename": "made.jpg", "description": "Mine."}, bob: true},
	{operation: "post_copies_copy_id_images", method: "POST", path: "/copies/1/images", body: map[string]any{"filename": "again.jpg"}, variables: map[string]any{"copy_id": "1", "filename": "again.jpg"}, bob: true},
	{operation: "post_copies_copy_id_images", method: "POST", path: "/copies/1/images", body: map[string]any{"filename": "again.jpg"}, variables: map[string]any{"copy_id": "1", "filename": "again.jpg"}},
}

// Each REST operation and its GraphQL document do the same: the same data, the same verdict, the same side effects.
func TestParity(t *testing.T) {
	for _, name := range rest.Operations() {
		if !slices.ContainsFunc(paritySteps, func(s step) bool { return s.operation == name }) {
			t.Errorf("no step runs %s", name)
		}
	}
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			a, b := apptest.Start(t, engine), apptest.Start(t, engine)
			ada, bob := [2]*apptest.Client{a.User("ada"), b.User("ada")}, [2]*apptest.Client{a.User("bob"), b.User("bob")}
			for i, s := range paritySteps {
				who := ada
				if s.bob {
					who = bob
				}
				name := fmt.Sprintf("step %d, %s %s", i, s.method, s.path)
				viaREST, viaGraphQL := s.byREST(t, who[0]), s.byGraphQL(t, who[1])
				if got, want := codeStatus[viaGraphQL.Code()], viaREST.StatusCode; got != want && !(got == 200 && want == 302) {
					t.Errorf("%s: REST answers %d %s, GraphQL %q %+v", name, want, viaREST.Bytes, viaGraphQL.Code(), viaGraphQL.Errors)
					continue
				}
				if viaREST.StatusCode >= 300 {
					if e := viaGraphQL.Errors; len(e) > 0 && s.method != "HEAD" && !strings.Contains(string(viaREST.Bytes), mustJSON(e[0].Message)) {
						t.Errorf("%s: REST says %s, GraphQL %q", name, viaREST.Bytes, e[0].Message)
					}
					continue
				}
				var data struct{ Answer any }
				if err := json.Unmarshal(viaGraphQL.Data, &data); err != nil {
					t.Fatal(err)
				}
				var answer any
				if err := json.Unmarshal(viaREST.Bytes, &answer); err != nil {
					t.Fatal(err)
				}
				if string(viaREST.Bytes) == `{"ok":"ok"}` {
					continue
				}
				compared := 0
				for _, difference := range differences("", answer, unwrap(data.Answer), &compared) {
					t.Errorf("%s: %s", name, difference)
				}
				if compared == 0 {
					t.Errorf("%s: nothing of %s is in %s", name, viaREST.Bytes, viaGraphQL.Data)
				}
			}
			for i, who := range []string{"ada", "bob"} {
				clients := [][2]*apptest.Client{ada, bob}[i]
				if one, two := everything(clients[0]), everything(clients[1]); one != two {
					t.Errorf("what %s sees afterwards\nby REST:    %s\nby GraphQL: %s", who, one, two)
				}
			}
		})
	}
}

func mustJSON(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

func (s step) byREST(t *testing.T, c *apptest.Client) *apptest.Response {
	if s.file != "" {
		return c.PostForm(s.path, [][2]string{{"type", "model"}}, "file", s.file, apptest.Mesh(t, s.file))
	}
	if s.body == nil {
		return c.Do(s.method, s.path, nil)
	}
	return c.Do(s.method, s.path, s.body)
}

func (s step) byGraphQL(t *testing.T, c *apptest.Client) *apptest.Result {
	document := only(t, s.operation)
	if s.file != "" {
		return c.GraphQLUpload(document, map[string]any{"file": nil, "type": "MODEL"}, "file", s.file, apptest.Mesh(t, s.file))
	}
	return c.GraphQL(document, s.variables)
}

// only cuts one operation, with the fragments that it uses, out of the stored documents.
func only(t *testing.T, name string) string {
	t.Helper()
	all, err := parser.ParseQuery(&ast.Source{Input: rest.Documents()})
	if err != nil {
		t.Fatal(err)
	}
	kept := &ast.QueryDocument{Operations: ast.OperationList{all.Operations.ForName(name)}}
	text := ""
	for changed := true; changed; {
		var b strings.Builder
		formatter.NewFormatter(&b).FormatQueryDocument(kept)
		text, changed = b.String(), false
		for _, f := range all.Fragments {
			if strings.Contains(text, "... "+f.Name) && kept.Fragments.ForName(f.Name) == nil {
				kept.Fragments, changed = append(kept.Fragments, f), true
			}
		}
	}
	return text
}

// unwrap takes off what a payload or a connection puts around the noun.
func unwrap(v any) any {
	for {
		m, ok := v.(map[string]any)
		if !ok || len(m) > 2 {
			return v
		}
		inner := v
		for _, key := range []string{"thing", "upload", "file", "list", "items", "files"} {
			if in, ok := m[key]; ok && (len(m) == 1 || key == "items") {
				inner = in
			}
		}
		if fmt.Sprint(inner) == fmt.Sprint(v) {
			return v
		}
		v = inner
	}
}

// differences tells where an answer of REST and one of GraphQL say different things under the same key.
func differences(key string, wire, graph any, compared *int) []string {
	switch g := graph.(type) {
	case map[string]any:
		w, ok := wire.(map[string]any)
		if !ok {
			return []string{fmt.Sprintf("%s: %v is no object", key, wire)}
		}
		var found []string
		for name, value := range g {
			if in, there := w[name]; there && name != "fields" {
				found = append(found, differences(name, in, value, compared)...)
			}
		}
		return found
	case []any:
		w, ok := wire.([]any)
		if !ok || len(w) != len(g) {
			return []string{fmt.Sprintf("%s: %v and %v", key, wire, graph)}
		}
		var found []string
		for i := range g {
			found = append(found, differences(key, w[i], g[i], compared)...)
		}
		return found
	}
	*compared++
	if w, g := plain(key, wire), plain(key, graph); w != g {
		return []string{fmt.Sprintf("%s: %v by REST, %v by GraphQL", key, wire, graph)}
	}
	return nil
}

var longLicense = map[string]string{"CC_SA": "Creative Commons - Attribution - Share Alike"}

// plain brings a value of either face to one form, as the wire document describes the difference.
func plain(key string, v any) string {
	text := fmt.Sprint(v)
	switch key {
	case "is_published", "is_wip":
		return map[string]string{"true": "1", "false": "0", "PUBLISHED": "1", "DRAFT": "0"}[text] + map[bool]string{true: text}[text == "0" || text == "1"]
	case "license":
		if long := longLicense[text]; long != "" {
			return long
		}
	case "hash":
		if raw, err := hex.DecodeString(text); err == nil {
			return base64.StdEncoding.EncodeToString(raw)
		}
	case "date", "added", "modified":
		for _, layout := range []string{time.RFC3339Nano, time.DateTime} {
			if at, err := time.Parse(layout, text); err == nil {
				// The two servers are asked one after the other.
				return at.UTC().Truncate(time.Hour).String()
			}
		}
	}
	if u, err := url.Parse(text); err == nil && u.Host != "" {
		return u.Path
	}
	return text
}

// everything tells all that a user sees of the world, without times and addresses.
func everything(c *apptest.Client) string {
	const file = "id name kind state size contentType sha256 rank downloadCount owner { username }"
	var seen []string
	for id := 1; id < 9; id++ {
		r := c.GraphQL(`query ($id: ID!) {
			file(id: $id) { `+file+` target { __typename } }
			thing(id: $id) { name state license description isWip tags { name } category { name } files { `+file+` } fileCount makeCount downloadCount }
			make(id: $id) { name state description files { `+file+` } thing { id } }
		}`, map[string]any{"id": id})
		seen = append(seen, string(r.Data))
	}
	r := c.GraphQL(`{ me { username thingCount makeCount downloads { totalCount nodes { file { id } thing { id } } } downloadedThings { totalCount nodes { id } } } }`, nil)
	return strings.Join(append(seen, string(r.Data)), "\n")
}
