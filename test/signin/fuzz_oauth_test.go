package signin_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/models/account"
	"github.com/meshyard/meshyard/test/servertest"
)

// FuzzOAuth checks that no value of any sign-in parameter causes a 5xx status, or a redirect to
// anything but a page of the server or a registered redirect URI.
func FuzzOAuth(f *testing.F) {
	s := servertest.Start(servertest.Unlogged{TB: f}, "sqlite")
	s.User("ada")
	s.Password("ada", servertest.Password)
	signedIn, nobody := s.Browser(), s.Browser()
	signedIn.SignIn("ada", servertest.Password)
	secret, a, err := s.Store.Account.Admin().RegisterApplication(context.Background(),
		account.NewApplication{Name: "Slicer", RedirectURIs: []string{servertest.Redirect}, AllowsImplicit: true})
	if err != nil {
		f.Fatal(err)
	}
	good := map[string]string{
		"client_id": a.ClientID, "client_secret": secret, "redirect_uri": servertest.Redirect, "response_type": "code",
		"state": "s", "scope": "read",
		"code_challenge": strings.Repeat("a", 43), "code_challenge_method": "S256", "grant_type": "authorization_code",
		"code": "c", "code_verifier": strings.Repeat("v", 43),
		"access_token": "my_x", "username": "ada", "password": "wrong", "next": "/login", "decision": "allow",
		"error": "access_denied", "session": "x",
	}
	var names []string
	for name := range good {
		names = append(names, name)
	}
	paths := []string{"/login", "/login/", "/login/oauth/authorize", "/login/oauth/access_token", "/login/oauth/tokeninfo",
		"/login/oidc", "/login/oidc/callback"}
	for i := range uint8(len(paths)) {
		f.Add(i, "client_id", a.ClientID, "")
	}
	for i, text := range append([]string{servertest.Redirect + "/..", "//evil.example", `/\evil.example`,
		"https://app.example.evil.example/cb", "https://app.example@evil.example/cb", "javascript:alert(1)",
		"/login//evil.example", "%0d%0aLocation: x", "token", "/\t/evil.example"}, servertest.HostileTexts...) {
		f.Add(uint8(i), "redirect_uri", text, text)
		f.Add(uint8(i+1), "next", text, "")
		f.Add(uint8(i+2), "state", text, text)
	}
	f.Fuzz(func(t *testing.T, where uint8, name, text, twice string) {
		if _, known := good[name]; !known {
			name = names[int(where)%len(names)]
		}
		form := make(url.Values)
		for n, value := range good {
			form.Set(n, value)
		}
		form.Set(name, text)
		if twice != "" {
			form.Add(name, twice)
		}
		path := paths[int(where)%len(paths)]
		for _, b := range []*servertest.Browser{signedIn, nobody} {
			for _, r := range []*servertest.Response{b.Get(path + "?" + form.Encode()), b.Post(path, form)} {
				if r.StatusCode >= 500 {
					t.Errorf("%s %s: %d %.300s", path, form.Encode(), r.StatusCode, r.Bytes)
				}
				to := r.Header.Get("Location")
				own := strings.HasPrefix(to, "/") && (len(to) == 1 || to[1] != '/' && to[1] != '\\') &&
					!strings.ContainsAny(to, "\t\r\n")
				registered := strings.HasPrefix(to, servertest.Redirect+"?") || strings.HasPrefix(to, servertest.Redirect+"#")
				if (to != "" || r.StatusCode == http.StatusSeeOther) && !own && !registered && !strings.HasPrefix(to, s.URL+"/") {
					t.Errorf("%s %s: leads to %q", path, form.Encode(), to)
				}
			}
		}
	})
}
