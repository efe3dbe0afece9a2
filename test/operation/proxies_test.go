package operation_test

import (
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/test/servertest"
)

// TestClientsBehindAProxy checks that each client behind a trusted proxy has a separate rate limit,
// that an IPv6 network shares one limit, and that forged headers have no effect.
func TestClientsBehindAProxy(t *testing.T) {
	limited := func(c *config.Settings) { c.RateLimit = 2 }
	from := func(s *servertest.Server, address string) int {
		r := s.Client("").Request(http.MethodGet, "/files/1", nil)
		r.Header.Set("X-Forwarded-For", address)
		return s.Client("").Send(r).StatusCode
	}
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		for i, c := range []struct {
			address string
			want    int
		}{
			{"198.51.100.1", 401}, {"198.51.100.1, 127.0.0.9", 401}, {"198.51.100.1", 429}, {"203.0.113.77, 198.51.100.1", 429},
			{"198.51.100.2", 401},
			{"2001:db8::1", 401}, {"2001:db8::ffff:1", 401}, {"2001:db8::2", 429}, {"2001:db8:0:1::1", 401},
		} {
			if got := from(s, c.address); got != c.want {
				t.Errorf("request %d, from %s: %d, want %d", i, c.address, got, c.want)
			}
		}
	}, servertest.BehindProxy(t), limited)
	t.Run("none", func(t *testing.T) {
		s := servertest.Start(t, "sqlite", limited)
		for i, want := range []int{401, 401, 429} {
			if got := from(s, "198.51.100."+servertest.ID(int64(i))); got != want {
				t.Errorf("request %d: %d, want %d", i, got, want)
			}
		}
	})
}

// TestSignInBehindAProxy checks that sign-in attempts are counted by the address of the client,
// which the log contains.
func TestSignInBehindAProxy(t *testing.T) {
	t.Parallel()
	logged := new(servertest.LogBuffer)
	settings := servertest.Settings(t, "sqlite")
	servertest.BehindProxy(t)(&settings)
	s := servertest.RunLogging(t, settings, slog.NewTextHandler(logged, nil))
	for _, c := range []struct {
		address string
		want    int
	}{{"198.51.100.1", 429}, {"198.51.100.2", 403}} {
		status := 0
		for range 11 { // ten attempts are allowed for one account from one address
			r := s.Client("").Request(http.MethodPost, "/login",
				url.Values{"username": {"ada"}, "password": {"wrong horse"}}.Encode())
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Header.Set("X-Forwarded-For", c.address)
			if status = s.Client("").Send(r).StatusCode; c.want == 403 {
				break
			}
		}
		if status != c.want {
			t.Errorf("from %s: %d, want %d", c.address, status, c.want)
		}
		if !strings.Contains(logged.String(), "client="+c.address+" ") {
			t.Errorf("%s is not in the log", c.address)
		}
	}
}
