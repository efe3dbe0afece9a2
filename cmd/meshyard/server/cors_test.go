package server_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/meshyard/meshyard/cmd/meshyard/server/servertest"
	"github.com/meshyard/meshyard/internal/config"
)

// TestPagesOfOtherSites checks that pages may send requests and open WebSockets as the setting
// allows, and never with cookies.
func TestPagesOfOtherSites(t *testing.T) {
	t.Parallel()
	const friend, stranger = "https://app.example.org", "https://app.example.org.evil.example"
	// The values are the expected Access-Control-Allow-Origin, by origin of the page.
	for setting, want := range map[string]map[string]string{
		"*":                               {friend: "*", stranger: "*", "null": "*"},
		"http://localhost:3000," + friend: {friend: friend, stranger: "", "null": "", "https://APP.example.org": "", "http://app.example.org": ""},
		"none":                            {friend: "", stranger: "", "null": ""},
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
						if got := h.Get("Access-Control-Allow-Origin"); got != allowed || len(h.Values("Access-Control-Allow-Origin")) > 1 || h.Get("Access-Control-Allow-Credentials") != "" {
							t.Errorf("%s %s from %s: %v, want %q", r.Request.Method, path, origin, h, allowed)
						}
						if varies := slices.ContainsFunc(h.Values("Vary"), func(v string) bool { return strings.Contains(v, "Origin") }); !varies && setting != "none" {
							t.Errorf("%s %s from %s varies by %q", r.Request.Method, path, origin, h.Values("Vary"))
						}
						if exposed := h.Get("Access-Control-Expose-Headers"); allowed != "" && r.Request.Method == http.MethodGet && !strings.Contains(exposed, "Ratelimit, Ratelimit-Policy") {
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

// opens reports whether a page of an origin may open a WebSocket.
func opens(t *testing.T, url, origin string) bool {
	t.Helper()
	header := make(http.Header)
	if origin != "" {
		header.Set("Origin", origin)
	}
	conn, r, err := websocket.Dial(t.Context(), url+"/graphql", &websocket.DialOptions{Subprotocols: []string{"graphql-transport-ws"}, HTTPHeader: header})
	if err != nil {
		if r == nil || r.StatusCode != http.StatusForbidden {
			t.Errorf("a WebSocket from %s: %v", origin, err)
		}
		return false
	}
	conn.CloseNow()
	return true
}
