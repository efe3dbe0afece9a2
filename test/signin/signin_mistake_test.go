package signin_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/test/servertest"
)

// TestMistakesInForms checks that a browser is redirected after a form with a mistake, and that the
// page then shows the message and the entered name, once and only there.
func TestMistakesInForms(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		s.User("ada")
		s.Password("ada", servertest.Password)
		for path, c := range map[string]struct {
			form    url.Values
			to      string
			status  int
			message string
			shown   []string
		}{
			"/login": {url.Values{"username": {"ada"}, "password": {"wrong horse"}, "next": {"/explore?q=a"}},
				"/login?next=%2Fexplore%3Fq%3Da", 403, "The name or the password is wrong.",
				[]string{`value="ada"`, `value="/explore?q=a"`}},
			"/signup": {url.Values{"username": {"ada"}, "password": {"wrong horse"}, "email": {"a@b.example"}}, "/signup", 400,
				"Username &#34;ada&#34; is taken.", []string{`value="ada"`, `value="a@b.example"`}},
		} {
			b := s.Browser()
			b.Accept = "text/html,*/*;q=0.8"
			r := b.Post(path, c.form).Want(t, http.StatusSeeOther)
			if to := r.Header.Get("Location"); to != s.URL+c.to {
				t.Errorf("%s: leads to %s, want %s", path, to, c.to)
			}
			for _, kept := range r.Cookies() {
				if !kept.HttpOnly || kept.SameSite != http.SameSiteLaxMode || strings.Contains(kept.Value, "wrong") {
					t.Errorf("%s: the cookie is %v", path, kept)
				}
			}
			if other := b.Get("/login/forgotten?token=x"); strings.Contains(string(other.Bytes), c.message) {
				t.Errorf("%s: another page shows the message", path)
			}
			page := string(b.Follow(r).Want(t, c.status).Bytes)
			for _, part := range append(c.shown, c.message) {
				if !strings.Contains(page, part) || strings.Contains(page, "wrong horse") {
					t.Errorf("%s: the page lacks %s or shows the password: %s", path, part, page)
				}
			}
			if again := string(b.Follow(r).Want(t, 200).Bytes); strings.Contains(again, c.message) {
				t.Errorf("%s: the page shows the message again", path)
			}
			// A forged cookie is ignored.
			kept := r.Cookies()[0]
			request := s.Client("").Request("GET", path, nil)
			request.AddCookie(&http.Cookie{Name: kept.Name, Value: "A" + kept.Value[1:]})
			if forged := s.Client("").Send(request).Want(t, 200); strings.Contains(string(forged.Bytes), c.message) {
				t.Errorf("%s: the page shows a forged message", path)
			}
			if direct := s.Browser().Post(path, c.form).Want(t, c.status); !strings.Contains(string(direct.Bytes), c.message) {
				t.Errorf("%s: a program gets %s", path, direct.Bytes)
			}
		}
	}, func(c *config.Settings) { c.Registration = true })
}
