package rest_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/test/servertest"
)

// TestMultipartRequests checks that an invalid GraphQL multipart request is rejected with the
// reason, and that none of its files is stored.
func TestMultipartRequests(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		operations := servertest.MustJSON(servertest.UploadChange)
		operations = `{"query":` + operations + `,"variables":{"file":null,"list":[null],"text":"x"}}`
		for name, fields := range map[string][][2]string{
			"no operations":               {{"map", `{}`}},
			"the map first":               {{"map", `{"0":["variables.file"]}`}, {"operations", operations}},
			"operations that are a list":  {{"operations", "[" + operations + "]"}, {"map", `{"0":["variables.file"]}`}},
			"operations that are no JSON": {{"operations", "{"}, {"map", `{}`}},
			"a map that is no JSON":       {{"operations", operations}, {"map", `{"0":`}},
			"a map of texts":              {{"operations", operations}, {"map", `{"0":"variables.file"}`}},
			"a map to nothing":            {{"operations", operations}, {"map", `{"0":[]}`}},
			"a map to two":                {{"operations", operations}, {"map", `{"0":["variables.file","variables.list.0"]}`}},
			"a map of two": {{"operations", operations},
				{"map", `{"0":["variables.file"],"1":["variables.list.0"]}`}},
			"a map to the document":      {{"operations", operations}, {"map", `{"0":["query"]}`}},
			"a map beside the variables": {{"operations", operations}, {"map", `{"0":["variables."]}`}},
			"a map to a text":            {{"operations", operations}, {"map", `{"0":["variables.text"]}`}},
			"a map into a text":          {{"operations", operations}, {"map", `{"0":["variables.text.0"]}`}},
			"a map past a list":          {{"operations", operations}, {"map", `{"0":["variables.list.9"]}`}},
			"a map before a list":        {{"operations", operations}, {"map", `{"0":["variables.list.-1"]}`}},
			"a map to a list":            {{"operations", operations}, {"map", `{"0":["variables.list"]}`}},
			"a map to another part":      {{"operations", operations}, {"map", `{"1":["variables.file"]}`}},
			"operations without end":     {{"operations", `{"query":"` + strings.Repeat("x", 2<<20) + `"}`}, {"map", `{}`}},
		} {
			body, contentType := servertest.Form(fields, "0", "a.stl", []byte("solid a\nendsolid\n"))
			r := ada.Request("POST", "/graphql", body)
			r.Header.Set("Content-Type", contentType)
			response := ada.Send(r)
			var result servertest.Result
			if err := json.Unmarshal(response.Bytes, &result); err != nil || response.StatusCode != 400 ||
				servertest.CodeStatus[result.Code()] != 400 {
				t.Errorf("%s: %d %s", name, response.StatusCode, response.Bytes)
			}
			if len(response.Bytes) > 1000 {
				t.Errorf("%s: the response repeats the request: %d bytes", name, len(response.Bytes))
			}
		}
		// A page of another site has no token, so it cannot upload.
		body, contentType := servertest.Form([][2]string{{"operations", operations}, {"map", `{"0":["variables.file"]}`}},
			"0", "a.stl", []byte("x"))
		r := s.Client("").Request("POST", "/graphql", body)
		r.Header.Set("Content-Type", contentType)
		if result := s.Client("").Send(r).Want(t, 401); result.Header.Get("WWW-Authenticate") != "Bearer" ||
			!strings.Contains(string(result.Bytes), `"UNAUTHENTICATED"`) {
			t.Errorf("with no token: %v %s", result.Header, result.Bytes)
		}
		servertest.NothingLeft(t, s, 0)
	})
}

// TestGraphQLErrors checks that GraphQL errors have a documented code and name the invalid input,
// whatever part of the server returns them.
func TestGraphQLErrors(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		for name, c := range map[string]struct {
			document  string
			variables map[string]any
			code      string
			field     string
		}{
			"no syntax":        {"{", nil, "GRAPHQL_PARSE_FAILED", ""},
			"no field":         {"{ nothing }", nil, "GRAPHQL_VALIDATION_FAILED", ""},
			"a text for an id": {`{ file(id: "x") { id } }`, nil, "BAD_USER_INPUT", "id"},
			"a text in a variable": {`query ($id: ID!) { file(id: $id) { id } }`, map[string]any{"id": "x"},
				"BAD_USER_INPUT", "id"},
			"a variable left out": {`query ($id: ID!) { file(id: $id) { id } }`, nil, "BAD_USER_INPUT", "id"},
			"a missing file":      {`{ file(id: 5) { id } }`, nil, "NOT_FOUND", ""},
			"a text for an upload": {`mutation ($f: Upload!) { uploadFile(input: {file: $f}) { file { id } } }`,
				map[string]any{"f": "x"}, "BAD_USER_INPUT", "file"},
			"a huge id":                 {`{ file(id: 99999999999999999999) { id } }`, nil, "GRAPHQL_VALIDATION_FAILED", ""},
			"a nested id":               {`mutation { finalizeFiles(input: {files: [{id: "x"}], target: {type: THING, id: 1}}) { files { id } } }`, nil, "BAD_USER_INPUT", "files[0].id"},
			"a blank name":              {`mutation { createThing(input: {name: " ", license: CC, category: "Art"}) { thing { id } } }`, nil, "BAD_USER_INPUT", "name"},
			"a NUL":                     {"mutation ($n: String!) { createThing(input: {name: $n, license: CC, category: \"Art\"}) { thing { id } } }", map[string]any{"n": "a\x00b"}, "BAD_USER_INPUT", "name"},
			"a line break in a name":    {"mutation ($n: String!) { createThing(input: {name: $n, license: CC, category: \"Art\"}) { thing { id } } }", map[string]any{"n": "a\nb"}, "BAD_USER_INPUT", "name"},
			"a line break after a name": {"mutation ($n: String!) { createThing(input: {name: $n, license: CC, category: \"none\"}) { thing { id } } }", map[string]any{"n": "a\r\n"}, "BAD_USER_INPUT", "category"},
			"an overridden direction":   {"mutation ($n: String!) { createThing(input: {name: $n, license: CC, category: \"Art\"}) { thing { id } } }", map[string]any{"n": "a\u202eb"}, "BAD_USER_INPUT", "name"},
			"a bell in a user's name": {"mutation { updateProfile(input: {firstName: \"a\\u0007\"}) { user { id } } }", nil,
				"BAD_USER_INPUT", "firstName"},
			"a tab in a collection's name": {"mutation { createCollection(input: {name: \"a\\tb\"}) { collection { id } } }",
				nil, "BAD_USER_INPUT", "name"},
			"too costly": {`{ me { downloads(first: 100) { nodes { thing { files { creator { downloads(first: 100) { nodes { createdAt } } } } } } } } }`, nil, "TOO_LARGE", ""},
		} {
			r := ada.GraphQL(c.document, c.variables)
			if r.Code() != c.code || r.Errors[0].Extensions.Field != c.field {
				t.Errorf("%s: %+v, want %s of %q", name, r.Errors, c.code, c.field)
			}
		}
		for name, body := range map[string]string{
			"no JSON": `{"query": SECRET`, "nothing": "", "a list": "[]", "a batch": `[{"query":"{me{id}}"}]`,
			"a text": `"SECRET"`, "a number for the query": `{"query":5,"operationName":"SECRET"}`,
			"a list for the variables": `{"query":"{me{id}}","variables":["SECRET"]}`,
			"two values":               `{"query":"{me{id}}"}{"SECRET":1}`,
			"bad UTF-8":                "{\"query\":\"{me{id}} # SECRET \xff\"}",
			"half a pair":              `{"query":"{me{id}} # SECRET \ud800"}`, "too much": `{"query":"{me{id}}","SECRET":"` +
				strings.Repeat("x", 1<<20) + `"}`, "depth": strings.Repeat("[", 200_000),
		} {
			r := ada.Request("POST", "/graphql", body)
			r.Header.Set("Content-Type", "application/json")
			response := ada.Send(r).Want(t, 400)
			var result servertest.Result
			if err := json.Unmarshal(response.Bytes, &result); err != nil || servertest.CodeStatus[result.Code()] != 400 ||
				strings.Contains(string(response.Bytes), "SECRET") {
				t.Errorf("%s: %s", name, response.Bytes)
			}
		}
		for status, r := range map[int]*http.Request{405: ada.Request("PUT", "/graphql", "{}"),
			415: ada.Request("POST", "/graphql", `{"query":"{me{id}}"}`)} {
			r.Header.Set("Content-Type", "text/plain")
			if response := ada.Send(r).Want(t, status); !strings.Contains(string(response.Bytes), `"BAD_USER_INPUT"`) {
				t.Errorf("%d: %s", status, response.Bytes)
			}
		}
		for _, path := range []string{"/graphql", "/things/", "/files/0/uploadFile"} {
			r := ada.Request("POST", path, `{"query":"{me{id}}"}`)
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Content-Encoding", "GZIP")
			response := ada.Send(r).Want(t, 415)
			if response.Header.Get("Accept-Encoding") != "identity" || !strings.Contains(string(response.Bytes),
				"Content-Encoding: gzip is not supported") {
				t.Errorf("a compressed body of %s: %v %s", path, response.Header, response.Bytes)
			}
		}
		get := ada.Get("/graphql?query=" + `mutation{deletePendingUpload(input:{id:1}){deletedId}}`)
		if get.StatusCode == 200 {
			t.Errorf("a mutation by GET: %d %s", get.StatusCode, get.Bytes)
		}
	})
}

// pour is a request body of left bytes whose length is not declared.
type pour struct{ left int64 }

func (p *pour) Read(b []byte) (int, error) {
	if p.left <= 0 {
		return 0, io.EOF
	}
	n := min(int64(len(b)), p.left)
	p.left -= n
	return int(n), nil
}

// TestChunkedUploadIsNotHeld checks that both APIs reject a chunked upload when it exceeds the
// limit, without buffering it.
func TestChunkedUploadIsNotHeld(t *testing.T) {
	const size = 256 << 20
	s := servertest.Start(t, "sqlite", func(c *config.Settings) { c.UploadLimit = size - 1 })
	ada := s.User("ada")
	ada.Get("/users/me").Want(t, 200) // the first request initializes more
	for face, before := range map[string]string{
		"/files/0/uploadFile": "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.bin\"\r\n\r\n",
		"/graphql": "--b\r\nContent-Disposition: form-data; name=\"operations\"\r\n\r\n{\"query\":" +
			servertest.MustJSON(servertest.UploadChange) + ",\"variables\":{\"file\":null}}\r\n" +
			"--b\r\nContent-Disposition: form-data; name=\"map\"\r\n\r\n{\"0\":[\"variables.file\"]}\r\n--b\r\nContent-Disposition: form-data; name=\"0\"; filename=\"a.bin\"\r\n\r\n",
	} {
		var start, end runtime.MemStats
		runtime.ReadMemStats(&start)
		r := ada.Request("POST", face, io.MultiReader(strings.NewReader(before), &pour{size},
			strings.NewReader("\r\n--b--\r\n")))
		r.Header.Set("Content-Type", "multipart/form-data; boundary=b")
		response := ada.Send(r)
		runtime.ReadMemStats(&end)
		if want := map[bool]int{true: 200, false: 400}[face == "/graphql"]; response.StatusCode != want ||
			!strings.Contains(string(response.Bytes), "too large") {
			t.Errorf("%s: %d %s", face, response.StatusCode, response.Bytes)
		}
		// Everything that client and server have allocated, including what was collected.
		if grown := end.TotalAlloc - start.TotalAlloc; grown > 32<<20 {
			t.Errorf("%s: %d bytes were allocated for an upload of %d", face, grown, size)
		}
	}
	servertest.NothingLeft(t, s, 0)
}

// TestFileNames checks that file names are kept, except for directories and dangerous characters.
func TestFileNames(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		for given, want := range map[string]string{
			"Größe 3°.stl": "Größe 3°.stl", "机器.STL": "机器.STL", "../../etc/passwd": "passwd", `C:\models\a.stl`: "a.stl",
			"a\tb\u202elts.exe": "ablts.exe", strings.Repeat("ä", 200) + ".stl": strings.Repeat("ä", 125) + ".stl",
			"🦊.stl": "🦊.stl",
		} {
			body := fmt.Sprintf("--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"%s\"\r\n\r\nx\r\n--b--\r\n",
				strings.ReplaceAll(given, `\`, `\\`))
			r := ada.Request("POST", "/files/0/uploadFile", body)
			r.Header.Set("Content-Type", "multipart/form-data; boundary=b")
			var up struct{ ID int64 }
			ada.Send(r).Want(t, http.StatusOK, &up)
			if o := servertest.ReadObject(t, ada.Get(fmt.Sprintf("/files/%d", up.ID))); o["name"] != want {
				t.Errorf("%q is kept as %q, want %q", given, o["name"], want)
			}
		}
	})
}

// TestDeclaredImage checks that a file which is declared as an image but is not one is refused by
// GraphQL and stores nothing, and that REST accepts it as what it is.
func TestDeclaredImage(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		const upload = `mutation ($f: Upload!) { uploadFile(input: {file: $f, kind: IMAGE}) { file { kind } } }`
		model, image := servertest.Mesh(t, "hschendel_simple_bin.stl"), servertest.Mesh(t, "lib3mf_thumbnail.png")
		r := ada.GraphQLUpload(upload, map[string]any{"f": nil}, "f", "a.stl", model)
		if r.Code() != "BAD_USER_INPUT" || r.Errors[0].Extensions.Field != "kind" {
			t.Errorf("a model: got %s %+v, want BAD_USER_INPUT of kind", r.Data, r.Errors)
		}
		servertest.NothingLeft(t, s, 0)
		if r := ada.GraphQLUpload(upload, map[string]any{"f": nil}, "f", "a.png", image); len(r.Errors) > 0 ||
			!strings.Contains(string(r.Data), `"IMAGE"`) {
			t.Errorf("an image: got %s %+v, want IMAGE", r.Data, r.Errors)
		}
		ada.PostForm("/files/0/uploadFile", [][2]string{{"type", "image"}}, "file", "a.stl", model).Want(t, 200)
	})
}
