package servertest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/config"
)

func ManyErrors(n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = "1" + strings.Repeat("0", i%9) + string(rune('1'+i/9%9)) + string(rune('1'+i/81))
	}
	return all
}

// Decode decodes the data of a result, which must be successful.
func Decode(t testing.TB, r *Result, v any) {
	t.Helper()
	if len(r.Errors) > 0 {
		t.Fatalf("errors: %+v", r.Errors)
	}
	if err := json.Unmarshal(r.Data, v); err != nil {
		t.Fatalf("%v: %s", err, r.Data)
	}
}

// Hardened configures a hardened server with additional registered documents.
func Hardened(t *testing.T, documents ...string) func(*config.Settings) {
	dir := t.TempDir()
	for i, text := range documents {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.graphql", i)), []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return func(c *config.Settings) { c.Hardened, c.Documents = true, dir }
}

// WantProblem checks that a response is an error page.
func WantProblem(t *testing.T, r *Response, status int, title string) {
	t.Helper()
	r.Want(t, status)
	if page := string(r.Bytes); !strings.HasPrefix(r.Header.Get("Content-Type"), "text/html") ||
		r.Header.Get("Retry-After") == "" ||
		!strings.Contains(page, "<h1>"+title+"</h1>") || strings.Contains(page, "gallery.en.js") {
		t.Errorf("got %v\n%s\nwant a page about the problem %q, without the client", r.Header, page, title)
	}
}

// Asked sends a GraphQL request with the given JSON body.
func Asked(c *Client, body any) *Response {
	r := c.Request("POST", "/graphql", body)
	r.Header.Set("Content-Type", "application/json")
	return c.Send(r)
}

// NextOf returns the URL of the next page, or "" if there is none.
func NextOf(r *Response) string {
	for _, link := range strings.Split(strings.Join(r.Header.Values("Link"), ", "), ", ") {
		if address, ok := strings.CutSuffix(link, `>; rel="next"`); ok {
			return strings.TrimPrefix(address, "<")
		}
	}
	return ""
}

func MustJSON(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// AskHandler sends a body as JSON and returns the response body.
func AskHandler(c *Client, body any) string { return string(Asked(c, body).Bytes) }

func QueryBody(text string) Object { return Object{"query": text} }

// Object is a decoded JSON object.
type Object = map[string]any

func ReadObject(t *testing.T, r *Response) Object {
	t.Helper()
	var o Object
	r.Want(t, http.StatusOK, &o)
	return o
}
