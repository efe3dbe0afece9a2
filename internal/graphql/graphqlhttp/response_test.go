package graphqlhttp

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

func TestNegotiate(t *testing.T) {
	for accept, want := range map[string]string{
		"": jsonType, "*/*": jsonType, "application/*": jsonType, "text/html": jsonType, "application/json": jsonType,
		"application/graphql-response+json":                                    graphQLResponseType,
		"application/graphql-response+json; charset=utf-8, application/json":   graphQLResponseType,
		"application/json, application/graphql-response+json":                  jsonType,
		"application/graphql-response+json;q=0.5, application/json":            jsonType,
		"application/json;q=0.9,application/graphql-response+json":             graphQLResponseType,
		"Application/GraphQL-Response+JSON":                                    graphQLResponseType,
		"application/graphql-response+json;q=0, text/html":                     jsonType,
		"application/graphql-response+json;q=NaN":                              jsonType,
		"text/html, application/xhtml+xml, */*;q=0.8":                          jsonType,
		"*/*;q=0.1, application/graphql-response+json;v=1;Q=0.2":               graphQLResponseType,
		"application/graphql-response+json;q=0.5, application/json;q=0.500001": jsonType,
	} {
		if got := negotiate([]string{accept}); got != want {
			t.Errorf("Accept: %s: %s, want %s", accept, got, want)
		}
	}
	if got := negotiate([]string{"text/html", "application/graphql-response+json"}); got != graphQLResponseType {
		t.Errorf("two headers: %s", got)
	}
}

// Clients list text/event-stream among JSON types for operations of any kind.
func TestWantsEvents(t *testing.T) {
	const urql = "application/graphql-response+json, application/graphql+json, application/json, text/event-stream, multipart/mixed"
	for _, test := range []struct {
		method, accept      string
		query, subscription bool
	}{
		{"POST", "", false, false},
		{"POST", "*/*", false, false},
		{"POST", "application/json", false, false},
		{"POST", "text/event-stream", true, true},
		{"POST", "Text/Event-Stream; charset=utf-8", true, true},
		{"POST", urql, false, true},
		{"POST", "text/event-stream, application/json", false, true},
		{"POST", "text/event-stream, application/json;q=0.9", true, true},
		{"POST", "text/event-stream;q=0.9, application/json", false, true},
		{"POST", "text/event-stream, */*", false, true},
		{"POST", "text/event-stream;q=0", false, false},
		{"POST", "text/event-streams", false, false},
		{"GET", "text/event-stream", false, true},
		{"HEAD", "text/event-stream", false, false},
	} {
		r := httptest.NewRequest(test.method, "/graphql", nil)
		r.Header.Set("Accept", test.accept)
		for operation, want := range map[ast.Operation]bool{ast.Query: test.query, ast.Mutation: test.query,
			ast.Subscription: test.subscription} {
			if got := wantsEvents(r, operation); got != want {
				t.Errorf("%s, Accept: %s: a %s is answered by events: %v, want %v", test.method, test.accept, operation, got, want)
			}
		}
	}
}

func FuzzAccept(f *testing.F) {
	f.Add("application/graphql-response+json;q=0.5, */*;q=0.1")
	f.Add("application/json;q=,;,")
	f.Fuzz(func(t *testing.T, accept string) {
		got := negotiate([]string{accept})
		if got == graphQLResponseType && !strings.Contains(strings.ToLower(accept), graphQLResponseType) ||
			got != graphQLResponseType && got != jsonType {
			t.Errorf("Accept: %q: %s", accept, got)
		}
	})
}

// The number and the length of errors are bounded.
func TestTruncate(t *testing.T) {
	errs := make(gqlerror.List, 500)
	for i := range errs {
		errs[i] = gqlerror.Errorf("%s", strings.Repeat("é", 10_000))
	}
	body := encode(&graphql.Response{Errors: errs}).bytes()
	var response struct{ Errors []struct{ Message string } }
	if err := json.Unmarshal(body, &response); err != nil || len(response.Errors) != maxErrors || len(body) > 16<<10 {
		t.Fatalf("%v: %d errors, %d bytes", err, len(response.Errors), len(body))
	}
	if m := response.Errors[0].Message; !utf8.ValidString(m) || len(m) > maxMessage+len("…") ||
		len(errs[0].Message) != 20_000 {
		t.Errorf("a message of %d bytes: %q", len(m), m)
	}
}

// A response without data has no "data" key, and errors come first.
func TestEncode(t *testing.T) {
	list := gqlerror.List{gqlerror.Errorf("no")}
	for want, response := range map[string]*graphql.Response{
		`{"errors":[{"message":"no"}]}` + "\n":               {Errors: list},
		`{"errors":[{"message":"no"}],"data":null}` + "\n":   {Errors: list, Data: []byte("null")},
		`{"data":{"a":1}}` + "\n":                            {Data: []byte(`{"a":1}`)},
		`{"data":{},"extensions":{"cost":{"of":5}}}` + "\n.": nil,
	} {
		got := ""
		if response == nil {
			body := encode(&graphql.Response{Data: []byte("{}")})
			got = string(body.withExtensions(map[string]any{"cost": map[string]int{"of": 5}}).bytes()) + "."
			if string(body.bytes()) != "{\"data\":{}}\n" {
				t.Errorf("the shared response changed to %s", body.bytes())
			}
		} else {
			got = string(encode(response).bytes())
		}
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// testHandler returns a handler whose schema answers every query with {"ok":true}, or blocks until
// the context ends.
func testHandler(t *testing.T, block bool) *handler {
	t.Helper()
	schema := testSchema(t).(*graphql.ExecutableSchemaMock)
	schema.ExecFunc = func(ctx context.Context) graphql.ResponseHandler {
		return graphql.OneShot(&graphql.Response{Data: []byte(`{"ok":true}`)})
	}
	if block {
		schema.ExecFunc = func(ctx context.Context) graphql.ResponseHandler {
			<-ctx.Done()
			return func(context.Context) *graphql.Response { return nil }
		}
	}
	e := executor.New(schema)
	e.SetErrorPresenter(PresentError)
	e.SetRecoverFunc(Recover)
	h, err := New(Options{Schema: schema, Executor: e, Cost: func(string, map[string]any) Cost { return Cost{Own: 1} }})
	if err != nil {
		t.Fatal(err)
	}
	return h.(*handler)
}

// An operation that takes too long is stopped with an error of its own.
func TestTimeout(t *testing.T) {
	for block, want := range map[bool]string{
		true:  `{"errors":[{"message":"` + errTimeout.Message + `","extensions":{"code":"TIMEOUT"}}],"data":null}` + "\n",
		false: `{"data":{"ok":true}}` + "\n",
	} {
		h := testHandler(t, block)
		ctx := graphql.StartOperationTrace(t.Context())
		op, errs := h.prepare(ctx, &graphql.RawParams{Query: "{__typename}"})
		if errs != nil {
			t.Fatal(errs)
		}
		limit := time.Minute
		if block {
			limit = time.Nanosecond
		}
		if got := string(h.run(ctx, op, limit).body.bytes()); got != want {
			t.Errorf("block %v: got %s, want %s", block, got, want)
		}
	}
}

// A panic is reported as an internal error without its cause.
func TestPanicIsReported(t *testing.T) {
	h := testHandler(t, false)
	h.documents = nil
	r := httptest.NewRequest("POST", "/graphql", strings.NewReader(`{"query":"{__typename}"}`))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != 500 || !strings.Contains(w.Body.String(), `"INTERNAL"`) ||
		strings.Contains(w.Body.String(), "nil pointer") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
