package operation_test

import (
	"compress/gzip"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	v1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/test/servertest"
)

// collector is an OpenTelemetry collector: it receives traces by OTLP over HTTP.
type collector struct {
	*httptest.Server
	mu    sync.Mutex
	spans []*v1.Span
}

func newCollector(t *testing.T) *collector {
	c := new(collector)
	c.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body := io.Reader(r.Body)
		if r.Header.Get("Content-Encoding") == "gzip" {
			body = servertest.Must(gzip.NewReader(r.Body))(t)
		}
		// The request has the same fields as TracesData.
		var traces v1.TracesData
		if err := proto.Unmarshal(servertest.Must(io.ReadAll(body))(t), &traces); err != nil || r.URL.Path != "/v1/traces" {
			t.Errorf("%s: %v", r.URL.Path, err)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, resource := range traces.ResourceSpans {
			for _, scope := range resource.ScopeSpans {
				c.spans = append(c.spans, scope.Spans...)
			}
		}
	}))
	t.Cleanup(c.Close)
	return c
}

// trace waits until the root span of a trace has arrived, and returns the spans of the trace by ID.
// parent is the client's span, of which the root span is a child.
func (c *collector) trace(t *testing.T, id, parent string) map[string]*v1.Span {
	t.Helper()
	for late := time.Now().Add(servertest.Hung); time.Now().Before(late); time.Sleep(20 * time.Millisecond) {
		found, complete := make(map[string]*v1.Span), false
		c.mu.Lock()
		for _, span := range c.spans {
			if hex.EncodeToString(span.TraceId) == id {
				found[hex.EncodeToString(span.SpanId)] = span
				complete = complete || hex.EncodeToString(span.ParentSpanId) == parent
			}
		}
		c.mu.Unlock()
		if complete {
			return found
		}
	}
	t.Fatalf("trace %s did not come", id)
	return nil
}

// path returns the names of a span and its ancestors, the root first.
func path(spans map[string]*v1.Span, span *v1.Span) string {
	names := []string{}
	for ; span != nil; span = spans[hex.EncodeToString(span.ParentSpanId)] {
		names = append(names, span.Name)
	}
	slices.Reverse(names)
	return strings.Join(names, " > ")
}

// TestTraces checks that the spans of a request, from HTTP to the operation, its fields, statements
// and calls to the bucket, belong to the client's trace, and that no span contains values.
func TestTraces(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			c := newCollector(t)
			s := servertest.Start(t, engine, func(s *config.Settings) { s.OTLPEndpoint, s.TraceRatio = c.URL, 1 })
			yvonne := s.User("yvonne") // a name that no hexadecimal ID contains
			file := yvonne.Upload("part.stl", servertest.Mesh(t, "hschendel_simple_bin.stl"))
			const id, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
			send := func(id string, r *http.Request) map[string]*v1.Span {
				t.Helper()
				r.Header.Set("Content-Type", "application/json")
				r.Header.Set("Traceparent", "00-"+id+"-"+parent+"-01")
				yvonne.Send(r).Want(t, 200)
				return c.trace(t, id, parent)
			}
			spans := send(id, yvonne.Request("POST", "/graphql",
				servertest.Object{"query": `query Mine($name: String!) { user(username: $name) { username things(first: 5) { nodes { id } } } }`, "variables": servertest.Object{"name": "yvonne"}}))
			paths := make(map[string]bool)
			for _, span := range spans {
				paths[path(spans, span)] = true
				for _, attribute := range span.Attributes {
					if text := attribute.Value.String(); strings.Contains(text, "yvonne") || strings.Contains(text, "SELECT ") {
						t.Errorf("%s has the attribute %s=%s", span.Name, attribute.Key, text)
					}
				}
			}
			for _, want := range []string{
				"POST /graphql", "POST /graphql > GraphQL query", "POST /graphql > GraphQL query > Query.user",
				"POST /graphql > GraphQL query > Query.user > SELECT users",
				"POST /graphql > GraphQL query > User.things", "POST /graphql > GraphQL query > User.things > SELECT things",
			} {
				if !paths[want] {
					t.Errorf("the trace lacks %s: %v", want, paths)
				}
			}
			// Test a REST request that writes, with transactions and calls to the bucket.
			thing := yvonne.Thing("Traced")
			spans = send(strings.Replace(id, "0af", "0bf", 1), yvonne.Request("POST", "/files/0/FinalizeFiles",
				servertest.FinalizeBody("thing", thing, file)))
			var found []string
			for _, span := range spans {
				found = append(found, path(spans, span))
			}
			for _, want := range []string{"POST /files/0/FinalizeFiles > GraphQL mutation > Mutation.finalizeFiles > bucket promote", "> COMMIT", "> UPDATE files"} {
				if !slices.ContainsFunc(found, func(p string) bool { return strings.HasSuffix(p, want) }) {
					t.Errorf("the trace lacks %s: %q", want, found)
				}
			}
			// A request with the sampled flag off is not traced. The later trace shows that it would have
			// arrived by now.
			r := yvonne.Request("GET", "/users/me", nil)
			r.Header.Set("Traceparent", "00-"+strings.Replace(id, "0af", "0cf", 1)+"-"+parent+"-00")
			yvonne.Send(r).Want(t, 200)
			send(strings.Replace(id, "0af", "0df", 1),
				yvonne.Request("POST", "/graphql", servertest.Object{"query": "{ me { id } }"}))
			c.mu.Lock()
			defer c.mu.Unlock()
			for _, span := range c.spans {
				if strings.HasPrefix(hex.EncodeToString(span.TraceId), "0cf") {
					t.Errorf("%s was traced although its client did not want it", span.Name)
				}
			}
		})
	}
}
