package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/meshyard/meshyard/cmd/meshyard/server/servertest"
	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models"
)

// codeStatus is the REST status for a GraphQL error code, as the specification of the legacy wire
// format defines it.
var codeStatus = map[string]int{
	"": 200, "BAD_USER_INPUT": 400, "CONFLICT": 400, "TOO_LARGE": 400, "UNAUTHENTICATED": 401, "FORBIDDEN": 403, "NOT_FOUND": 404,
}

// statusCase is a call by both APIs with the expected status.
type statusCase struct {
	name   string
	caller *servertest.Client
	status int
	rest   func(c *servertest.Client) *servertest.Response
	graph  func(c *servertest.Client) *servertest.Result
}

func (v statusCase) check(t *testing.T) {
	t.Run(strings.ReplaceAll(v.name, " ", "_"), func(t *testing.T) {
		if v.rest != nil {
			r := v.rest(v.caller)
			if r.StatusCode != v.status {
				t.Errorf("REST: got %d, want %d: %s", r.StatusCode, v.status, r.Bytes)
			}
			if v.status >= 400 {
				checkErrorBody(t, r)
			}
		}
		if v.graph != nil {
			g := v.graph(v.caller)
			if got, ok := codeStatus[g.Code()]; !ok || got != v.status {
				t.Errorf("GraphQL: got %+v, want a code of status %d", g.Errors, v.status)
			}
		}
	})
}

// checkErrorBody checks that an error has the documented body.
func checkErrorBody(t *testing.T, r *servertest.Response) {
	t.Helper()
	var body struct {
		Error, Type, Message string
		Code                 int
	}
	if err := json.Unmarshal(r.Bytes, &body); err != nil {
		t.Fatalf("no JSON: %s", r.Bytes)
	}
	words := map[int]string{400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found"}[r.StatusCode]
	if body.Error != words || r.Header.Get("X-Error") != words || body.Code != r.StatusCode || body.Message == "" || body.Type == "" {
		t.Errorf("error %+v, X-Error %q: want %q, code %d, a type and a message", body, r.Header.Get("X-Error"), words, r.StatusCode)
	}
	if (r.StatusCode == 401) != (r.Header.Get("WWW-Authenticate") == "Bearer") {
		t.Errorf("status %d with WWW-Authenticate %q", r.StatusCode, r.Header.Get("WWW-Authenticate"))
	}
}

// world contains the objects that the calls refer to.
type world struct {
	ada, bob                                  *servertest.Client
	thing, draft                              int64 // ada's
	public, hidden                            int64 // ada's files on them
	pending, others                           int64 // ada's upload, bob's upload
	nobody, garbage, expired, revoked, rd, wr *servertest.Client
}

func newWorld(t *testing.T, s *servertest.Server) *world {
	t.Helper()
	w := &world{ada: s.User("ada"), bob: s.User("bob"), nobody: s.Client("")}
	stl := servertest.Mesh(t, "hschendel_simple_bin.stl")
	w.thing, w.draft = w.ada.Thing("Public"), w.ada.Thing("Draft")
	w.public, w.hidden = w.ada.Upload("public.stl", stl), w.ada.Upload("hidden.stl", stl)
	w.ada.Finalize("thing", w.thing, w.public).Want(t, 200)
	w.ada.Finalize("thing", w.draft, w.hidden).Want(t, 200)
	w.ada.Publish(w.thing).Want(t, 200)
	w.pending, w.others = w.ada.Upload("pending.stl", stl), w.bob.Upload("others.stl", stl)

	w.garbage = s.Client("my_" + strings.Repeat("x", 43))
	w.rd, w.wr = s.Client(s.Token("ada", auth.Read)), s.Client(s.Token("ada", auth.Write))
	w.revoked = s.Client(s.Token("ada", auth.Read, auth.Write))
	token, err := s.Store.Admin().CreateToken(context.Background(), "ada", "", auth.Scopes{auth.Read, auth.Write}, time.Microsecond)
	if err != nil {
		t.Fatal(err)
	}
	w.expired = s.Client(token)
	db := openDB(t, s)
	hash, _ := auth.Hash(w.revoked.Token)
	if _, err := db.SQL().Exec("UPDATE tokens SET revoked_at = created_at WHERE sha256 = '" + hash + "'"); err != nil {
		t.Fatal(err)
	}
	return w
}

// openDB opens the database of the server a second time.
func openDB(t *testing.T, s *servertest.Server) *models.DB {
	t.Helper()
	db, err := models.OpenDB(context.Background(), s.Settings.DatabaseURL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = db.Close()
		db = nil // see servertest.RunLogging
	})
	return db
}

// operation is one call by both APIs. id is the ID of a file or another object.
type operation struct {
	name  string
	scope auth.Scope
	rest  func(c *servertest.Client, id any) *servertest.Response
	graph func(c *servertest.Client, id any) *servertest.Result
}

func restCall(method, path string) func(*servertest.Client, any) *servertest.Response {
	return func(c *servertest.Client, id any) *servertest.Response {
		return c.Do(method, fmt.Sprintf(path, id), nil)
	}
}

func graphCall(document string) func(*servertest.Client, any) *servertest.Result {
	return func(c *servertest.Client, id any) *servertest.Result {
		return c.GraphQL(document, map[string]any{"id": fmt.Sprint(id)})
	}
}

const (
	fileQuery      = `query ($id: ID!) { file(id: $id) { id } }`
	downloadChange = `mutation ($id: ID!) { recordDownload(input: {fileId: $id}) { url } }`
	finalizeChange = `mutation ($id: ID!) { finalizeFile(input: {id: $id}) { file { id } } }`
)

// TestFileStatuses produces every documented status of the file operations, with both APIs, and
// checks the documented body.
func TestFileStatuses(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		w := newWorld(t, s)
		info := operation{"info", auth.Read, restCall("GET", "/files/%v"), graphCall(fileQuery)}
		download := operation{"download", auth.Read, restCall("GET", "/files/%v/download"), graphCall(downloadChange)}
		finalizeGet := operation{"finalize by GET", auth.Write, restCall("GET", "/files/%v/finalize"), graphCall(finalizeChange)}
		finalizePost := operation{"finalize by POST", auth.Write, restCall("POST", "/files/%v/finalize"), graphCall(finalizeChange)}
		for _, op := range []operation{info, download, finalizeGet, finalizePost} {
			identity(t, w, op, w.public)
			call := func(name string, who *servertest.Client, status int, id any) {
				v := statusCase{op.name + " of " + name, who, status, func(c *servertest.Client) *servertest.Response { return op.rest(c, id) }, nil}
				if _, number := id.(int64); number {
					v.graph = func(c *servertest.Client) *servertest.Result { return op.graph(c, id) }
				}
				v.check(t)
			}
			call("a missing file", w.ada, 404, int64(999_999))
			call("no id", w.ada, 404, "abc")
			call("an id beyond 64 bits", w.ada, 404, "99999999999999999999")
			call("a negative id", w.ada, 404, int64(-1))
			call("another user's pending upload", w.ada, 404, w.others)
			switch op.name {
			case "info":
				call("one's pending upload", w.ada, 200, w.pending)
				call("another user's draft", w.bob, 403, w.hidden)
				call("a published file", w.bob, 200, w.public)
			case "download":
				call("one's pending upload", w.ada, 404, w.pending)
				call("another user's draft", w.bob, 403, w.hidden)
			default:
				call("an upload without a target", w.ada, 404, w.pending)
				call("another user's file", w.bob, 404, w.public)
				call("one's finalized file", w.ada, 200, w.public)
			}
		}
	}, privately)
}

// identity checks the statuses that depend only on the token.
func identity(t *testing.T, w *world, op operation, id any) {
	t.Helper()
	lacking := w.wr
	if op.scope == auth.Write {
		lacking = w.rd
	}
	for name, who := range map[string]*servertest.Client{"no token": w.nobody, "an unknown token": w.garbage, "an expired token": w.expired, "a revoked token": w.revoked} {
		statusCase{op.name + " with " + name, who, 401, func(c *servertest.Client) *servertest.Response { return op.rest(c, id) }, func(c *servertest.Client) *servertest.Result { return op.graph(c, id) }}.check(t)
	}
	statusCase{op.name + " without the scope", lacking, 403, func(c *servertest.Client) *servertest.Response { return op.rest(c, id) }, func(c *servertest.Client) *servertest.Result { return op.graph(c, id) }}.check(t)
}

const uploadChange = `mutation ($file: Upload!) { uploadFile(input: {file: $file}) { file { id } } }`

func TestUploadStatuses(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		w := newWorld(t, s)
		stl := servertest.Mesh(t, "hschendel_simple_bin.stl")
		upload := func(name string, file []byte) (func(*servertest.Client) *servertest.Response, func(*servertest.Client) *servertest.Result) {
			return func(c *servertest.Client) *servertest.Response {
					return c.PostForm("/files/0/uploadFile", nil, "file", name, file)
				}, func(c *servertest.Client) *servertest.Result {
					return c.GraphQLUpload(uploadChange, map[string]any{"file": nil}, "file", name, file)
				}
		}
		ok := operation{"upload", auth.Write, func(c *servertest.Client, _ any) *servertest.Response {
			return c.PostForm("/files/0/uploadFile", nil, "file", "a.stl", stl)
		}, func(c *servertest.Client, _ any) *servertest.Result {
			return c.GraphQLUpload(uploadChange, map[string]any{"file": nil}, "file", "a.stl", stl)
		}}
		identity(t, w, ok, nil)

		// The chunk with pixels comes first, because what follows an image is not stored.
		png := append([]byte("\x89PNG\r\n\x1a\n\x00\x4c\x4b\x41IDAT"), make([]byte, 5_000_001)...)
		for name, file := range map[string]struct {
			name string
			data []byte
		}{
			"an empty file":           {"a.stl", nil},
			"a file over the limit":   {"a.stl", make([]byte, s.Settings.UploadLimit+1)},
			"an image over its limit": {"a.png", png},
			"no name":                 {" ", stl},
			"a name in bad UTF-8":     {"a\xff\xfe.stl", stl},
		} {
			rest, graph := upload(file.name, file.data)
			statusCase{"upload of " + name, w.ada, 400, rest, graph}.check(t)
		}
		form := func(fields [][2]string, part string) func(c *servertest.Client) *servertest.Response {
			return func(c *servertest.Client) *servertest.Response {
				return c.PostForm("/files/0/uploadFile", fields, part, "a.stl", stl)
			}
		}
		for name, rest := range map[string]func(c *servertest.Client) *servertest.Response{
			"nothing": func(c *servertest.Client) *servertest.Response { return c.Do("POST", "/files/0/uploadFile", nil) },
			"JSON": func(c *servertest.Client) *servertest.Response {
				return c.Do("POST", "/files/0/uploadFile", map[string]int{"file": 1})
			},
			"no file part":    form([][2]string{{"name", "a.stl"}}, ""),
			"an unknown type": form([][2]string{{"type", "hologram"}}, "file"),
			"a body that is cut": func(c *servertest.Client) *servertest.Response {
				body, contentType := servertest.Form(nil, "file", "a.stl", stl)
				r := c.Request("POST", "/files/0/uploadFile", body[:len(body)-60])
				r.Header.Set("Content-Type", contentType)
				return c.Send(r)
			},
		} {
			statusCase{"upload of " + name, w.ada, 400, rest, nil}.check(t)
		}
		// The four uploads of the world remain. Two of them have the same content as all other uploads.
		nothingLeft(t, s, 4)
	})
}

// nothingLeft checks that there are no unexpected file rows, and no objects without a row.
func nothingLeft(t *testing.T, s *servertest.Server, rows int) {
	t.Helper()
	var got int
	if err := openDB(t, s).SQL().QueryRow("SELECT count(*) FROM files").Scan(&got); err != nil || got != rows {
		t.Errorf("%d rows of files (%v), want %d", got, err, rows)
	}
	sweep, err := s.Store.CollectGarbage(context.Background(), 0, true)
	if err != nil || len(sweep.PendingObjects)+len(sweep.ContentObjects) > 0 {
		t.Errorf("left behind: %+v, %v", sweep, err)
	}
	soundCatalogue(t, s)
}

// soundCatalogue checks that the database and the bucket match exactly.
func soundCatalogue(t *testing.T, s *servertest.Server) {
	t.Helper()
	if err := s.Store.Check(context.Background(), 0, true, func(problem string) { t.Error(problem) }); err != nil {
		t.Error(err)
	}
}

const finalizeFiles = `mutation ($files: [PendingUploadInput!]!, $type: TargetType!, $id: ID!) {
	finalizeFiles(input: {files: $files, target: {type: $type, id: $id}}) { files { id state } }
}`

func TestFinalizeFilesStatuses(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		w := newWorld(t, s)
		batch := func(target int64, ids ...int64) operation {
			return operation{"FinalizeFiles", auth.Write, func(c *servertest.Client, _ any) *servertest.Response {
				return c.Finalize("thing", target, ids...)
			}, func(c *servertest.Client, _ any) *servertest.Result {
				files := []map[string]any{}
				for _, id := range ids {
					files = append(files, map[string]any{"id": servertest.ID(id)})
				}
				return c.GraphQL(finalizeFiles, map[string]any{"files": files, "type": "THING", "id": servertest.ID(target)})
			}}
		}
		check := func(name string, who *servertest.Client, status int, op operation) {
			statusCase{"finalize " + name, who, status, func(c *servertest.Client) *servertest.Response { return op.rest(c, nil) }, func(c *servertest.Client) *servertest.Result { return op.graph(c, nil) }}.check(t)
		}
		identity(t, w, batch(w.thing, w.pending), nil)
		check("an unknown upload", w.ada, 404, batch(w.thing, w.pending, 999_999))
		check("another user's upload", w.ada, 404, batch(w.thing, w.pending, w.others))
		check("onto an unknown thing", w.ada, 404, batch(999_999, w.pending))
		check("onto another user's thing", w.bob, 403, batch(w.thing, w.others))
		check("nothing", w.ada, 400, batch(w.thing))
		check("one twice", w.ada, 400, batch(w.thing, w.pending, w.pending))
		check("what is finalized elsewhere", w.ada, 400, batch(w.thing, w.pending, w.hidden))
		for name, body := range map[string]any{
			"no body":          nil,
			"null":             "null",
			"broken JSON":      `{"pending_uploads":`,
			"an array":         `[]`,
			"no target":        map[string]any{"pending_uploads": []any{map[string]any{"id": w.pending}}},
			"an odd target":    map[string]any{"pending_uploads": []any{map[string]any{"id": w.pending}}, "target_id": 1, "target_type": "shelf"},
			"a text for an id": map[string]any{"pending_uploads": []any{map[string]any{"id": "first"}}, "target_id": 1, "target_type": "thing"},
			"texts for files":  map[string]any{"pending_uploads": "all", "target_id": 1, "target_type": "thing"},
			"a huge rank":      map[string]any{"pending_uploads": []any{map[string]any{"id": w.pending, "rank": 1 << 40}}, "target_id": 1, "target_type": "thing"},
		} {
			statusCase{"finalize with " + name, w.ada, 400, func(c *servertest.Client) *servertest.Response {
				return c.Do("POST", "/files/0/FinalizeFiles", body)
			}, nil}.check(t)
		}
		// The valid upload is not affected by the rejected call.
		var f struct{ File struct{ State string } }
		w.ada.Query(`query ($id: ID!) { file(id: $id) { state } }`, map[string]any{"id": w.pending}, &f)
		if f.File.State != "PENDING" {
			t.Errorf("the pending upload is %s after batches that failed", f.File.State)
		}
		check("an upload", w.ada, 200, batch(w.thing, w.pending))
		check("it again", w.ada, 200, batch(w.thing, w.pending))
		check("it onto another", w.ada, 400, batch(w.draft, w.pending))
		w.ada.Do(http.MethodPost, "/files/0/FinalizeFiles", fmt.Sprintf(`{"pending_uploads":[{"id":"%d","rank":"3"}],"target_id":"%d","target_type":"Thing"}`, w.pending, w.thing)).Want(t, 200)
		var attached struct{ Rank int }
		if w.ada.Get(fmt.Sprint("/files/", w.pending)).Want(t, 200, &attached); attached.Rank != 3 {
			t.Errorf("got rank %d of a file that was attached before, want the given 3", attached.Rank)
		}
		w.ada.Do(http.MethodPost, "/files/0/FinalizeFiles", fmt.Sprintf(`{"pending_uploads":[{"id":%d}],"target_id":%d,"target_type":"thing"}`, w.pending, w.thing)).Want(t, 200)
		if w.ada.Get(fmt.Sprint("/files/", w.pending)).Want(t, 200, &attached); attached.Rank != 3 {
			t.Errorf("got rank %d after a call without a rank, want 3 still", attached.Rank)
		}
	})
}
