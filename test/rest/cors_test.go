package rest_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/test/servertest"
)

// TestPagesOfOtherSites checks that pages may send requests and open WebSockets as the setting
// allows, and never with cookies.
func TestPagesOfOtherSites(t *testing.T) {
	t.Parallel()
	const friend, stranger = "https://app.example.org", "https://app.example.org.evil.example"
	// The values are the expected Access-Control-Allow-Origin, by origin of the page.
	for setting, want := range map[string]map[string]string{
		"*": {friend: "*", stranger: "*", "null": "*"},
		"http://localhost:3000," + friend: {friend: friend, stranger: "", "null": "", "https://APP.example.org": "",
			"http://app.example.org": ""},
		"none": {friend: "", stranger: "", "null": ""},
	} {
		t.Run(setting, func(t *testing.T) {
			t.Parallel()
			s := servertest.Start(t, "sqlite", func(c *config.Settings) {
				if err := c.CORSOrigins.UnmarshalText([]byte(setting)); err != nil {
					t.Fatal(err)
				}
			})
			ada := s.User("ada")
			for origin, allowed := range want {
				for _, path := range []string{"/graphql", "/files/1", "/login", "/blobs/1/a.stl"} {
					before := s.Client("").Request(http.MethodOptions, path, nil)
					before.Header.Set("Origin", origin)
					before.Header.Set("Access-Control-Request-Method", "POST")
					before.Header.Set("Access-Control-Request-Headers", "authorization,content-type")
					call := ada.Request(http.MethodGet, path, nil)
					call.Header.Set("Origin", origin)
					for _, r := range []*servertest.Response{s.Client("").Send(before), ada.Send(call)} {
						h := r.Header
						if got := h.Get("Access-Control-Allow-Origin"); got != allowed ||
							len(h.Values("Access-Control-Allow-Origin")) > 1 || h.Get("Access-Control-Allow-Credentials") != "" {
							t.Errorf("%s %s from %s: %v, want %q", r.Request.Method, path, origin, h, allowed)
						}
						if varies := slices.ContainsFunc(h.Values("Vary"),
							func(v string) bool { return strings.Contains(v, "Origin") }); !varies && setting != "none" {
							t.Errorf("%s %s from %s varies by %q", r.Request.Method, path, origin, h.Values("Vary"))
						}
						if exposed := h.Get("Access-Control-Expose-Headers"); allowed != "" && r.Request.Method == http.MethodGet &&
							!strings.Contains(exposed, "Ratelimit, Ratelimit-Policy") {
							t.Errorf("%s exposes %s", path, exposed)
						}
					}
				}
				if got := opens(t, s.URL, origin); got != (allowed != "") {
					t.Errorf("a WebSocket from %s opens: %v", origin, got)
				}
			}
			for _, origin := range []string{"", s.URL} {
				if !opens(t, s.URL, origin) {
					t.Errorf("a WebSocket from %q does not open", origin)
				}
			}
		})
	}
}

// TestPagesReadHeaders checks that scripts of other origins can read all headers that are meant for
// programs, such as the range and the file name of a download.
func TestPagesReadHeaders(t *testing.T) {
	t.Parallel()
	s := servertest.Start(t, "sqlite")
	ada := s.User("ada")
	thing := servertest.PublishedThing(t, ada, "Vase")
	file := ada.Upload("a.stl", servertest.Mesh(t, "hschendel_simple_bin.stl"))
	ada.Finalize("thing", thing, file).Want(t, 200)
	var v struct{ RecordDownload struct{ URL string } }
	ada.Query(`mutation ($id: ID!) { recordDownload(input: {fileId: $id}) { url } }`,
		servertest.Object{"id": servertest.ID(file)}, &v)

	// Headers that browsers always let scripts read, and those that only browsers and caches use.
	ignored := []string{"Cache-Control", "Content-Language", "Content-Length", "Content-Type", "Expires", "Last-Modified",
		"Pragma",
		"Connection", "Content-Encoding", "Date", "Vary"}
	for name, c := range map[string]struct {
		client       *servertest.Client
		method, path string
		status       int
		header       string // that the response must have
	}{
		"range": {ada, http.MethodGet, strings.TrimPrefix(v.RecordDownload.URL, s.URL), http.StatusPartialContent,
			"Content-Range"},
		"page":     {ada, http.MethodGet, "/search?per_page=1", http.StatusOK, "Total-Count"},
		"newest":   {ada, http.MethodGet, "/newest", http.StatusOK, "Deprecation"},
		"no token": {s.Client(""), http.MethodGet, "/files/1", http.StatusUnauthorized, "WWW-Authenticate"},
		"method":   {ada, http.MethodPut, "/files/1", http.StatusMethodNotAllowed, "Allow"},
		"redirect": {ada, http.MethodGet, "/files/" + servertest.ID(file) + "/download", http.StatusFound, "Location"},
		"GraphQL":  {ada, http.MethodGet, "/graphql?query={me{id}}", http.StatusOK, "ETag"},
	} {
		t.Run(name, func(t *testing.T) {
			r := c.client.Request(c.method, c.path, nil)
			r.Header.Set("Origin", "https://app.example.org")
			r.Header.Set("Range", "bytes=0-9")
			response := c.client.Send(r).Want(t, c.status)
			if response.Header.Get(c.header) == "" {
				t.Errorf("got the headers %v, want %s among them", response.Header, c.header)
			}
			exposed := strings.Split(strings.ToLower(response.Header.Get("Access-Control-Expose-Headers")), ", ")
			for h := range response.Header {
				isPolicy := strings.HasPrefix(h, "Access-Control-") || strings.HasPrefix(h, "Cross-Origin-") ||
					strings.HasSuffix(h, "-Policy") && h != "Ratelimit-Policy" || h == "X-Content-Type-Options"
				if !isPolicy && !slices.Contains(ignored, h) && !slices.Contains(exposed, strings.ToLower(h)) {
					t.Errorf("a script cannot read %s: %s", h, response.Header.Get(h))
				}
			}
		})
	}
}

// opens reports whether a page of an origin may open a WebSocket.
func opens(t *testing.T, url, origin string) bool {
	t.Helper()
	header := make(http.Header)
	if origin != "" {
		header.Set("Origin", origin)
	}
	conn, r, err := websocket.Dial(t.Context(), url+"/graphql",
		&websocket.DialOptions{Subprotocols: []string{"graphql-transport-ws"}, HTTPHeader: header})
	if err != nil {
		if r == nil || r.StatusCode != http.StatusForbidden {
			t.Errorf("a WebSocket from %s: %v", origin, err)
		}
		return false
	}
	conn.CloseNow()
	return true
}
