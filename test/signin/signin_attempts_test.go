package signin_test

import (
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"testing"

	"github.com/meshyard/meshyard/test/servertest"
)

// signInFrom tries to sign in from an address, with the given cookies.
func signInFrom(s *servertest.Server, address, name, password string, cookies ...*http.Cookie) *servertest.Response {
	r := s.Client("").Request(http.MethodPost, "/login", url.Values{"username": {name}, "password": {password}}.Encode())
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("X-Forwarded-For", address)
	for _, c := range cookies {
		r.AddCookie(c)
	}
	return s.Client("").Send(r)
}

// TestSignInTakesUserNamesOnly checks that a name that only resembles a username is rejected, so
// that it cannot bypass the limits of that user.
func TestSignInTakesUserNamesOnly(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		s.User("mallory")
		s.Password("mallory", servertest.Password)
		for _, name := range []string{"mal\x01lory", "mallory\x7f", "mal\u200blory", "mal\u00adlory", "mall\x00ory",
			"MALLORY\x1b"} {
			if r := signInFrom(s, "198.51.100.1", name, servertest.Password); r.StatusCode != http.StatusForbidden ||
				len(r.Cookies()) > 0 {
				t.Errorf("sign-in as %q: %d, want 403", name, r.StatusCode)
			}
		}
		signInFrom(s, "198.51.100.1", " MALLORY ", servertest.Password).Want(t, http.StatusSeeOther)
	})
}

// TestSignInIsNotLockedByOthers checks that attempts to guess a user's password from many networks
// delay that user's sign-in on a new device, but do not prevent it.
func TestSignInIsNotLockedByOthers(t *testing.T) {
	servertest.Concurrent(t, func(t *testing.T, s *servertest.Server) {
		s.User("ada")
		s.Password("ada", servertest.Password)
		var attackers sync.WaitGroup
		for network := range 6 {
			attackers.Go(func() {
				for range 10 {
					signInFrom(s, fmt.Sprintf("198.51.100.%d", network), "ada", "wrong horse").Want(t, http.StatusForbidden)
				}
			})
		}
		attackers.Wait()
		signInFrom(s, "198.51.100.1", "ada", servertest.Password).Want(t, http.StatusTooManyRequests)
		signInFrom(s, "203.0.113.7", "ada", servertest.Password).Want(t, http.StatusSeeOther)
	}, servertest.BehindProxy(t))
}

// TestSignInOnAKnownDevice checks that a browser in which the user has signed in before can sign in
// while others on the same network guess passwords. Its device cookie must be useless for another
// user, after a modification, and for guessing.
func TestSignInOnAKnownDevice(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		const network = "198.51.100.1"
		for _, name := range []string{"ada", "bob"} {
			s.User(name)
			s.Password(name, servertest.Password)
		}
		var known *http.Cookie
		for _, c := range signInFrom(s, network, "ada", servertest.Password).Want(t, http.StatusSeeOther).Cookies() {
			if c.Name == "meshyard_device" {
				known = c
			}
		}
		if known == nil || !known.HttpOnly || known.SameSite != http.SameSiteLaxMode || known.MaxAge <= 0 {
			t.Fatalf("the cookie of a known device is %+v", known)
		}
		for _, name := range []string{"ada", "bob"} {
			for range 10 {
				signInFrom(s, network, name, "wrong horse").Want(t, http.StatusForbidden)
			}
			signInFrom(s, network, name, servertest.Password).Want(t, http.StatusTooManyRequests)
		}
		signInFrom(s, network, "ADA", servertest.Password, known).Want(t, http.StatusSeeOther)
		signInFrom(s, network, "bob", servertest.Password, known).Want(t, http.StatusTooManyRequests)
		changed := *known
		changed.Value = "x" + changed.Value
		signInFrom(s, network, "ada", servertest.Password, &changed).Want(t, http.StatusTooManyRequests)
		for range 10 {
			signInFrom(s, network, "ada", "wrong horse", known).Want(t, http.StatusForbidden)
		}
		signInFrom(s, network, "ada", "wrong horse", known).Want(t, http.StatusTooManyRequests)
	}, servertest.BehindProxy(t))
}
