package signin_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/test/servertest"
)

// TestUsersOfOneAddress checks that users who are signed in behind one address each have their own
// rate limit, in the gallery, on the account pages and in the API.
func TestUsersOfOneAddress(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		const users, rounds = 12, 8
		browsers := make([]*servertest.Browser, users)
		for i := range users {
			name := fmt.Sprint("pupil", i)
			s.User(name)
			s.Password(name, servertest.Password)
			browsers[i] = s.Browser()
			browsers[i].SignIn(name, servertest.Password).Want(t, http.StatusSeeOther)
		}
		for range rounds {
			for _, b := range browsers {
				for _, path := range []string{"/login/tokens", "/login/password"} {
					b.Get(path).Want(t, http.StatusOK)
				}
				if code := (sessionCaller{t, s.URL, sessionOf(t, b)}).ask("{ __typename }", nil); code != "" {
					t.Fatalf("got %s, want no error", code)
				}
			}
		}
	}, func(c *config.Settings) { c.RateLimit = 30 })
}
