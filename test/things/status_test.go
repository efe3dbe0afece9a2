package things_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/test/servertest"
)

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
				servertest.CheckErrorBody(t, r)
			}
		}
		if v.graph != nil {
			g := v.graph(v.caller)
			if got, ok := servertest.CodeStatus[g.Code()]; !ok || got != v.status {
				t.Errorf("GraphQL: got %+v, want a code of status %d", g.Errors, v.status)
			}
		}
	})
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
		w := servertest.NewWorld(t, s)
		info := operation{"info", auth.Read, restCall("GET", "/files/%v"), graphCall(fileQuery)}
		download := operation{"download", auth.Read, restCall("GET", "/files/%v/download"), graphCall(downloadChange)}
		finalizeGet := operation{"finalize by GET", auth.Write, restCall("GET", "/files/%v/finalize"),
			graphCall(finalizeChange)}
		finalizePost := operation{"finalize by POST", auth.Write, restCall("POST", "/files/%v/finalize"),
			graphCall(finalizeChange)}
		for _, op := range []operation{info, download, finalizeGet, finalizePost} {
			identity(t, w, op, w.Public)
			call := func(name string, who *servertest.Client, status int, id any) {
				v := statusCase{op.name + " of " + name, who, status,
					func(c *servertest.Client) *servertest.Response { return op.rest(c, id) }, nil}
				if _, number := id.(int64); number {
					v.graph = func(c *servertest.Client) *servertest.Result { return op.graph(c, id) }
				}
				v.check(t)
			}
			call("a missing file", w.Ada, 404, int64(999_999))
			call("no id", w.Ada, 404, "abc")
			call("an id beyond 64 bits", w.Ada, 404, "99999999999999999999")
			call("a negative id", w.Ada, 404, int64(-1))
			call("another user's pending upload", w.Ada, 404, w.Others)
			switch op.name {
			case "info":
				call("one's pending upload", w.Ada, 200, w.Pending)
				call("another user's draft", w.Bob, 403, w.Hidden)
				call("a published file", w.Bob, 200, w.Public)
			case "download":
				call("one's pending upload", w.Ada, 404, w.Pending)
				call("another user's draft", w.Bob, 403, w.Hidden)
			default:
				call("an upload without a target", w.Ada, 404, w.Pending)
				call("another user's file", w.Bob, 404, w.Public)
				call("one's finalized file", w.Ada, 200, w.Public)
			}
		}
	}, servertest.Privately)
}

// identity checks the statuses that depend only on the token.
func identity(t *testing.T, w *servertest.World, op operation, id any) {
	t.Helper()
	lacking := w.Wr
	if op.scope == auth.Write {
		lacking = w.Rd
	}
	for name, who := range map[string]*servertest.Client{"no token": w.Nobody, "an unknown token": w.Garbage,
		"an expired token": w.Expired, "a revoked token": w.Revoked} {
		statusCase{op.name + " with " + name, who, 401,
			func(c *servertest.Client) *servertest.Response { return op.rest(c, id) },
			func(c *servertest.Client) *servertest.Result { return op.graph(c, id) }}.check(t)
	}
	statusCase{op.name + " without the scope", lacking, 403,
		func(c *servertest.Client) *servertest.Response { return op.rest(c, id) },
		func(c *servertest.Client) *servertest.Result { return op.graph(c, id) }}.check(t)
}

func TestUploadStatuses(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		w := servertest.NewWorld(t, s)
		stl := servertest.Mesh(t, "hschendel_simple_bin.stl")
		upload := func(name string,
			file []byte) (func(*servertest.Client) *servertest.Response, func(*servertest.Client) *servertest.Result) {
			return func(c *servertest.Client) *servertest.Response {
					return c.PostForm("/files/0/uploadFile", nil, "file", name, file)
				}, func(c *servertest.Client) *servertest.Result {
					return c.GraphQLUpload(servertest.UploadChange, map[string]any{"file": nil}, "file", name, file)
				}
		}
		ok := operation{"upload", auth.Write, func(c *servertest.Client, _ any) *servertest.Response {
			return c.PostForm("/files/0/uploadFile", nil, "file", "a.stl", stl)
		}, func(c *servertest.Client, _ any) *servertest.Result {
			return c.GraphQLUpload(servertest.UploadChange, map[string]any{"file": nil}, "file", "a.stl", stl)
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
			statusCase{"upload of " + name, w.Ada, 400, rest, graph}.check(t)
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
			statusCase{"upload of " + name, w.Ada, 400, rest, nil}.check(t)
		}
		// The four uploads of the world remain. Two of them have the same content as all other uploads.
		servertest.NothingLeft(t, s, 4)
	})
}

const finalizeFiles = `mutation ($files: [PendingUploadInput!]!, $type: TargetType!, $id: ID!) {
	finalizeFiles(input: {files: $files, target: {type: $type, id: $id}}) { files { id state } }
}`

func TestFinalizeFilesStatuses(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		w := servertest.NewWorld(t, s)
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
			statusCase{"finalize " + name, who, status,
				func(c *servertest.Client) *servertest.Response { return op.rest(c, nil) },
				func(c *servertest.Client) *servertest.Result { return op.graph(c, nil) }}.check(t)
		}
		identity(t, w, batch(w.Thing, w.Pending), nil)
		check("an unknown upload", w.Ada, 404, batch(w.Thing, w.Pending, 999_999))
		check("another user's upload", w.Ada, 404, batch(w.Thing, w.Pending, w.Others))
		check("onto an unknown thing", w.Ada, 404, batch(999_999, w.Pending))
		check("onto another user's thing", w.Bob, 403, batch(w.Thing, w.Others))
		check("nothing", w.Ada, 400, batch(w.Thing))
		check("one twice", w.Ada, 400, batch(w.Thing, w.Pending, w.Pending))
		check("what is finalized elsewhere", w.Ada, 400, batch(w.Thing, w.Pending, w.Hidden))
		for name, body := range map[string]any{
			"no body":     nil,
			"null":        "null",
			"broken JSON": `{"pending_uploads":`,
			"an array":    `[]`,
			"no target":   map[string]any{"pending_uploads": []any{map[string]any{"id": w.Pending}}},
			"an odd target": map[string]any{"pending_uploads": []any{map[string]any{"id": w.Pending}}, "target_id": 1,
				"target_type": "shelf"},
			"a text for an id": map[string]any{"pending_uploads": []any{map[string]any{"id": "first"}}, "target_id": 1,
				"target_type": "thing"},
			"texts for files": map[string]any{"pending_uploads": "all", "target_id": 1, "target_type": "thing"},
			"a huge rank": map[string]any{"pending_uploads": []any{map[string]any{"id": w.Pending, "rank": 1 << 40}},
				"target_id": 1, "target_type": "thing"},
		} {
			statusCase{"finalize with " + name, w.Ada, 400, func(c *servertest.Client) *servertest.Response {
				return c.Do("POST", "/files/0/FinalizeFiles", body)
			}, nil}.check(t)
		}
		// The valid upload is not affected by the rejected call.
		var f struct{ File struct{ State string } }
		w.Ada.Query(`query ($id: ID!) { file(id: $id) { state } }`, map[string]any{"id": w.Pending}, &f)
		if f.File.State != "PENDING" {
			t.Errorf("the pending upload is %s after batches that failed", f.File.State)
		}
		check("an upload", w.Ada, 200, batch(w.Thing, w.Pending))
		check("it again", w.Ada, 200, batch(w.Thing, w.Pending))
		check("it onto another", w.Ada, 400, batch(w.Draft, w.Pending))
		w.Ada.Do(http.MethodPost, "/files/0/FinalizeFiles",
			fmt.Sprintf(`{"pending_uploads":[{"id":"%d","rank":"3"}],"target_id":"%d","target_type":"Thing"}`, w.Pending,
				w.Thing)).Want(t, 200)
		var attached struct{ Rank int }
		if w.Ada.Get(fmt.Sprint("/files/", w.Pending)).Want(t, 200, &attached); attached.Rank != 3 {
			t.Errorf("got rank %d of a file that was attached before, want the given 3", attached.Rank)
		}
		w.Ada.Do(http.MethodPost, "/files/0/FinalizeFiles",
			fmt.Sprintf(`{"pending_uploads":[{"id":%d}],"target_id":%d,"target_type":"thing"}`, w.Pending, w.Thing)).Want(t, 200)
		if w.Ada.Get(fmt.Sprint("/files/", w.Pending)).Want(t, 200, &attached); attached.Rank != 3 {
			t.Errorf("got rank %d after a call without a rank, want 3 still", attached.Rank)
		}
	})
}
