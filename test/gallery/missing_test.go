package gallery_test

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/test/servertest"
)

// visit requests a path as a browser that opens a page.
func visit(c *servertest.Client, path string) *servertest.Response {
	r := c.Request(http.MethodGet, path, nil)
	r.Header.Set("Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8")
	return c.Send(r)
}

// TestMissingPages checks that a browser gets a page for a path that does not exist, and that the
// responses to programs and those of the REST API stay the same.
func TestMissingPages(t *testing.T) {
	s := servertest.Start(t, "sqlite")
	ada, visitor := s.User("ada"), s.Client("")
	for _, path := range []string{
		"/a/b/c", "/ada/foo", "/category/", "/category", "/login/nope", "/user/ada/makes", "/MAKE", "/thing", "/a/../login",
		"/login//", "/.env", "/glb/1",
		"/reference/nope", "/graphiql/nope",
	} {
		r := visit(visitor, path).Want(t, 404)
		if page := string(r.Bytes); !strings.HasPrefix(r.Header.Get("Content-Type"), "text/html") ||
			!strings.Contains(page, "<h1>Not found</h1>") || !strings.Contains(page, `class="brand"`) {
			t.Errorf("%s in a browser: got %v\n%s\nwant a page", path, r.Header, page)
		}
		for name, r := range map[string]*servertest.Response{
			"a program": visitor.Get(path), "a browser with a token": visit(ada, path),
			"a browser that posts": visitor.Do("POST", path, servertest.Object{}),
		} {
			const want = `{"error":"Not Found","code":404,"type":"NOT_FOUND","message":"this path does not exist"}` + "\n"
			if r.StatusCode != 404 || string(r.Bytes) != want {
				t.Errorf("%s, %s: got %d %s want %s", path, name, r.StatusCode, r.Bytes, want)
			}
		}
	}
	for path, status := range map[string]int{
		"/things/1": 401, "/search/a%2Fb": 401, "/things": 405, "/users/ada/": 401, "/groups/1": 401, "/api/nope": 404,
		"/api/things/1": 401, "/graphql": 400, "/upload_file_storage": 405,
		"/blobs/1/a.stl": 404,
	} {
		browser, program := visit(visitor, path).Want(t, status), visitor.Get(path).Want(t, status)
		if string(browser.Bytes) != string(program.Bytes) || !strings.Contains(browser.Header.Get("Content-Type"), "json") {
			t.Errorf("%s: a browser got %s\na program got %s", path, browser.Bytes, program.Bytes)
		}
	}
	private := servertest.Start(t, "sqlite")
	visit(private.Client(""), "/a/b/c").Want(t, 404)
}

// TestMissingPageRateLimit checks that a browser gets a page for an unknown path above the limit.
func TestMissingPageRateLimit(t *testing.T) {
	s := servertest.Start(t, "sqlite", func(c *config.Settings) { c.RateLimit = 3 })
	visitor := s.Client("")
	for range 3 {
		visit(visitor, "/a/b/c").Want(t, 404)
	}
	servertest.WantProblem(t, visit(visitor, "/a/b/c"), 429, "Too many requests")
	for range 3 {
		visit(visitor, "/login/nope").Want(t, 404)
	}
	servertest.WantProblem(t, visit(visitor, "/login/nope"), 429, "Too many requests")
	visitor.Get("/a/b/c").Want(t, 429, new(map[string]any))
}

// TestPagesOfUsersAreLimited checks that pages are counted for each user who is signed in, not for
// the address that they share, and that a forged session cookie does not escape the limit.
func TestPagesOfUsersAreLimited(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			s := servertest.Start(t, engine, func(c *config.Settings) { c.RateLimit = 4 })
			signedIn := func(name string) *servertest.Browser {
				s.User(name)
				s.Password(name, servertest.Password)
				b := s.Browser()
				b.SignIn(name, servertest.Password).Want(t, 303)
				return b
			}
			ada, again, bob := signedIn("ada"), s.Browser(), signedIn("bob")
			again.SignIn("ada", servertest.Password).Want(t, 303)
			for range 2 { // both browsers of a user count together
				ada.Get("/").Want(t, 200)
				again.Get("/").Want(t, 200)
			}
			ada.Get("/").Want(t, 429)
			again.Get("/").Want(t, 429)
			for range 4 {
				bob.Get("/").Want(t, 200)
			}
			bob.Get("/").Want(t, 429)
			visitor := s.Client("")
			for _, status := range []int{200, 200, 200, 200, 429, 429} {
				r := visitor.Request("GET", "/", nil)
				r.Header.Set("Cookie", "meshyard_session="+rand.Text())
				visitor.Send(r).Want(t, status)
			}
			visitor.Get("/").Want(t, 429)
		})
	}
}

// TestProbesAreLimited checks that nobody can try IDs of things and files without a limit: pages of
// things and HEAD requests for downloads count together.
func TestProbesAreLimited(t *testing.T) {
	s := servertest.Start(t, "sqlite", func(c *config.Settings) { c.RateLimit = 4 })
	visitor := s.Client("")
	for id := range 2 {
		visitor.Get(fmt.Sprint("/thing:", id+1)).Want(t, 404)
		visitor.Do("HEAD", fmt.Sprint("/download:", id+1), nil).Want(t, 404)
	}
	visitor.Get("/thing:3").Want(t, 429)
	visitor.Do("HEAD", "/download:3", nil).Want(t, 429)
	visitor.Get("/download:3").Want(t, 404) // downloads are not counted
}

// TestSearchInBrowser checks that a browser that opens a search of the REST API gets to the search
// page, and that programs get the response of the API.
func TestSearchInBrowser(t *testing.T) {
	s := servertest.Start(t, "sqlite")
	ada, visitor, browser := s.User("ada"), s.Client(""), s.Browser()
	browser.Accept = "text/html"
	for path, want := range map[string]string{
		"/search": "/explore", "/search/": "/explore", "/search?q=gear&type=makes": "/explore?q=gear&type=makes",
		"/search/gear/?type=users": "/explore?q=gear&type=users", "/search/half%20a+donut": "/explore?q=half+a+donut",
		"/search/a%26b": "/explore?q=a%26b",
	} {
		r := browser.Get(path).Want(t, 302)
		if got := strings.TrimPrefix(r.Header.Get("Location"), s.URL); got != want || r.Header.Get("Vary") != "Accept" {
			t.Errorf("%s in a browser: got %s %v, want %s that depends on Accept", path, got, r.Header, want)
		}
		visitor.Get(path).Want(t, 401)
		ada.Get(path).Want(t, 200)
		visit(ada, path).Want(t, 200)
		visit(visitor, "/api"+path).Want(t, 401)
	}
	visit(visitor, "/search/gear/tag").Want(t, 401)
}
