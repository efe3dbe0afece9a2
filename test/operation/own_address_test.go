package operation_test

import (
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/test/servertest"
)

// TestOtherAddresses checks a server whose base URL is not set: at its IP address, users sign in
// and all URLs begin with that address. At a name that another website could have, no form is
// accepted, the pages say what to set, and no URL begins with the name.
func TestOtherAddresses(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		s.Password("ada", servertest.Password)
		thing := servertest.PublishedThing(t, ada, "Gear")
		file := ada.Upload("gear.stl", servertest.Mesh(t, "hschendel_simple_bin.stl"))
		ada.Finalize("thing", thing, file).Want(t, http.StatusOK)
		send := func(r *http.Request, host string) (*http.Response, string) {
			t.Helper()
			r.Host = host
			response, err := (&http.Client{CheckRedirect: func(*http.Request,
				[]*http.Request) error {
				return http.ErrUseLastResponse
			}}).Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			body, err := io.ReadAll(response.Body)
			if err != nil {
				t.Fatal(err)
			}
			return response, string(body)
		}
		get := func(path, host string) string {
			r, _ := http.NewRequest(http.MethodGet, s.URL+path, nil)
			r.Header.Set("Accept", "text/html, */*")
			if strings.HasPrefix(path, "/things/") || strings.HasPrefix(path, "/search/") {
				r.Header.Set("Authorization", "Bearer "+ada.Token)
			}
			_, body := send(r, host)
			return body
		}
		// signIn sends the form as a browser does: without HTTPS it sends no Sec-Fetch-Site.
		signIn := func(host, origin string) (*http.Response, string) {
			r, _ := http.NewRequest(http.MethodPost, s.URL+"/login",
				strings.NewReader(url.Values{"username": {"ada"}, "password": {servertest.Password}}.Encode()))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Header.Set("Origin", origin)
			return send(r, host)
		}
		const own, name = "192.168.1.5:8080", "nas.lan:8080"
		if page, body := signIn(own, "http://"+own); page.StatusCode != http.StatusSeeOther ||
			page.Header.Get("Location") != "http://"+own+"/" || len(page.Cookies()) == 0 {
			t.Errorf("sign-in at an IP address: got %d %s to %q", page.StatusCode, body, page.Header.Get("Location"))
		}
		if page, _ := signIn(own, "http://evil.example"); page.StatusCode != http.StatusForbidden {
			t.Errorf("sign-in from another site: got %d, want 403", page.StatusCode)
		}
		page, body := signIn(name, "http://"+name)
		if page.StatusCode != http.StatusMisdirectedRequest || !strings.Contains(body, "--base-url http://"+name) ||
			len(page.Cookies()) != 0 {
			t.Errorf("sign-in at a name: got %d %s, want 421 with the setting", page.StatusCode, body)
		}
		if body := get("/login", name); !strings.Contains(body, "--base-url http://"+name) {
			t.Errorf("the sign-in page at a name does not name the setting: %s", body)
		}
		if body := get("/login", own); strings.Contains(body, "--base-url") {
			t.Error("the sign-in page at an IP address names the setting")
		}
		r, _ := http.NewRequest(http.MethodGet, s.URL+"/login", nil)
		if page, _ := send(r, own); page.Header.Get("Referrer-Policy") != "same-origin" {
			t.Errorf("the referrer policy of forms is %q: without HTTPS, the origin of a form would be null",
				page.Header.Get("Referrer-Policy"))
		}

		for _, path := range []string{"/", "/thing:" + strconv.FormatInt(thing, 10), "/feed.xml", "/things/" +
			strconv.FormatInt(thing, 10), "/things/" + strconv.FormatInt(thing, 10) + "/files", "/developers", "/search/gear",
			"/view/" + strconv.FormatInt(file, 10)} {
			body := get(path, own)
			if strings.Contains(body, s.URL) || !strings.Contains(body, "http://"+own) {
				t.Errorf("%s: has the default base URL, or not the address of the client: %.600s", path, body)
			}
			if body := get(path, name); strings.Contains(body, name) {
				t.Errorf("%s: a URL begins with a name that another website can have", path)
			}
		}
	}, func(s *config.Settings) { s.BaseURLIsDefault = true })
}
