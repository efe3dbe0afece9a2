package operation_test

import (
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/cmd/meshyard/server"
	"github.com/meshyard/meshyard/internal/telemetry"
	"github.com/meshyard/meshyard/test/servertest"
)

// TestRequestLog checks that the log line of a request contains the caller and the operation, and
// that the IDs of a request and its trace are those that the client sent, or new ones.
func TestRequestLog(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			log := new(servertest.LogBuffer)
			s := servertest.RunLogging(t, servertest.Settings(t, engine), telemetry.WithRequest(slog.NewJSONHandler(log, nil)))
			ada := s.User("ada")
			send := func(r *http.Request, id string) string {
				r.Header.Set("X-Request-Id", id)
				r.Header.Set("Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
				if r.URL.Path == "/graphql" {
					r.Header.Set("Content-Type", "application/json")
				}
				return ada.Send(r).Header.Get("X-Request-Id")
			}
			post := func(body any) *http.Request { return ada.Request(http.MethodPost, "/graphql", body) }
			anonymous := ada.Request(http.MethodGet, "/schema.graphql", nil)
			anonymous.Header.Set("Authorization", "none")
			for _, c := range []struct {
				id, operation string
				user          any
				request       *http.Request
			}{
				{"rest:1", "get_users_username", 1.0, ada.Request(http.MethodGet, "/users/me", nil)},
				{"graphql-1", "Mine", 1.0, post(servertest.QueryBody("query Mine { me { id } }"))},
				{"graphql-2", "Query.me,Query.categories", 1.0, post(servertest.QueryBody("{ me { id } categories { name } }"))},
				{"schema", "", nil, anonymous},
			} {
				if got := send(c.request, c.id); got != c.id {
					t.Errorf("%s: the response has X-Request-Id %q", c.id, got)
				}
				lines := log.With(t, "request_id", c.id)
				if len(lines) != 1 {
					t.Errorf("%s: got %d log lines, want 1", c.id, len(lines))
					continue
				}
				operation, _ := lines[0]["operation"].(string)
				if operation != c.operation || lines[0]["user_id"] != c.user || lines[0]["token_id"] != c.user ||
					lines[0]["trace_id"] != "0af7651916cd43dd8448eb211c80319c" {
					t.Errorf("%s: got %v, want the operation %q and the user and token %v", c.id, lines[0], c.operation, c.user)
				}
			}
			for _, bad := range []string{"", "two words", strings.Repeat("x", 129), `"`} {
				id := send(ada.Request(http.MethodGet, "/schema.graphql", nil), bad)
				if id == bad || len(id) != 16 || len(log.With(t, "request_id", id)) != 1 {
					t.Errorf("X-Request-Id %q: got %q, want a new id", bad, id)
				}
			}
			log.Mu.Lock()
			defer log.Mu.Unlock()
			if strings.Contains(log.Text.String(), strings.TrimPrefix(ada.Token, "meshyard_")) {
				t.Error("the log contains the token")
			}
		})
	}
}

// TestTakenPathIsLogged checks that a server logs the users whose name is a path of the server,
// which an earlier version allowed, and that commands do not log them.
func TestTakenPathIsLogged(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			log := new(servertest.LogBuffer)
			handler := slog.NewJSONHandler(log, nil)
			s := servertest.RunLogging(t, servertest.Settings(t, engine), handler)
			s.User("ada")
			if _, err := servertest.OpenDB(t, s).SQL().
				Exec("UPDATE users SET username = 'Things' WHERE username = 'ada'"); err != nil {
				t.Fatal(err)
			}
			command, err := server.Open(t.Context(), s.Settings, slog.New(handler))
			if err != nil {
				t.Fatal(err)
			}
			if err := command.Close(); err != nil {
				t.Fatal(err)
			}
			if lines := log.With(t, "username", "Things"); len(lines) > 0 {
				t.Errorf("a command logged %v", lines)
			}
			s.Restart()
			if lines := log.With(t, "username", "Things"); len(lines) != 1 || lines[0]["level"] != "WARN" {
				t.Errorf("the server logged %v, want a warning", lines)
			}
		})
	}
}
