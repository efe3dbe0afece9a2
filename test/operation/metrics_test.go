package operation_test

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/test/servertest"
)

func TestMetrics(t *testing.T) {
	servertest.Concurrent(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		stl := servertest.Mesh(t, "hschendel_simple_bin.stl")
		thing, file := ada.Thing("One"), ada.Upload("a.stl", stl)
		ada.Finalize("thing", thing, file).Want(t, 200)
		ada.Publish(thing).Want(t, 200)
		servertest.Settled(t, ada, file)
		ada.Get(fmt.Sprintf("/things/%d", thing)).Want(t, 200)
		ada.Get("/things/999").Want(t, 404)
		ada.Get(fmt.Sprintf("/files/%d/download", file)).Want(t, 302)
		ada.Get("/no/such/path").Want(t, 404)
		ada.GraphQL("{ me { id } a: thing(id: 999) { id } }", nil)
		ada.Get("/schema.graphql").Want(t, 200)
		text := servertest.Scrape(t, s)
		for _, line := range []string{
			`meshyard_http_requests_total{route="GET /things/{thing_id}",status="200"} 1`,
			`meshyard_http_requests_total{route="GET /things/{thing_id}",status="404"} 1`,
			`meshyard_http_requests_total{route="GET /schema.graphql",status="200"} 1`,
			`meshyard_http_requests_total{route="none",status="404"} 1`,
			`meshyard_http_request_duration_seconds_count{route="GET /things/{thing_id}"} 2`,
			`meshyard_graphql_fields_total{field="Query.me"} 1`,
			`meshyard_errors_total{code="NOT_FOUND"} 2`, // one from each API
			`meshyard_errors_total{code="INTERNAL"} 0`,
			`meshyard_uploads_total 1`,
			fmt.Sprintf("meshyard_upload_bytes_total %d", len(stl)),
			`meshyard_downloads_total 1`,
			`meshyard_previews_total{outcome="done"} 1`,
			`meshyard_bucket_errors_total{call="put"} 0`,
			`meshyard_database_errors_total{verb="INSERT"} 0`,
			`meshyard_queue_up{queue="previews"} 1`,
			`meshyard_queue_up{queue="jobs"} 1`,
			`meshyard_queue_entries{queue="previews",state="waiting"} 0`,
		} {
			if !strings.Contains(text, "\n"+line+"\n") {
				t.Errorf("the metrics do not contain %s", line)
			}
		}
		for _, pattern := range []string{
			`meshyard_database_statement_duration_seconds_count{verb="SELECT"} [1-9]`,
			`meshyard_bucket_call_duration_seconds_count{call="put"} [1-9]`, `go_sql_open_connections{db_name="\w+"} [1-9]`,
			`meshyard_build_info{version=".*"} 1`, `go_goroutines [1-9]`,
		} {
			if !regexp.MustCompile(pattern).MatchString(text) {
				t.Errorf("the metrics do not match %s", pattern)
			}
		}
		if strings.Contains(text, `request_duration_seconds_count{route="POST /files/0/uploadFile"}`) ||
			!strings.Contains(text, `requests_total{route="POST /files/0/uploadFile"`) {
			t.Error("an upload: want it counted, without its duration")
		}
		for _, secret := range []string{ada.Token, "/things/999", "no/such"} {
			if strings.Contains(text, secret) {
				t.Errorf("the metrics contain %q, which a client sent", secret)
			}
		}
	}, servertest.WithMetrics, servertest.Derives)
}

// TestMetricsNeedTheirToken checks that the main address serves metrics only to requests with the
// token of the settings.
func TestMetricsNeedTheirToken(t *testing.T) {
	t.Parallel()
	s := servertest.Start(t, "sqlite", servertest.WithMetrics)
	for token, want := range map[string]int{"": 401, "other": 401, s.User("ada").Token: 401, "scrape": 200} {
		s.Client(token).Get("/metrics").Want(t, want)
	}
	without := servertest.Start(t, "sqlite")
	for _, token := range []string{"", "scrape"} {
		without.Client(token).Get("/metrics").Want(t, 404)
	}
}

func TestMetricsOnTheirOwnAddress(t *testing.T) {
	t.Parallel()
	s := servertest.Start(t, "sqlite", func(c *config.Settings) { c.MetricsListen = "127.0.0.1:0" })
	address, err := s.ListenMetrics(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]int{"/metrics": 200, "/things/1": 404, "/graphql": 404} {
		r, err := http.Get("http://" + address.String() + path)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(r.Body)
		r.Body.Close()
		if r.StatusCode != want || want == 200 && !strings.Contains(string(body), "meshyard_build_info") {
			t.Errorf("%s: got %s: %.200s", path, r.Status, body)
		}
	}
}
