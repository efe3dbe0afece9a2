package rest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/meshyard/meshyard/test/servertest"
)

// restWorld is a server with one object of each type, and the REST operations to call on it.
type restWorld struct {
	callers    map[string]*servertest.Client
	ids        map[string]any
	operations []restOperation
}

type restOperation struct {
	method, path string
	inPath       []string
	inQuery      []string
	inBody       []string
}

func newRestWorld(tb testing.TB, s *servertest.Server, ids map[string]any,
	callers map[string]*servertest.Client) *restWorld {
	tb.Helper()
	var described struct {
		Paths map[string]map[string]struct {
			Parameters  []struct{ Name, In string }
			RequestBody struct {
				Content map[string]struct {
					Schema struct{ Properties map[string]any }
				}
			}
		}
	}
	s.Client("").Get("/openapi.json").Want(tb, 200, &described)
	w := &restWorld{callers: callers, ids: ids}
	for path, methods := range described.Paths {
		for method, described := range methods {
			op := restOperation{method: strings.ToUpper(method), path: path}
			for _, p := range described.Parameters {
				if p.In == "query" {
					op.inQuery = append(op.inQuery, p.Name)
				} else {
					op.inPath = append(op.inPath, p.Name)
				}
			}
			for _, content := range described.RequestBody.Content {
				for property := range content.Schema.Properties {
					op.inBody = append(op.inBody, property)
				}
			}
			slices.Sort(op.inBody)
			w.operations = append(w.operations, op)
		}
	}
	slices.SortFunc(w.operations, func(a, b restOperation) int {
		return strings.Compare(a.method+a.path,
			b.method+b.path)
	})
	if len(w.operations) < 50 {
		tb.Fatalf("only %d operations are described", len(w.operations))
	}
	return w
}

// text generates a text that a client may send instead of a text, a number or an ID.
func (w *restWorld) text() *rapid.Generator[string] {
	var known []string
	for _, id := range w.ids {
		known = append(known, fmt.Sprint(id))
	}
	slices.Sort(known)
	return rapid.OneOf(
		rapid.SampledFrom(known), rapid.SampledFrom(servertest.HostileTexts), rapid.String(),
		rapid.StringMatching(`-?[0-9]{1,20}(\.[0-9]+)?(e[0-9]+)?`),
		rapid.StringMatching(`(now|20[0-9][0-9]-[01][0-9]-[0-3][0-9])(\|\|)?([+-][0-9]{1,5}[yMwdhms]|/[yMwdhms]){0,3}`),
		rapid.StringMatching(`[a-z"'*%_\\(){}:|&!<>\- ]{0,30}`),
	)
}

// value generates a value in a JSON body.
func (w *restWorld) value(depth int) *rapid.Generator[any] {
	kinds := []*rapid.Generator[any]{
		rapid.Map(w.text(), func(s string) any { return s }), rapid.Map(rapid.Int64(), func(n int64) any { return n }),
		rapid.Map(rapid.Bool(), func(b bool) any { return b }), rapid.Just[any](nil),
		rapid.Map(rapid.Float64Range(-1e300, 1e300), func(n float64) any { return n }), rapid.SampledFrom(hostileValues),
	}
	if depth > 0 {
		kinds = append(kinds, rapid.Map(rapid.SliceOfN(w.value(depth-1), 0, 4), func(list []any) any { return list }),
			rapid.Map(rapid.MapOfN(rapid.SampledFrom([]string{"id", "rank", "name", "target_id", ""}), w.value(depth-1), 0, 4),
				func(m map[string]any) any { return m }))
	}
	return rapid.OneOf(kinds...)
}

// ask sends a random request, and fails if the response is an internal error or does not match the
// OpenAPI description.
func (w *restWorld) ask(t *rapid.T) {
	op := rapid.SampledFrom(w.operations).Draw(t, "operation")
	who := rapid.SampledFrom([]string{"ada", "bob", "nobody", "eve"}).Draw(t, "caller")
	if op.method == http.MethodDelete {
		who = "eve" // she owns nothing, so the objects are not deleted
	}
	path := op.path
	for _, name := range op.inPath {
		value := fmt.Sprint(w.ids[name])
		if rapid.IntRange(0, 3).Draw(t, "a known "+name) == 0 {
			value = w.text().Draw(t, name)
		}
		if value == "" || strings.Contains(value, "..") || value == "." {
			value = "0" // the mux would clean the path
		}
		path = strings.ReplaceAll(path, "{"+name+"}", url.PathEscape(value))
	}
	query := make(url.Values)
	for _, name := range op.inQuery {
		if rapid.Bool().Draw(t, "with "+name) {
			query[name] = rapid.SliceOfN(w.text(), 1, 2).Draw(t, name)
		}
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	contentType, body := "application/json", ""
	switch rapid.IntRange(0, 4).Draw(t, "kind of body") {
	case 0:
		body = rapid.String().Draw(t, "body")
	case 1:
		contentType = "application/x-www-form-urlencoded"
		form := make(url.Values)
		for _, name := range op.inBody {
			form.Add(name, w.text().Draw(t, name))
		}
		body = form.Encode()
	default:
		fields := make(map[string]any)
		for _, name := range op.inBody {
			if rapid.IntRange(0, 2).Draw(t, "with "+name) > 0 {
				fields[name] = w.value(2).Draw(t, name)
			}
		}
		text, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		body = string(text)
	}
	c := w.callers[who]
	r := c.Request(op.method, path, nil)
	if op.method != http.MethodGet && op.method != http.MethodHead {
		r = c.Request(op.method, path, body)
		r.Header.Set("Content-Type", contentType)
	}
	response := c.Send(r)
	if response.StatusCode >= 500 || response.StatusCode >= 400 && response.Header.Get("X-Error") == "" {
		t.Fatalf("%s %s, by %s, %s %.500q: %d %.300s", op.method, path, who, contentType, body, response.StatusCode,
			response.Bytes)
	}
}

func startRestWorld(t *testing.T, s *servertest.Server) *restWorld {
	ada, bob := s.User("ada"), s.User("bob")
	return newRestWorld(t, s, servertest.FullThing(t, s, ada, bob), map[string]*servertest.Client{"ada": ada, "bob": bob,
		"eve": s.User("eve"), "nobody": s.Client("")})
}

// TestAnyRESTInput checks that no input of any REST operation causes a 5xx status, or a response
// that does not match the OpenAPI description.
func TestAnyRESTInput(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		rapid.Check(t, startRestWorld(t, s).ask)
	})
}
