package graph

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

func TestAnswerType(t *testing.T) {
	for accept, want := range map[string]string{
		"": plainJSON, "*/*": plainJSON, "application/*": plainJSON, "text/html": plainJSON, "application/json": plainJSON,
		"application/graphql-response+json":                                    graphQLResponse,
		"application/graphql-response+json; charset=utf-8, application/json":   graphQLResponse,
		"application/json, application/graphql-response+json":                  plainJSON,
		"application/graphql-response+json;q=0.5, application/json":            plainJSON,
		"application/json;q=0.9,application/graphql-response+json":             graphQLResponse,
		"Application/GraphQL-Response+JSON":                                    graphQLResponse,
		"application/graphql-response+json;q=0, text/html":                     plainJSON,
		"application/graphql-response+json;q=NaN":                              plainJSON,
		"text/html, application/xhtml+xml, */*;q=0.8":                          plainJSON,
		"*/*;q=0.1, application/graphql-response+json;v=1;Q=0.2":               graphQLResponse,
		"application/graphql-response+json;q=0.5, application/json;q=0.500001": plainJSON,
	} {
		if got := answerType([]string{accept}); got != want {
			t.Errorf("Accept: %s: %s, want %s", accept, got, want)
		}
	}
	if got := answerType([]string{"text/html", "application/graphql-response+json"}); got != graphQLResponse {
		t.Errorf("two headers: %s", got)
	}
}

func FuzzAccept(f *testing.F) {
	f.Add("application/graphql-response+json;q=0.5, */*;q=0.1")
	f.Add("application/json;q=,;,")
	f.Fuzz(func(t *testing.T, accept string) {
		got := answerType([]string{accept})
		if got == graphQLResponse && !strings.Contains(strings.ToLower(accept), graphQLResponse) || got != graphQLResponse && got != plainJSON {
			t.Errorf("Accept: %q: %s", accept, got)
		}
	})
}

// Errors repeat neither themselves nor what was sent without end.
func TestShorten(t *testing.T) {
	errs := make(gqlerror.List, 500)
	for i := range errs {
		errs[i] = gqlerror.Errorf("%s", strings.Repeat("é", 10_000))
	}
	body := encode(&graphql.Response{Errors: errs})
	var answer struct{ Errors []struct{ Message string } }
	if err := json.Unmarshal(body, &answer); err != nil || len(answer.Errors) != maxErrors || len(body) > 16<<10 {
		t.Fatalf("%v: %d errors, %d bytes", err, len(answer.Errors), len(body))
	}
	if m := answer.Errors[0].Message; !utf8.ValidString(m) || len(m) > maxMessage+len("…") || len(errs[0].Message) != 20_000 {
		t.Errorf("a message of %d bytes: %q", len(m), m)
	}
}

// What cannot be run has no data, not even none; what was run has, and errors stand first.
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
			got = string(withExtensions(body, map[string]any{"cost": map[string]int{"of": 5}})) + "."
			if string(body) != "{\"data\":{}}\n" {
				t.Errorf("an answer that others share became %s", body)
			}
		} else {
			got = string(encode(response))
		}
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// An operation that takes too long is ended, and told so.
func TestTookTooLong(t *testing.T) {
	h, err := New(&Resolver{}).Handler(Options{})
	if err != nil {
		t.Fatal(err)
	}
	over := h.(*overHTTP)
	ctx := graphql.StartOperationTrace(t.Context())
	params := &graphql.RawParams{Query: "{__typename}"}
	op, errs := over.understand(ctx, params)
	if errs != nil {
		t.Fatal(errs)
	}
	if got := string(over.run(ctx, op, time.Nanosecond)); !strings.Contains(got, `"data":null`) || !strings.Contains(got, `"TOO_LARGE"`) || !strings.Contains(got, "too long") {
		t.Errorf("got %s", got)
	}
	if got := string(over.run(ctx, op, time.Minute)); got != `{"data":{"__typename":"Query"}}`+"\n" {
		t.Errorf("got %s", got)
	}
}

// A panic is answered as any other failure of ours.
func TestPanicIsAnswered(t *testing.T) {
	h, err := New(&Resolver{}).Handler(Options{})
	if err != nil {
		t.Fatal(err)
	}
	h.(*overHTTP).documents = nil
	r := httptest.NewRequest("POST", "/graphql", strings.NewReader(`{"query":"{__typename}"}`))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != 500 || !strings.Contains(w.Body.String(), `"INTERNAL"`) || strings.Contains(w.Body.String(), "nil pointer") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
