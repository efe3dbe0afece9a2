package graphiql

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/web/assets/assetstest"
)

// serve mounts the handler as a server does and sends a request.
func serve(t *testing.T, opts Options, method, target string, header http.Header) *http.Response {
	t.Helper()
	h := Handler(opts)
	mux := http.NewServeMux()
	mux.Handle("/graphiql", h)
	mux.Handle("/graphiql/", h)
	r := httptest.NewRequest(method, target, nil)
	maps.Copy(r.Header, header)
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, r)
	return w.Result()
}

func body(t *testing.T, response *http.Response) string {
	t.Helper()
	var b bytes.Buffer
	if _, err := b.ReadFrom(response.Body); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestPathsAndMethods(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, method, target string
		status               int
		contentType          string
	}{
		{"page", "GET", "/graphiql", 200, "text/html; charset=utf-8"},
		{"page with a slash", "GET", "/graphiql/", 200, "text/html; charset=utf-8"},
		{"page with a query", "GET", "/graphiql?query=%7Bme%7Bid%7D%7D", 200, "text/html; charset=utf-8"},
		{"HEAD of the page", "HEAD", "/graphiql", 200, "text/html; charset=utf-8"},
		{"examples", "GET", "/graphiql/examples.json", 200, "application/json"},
		{"script", "GET", "/graphiql/assets/graphiql.min.js", 200, "text/javascript; charset=utf-8"},
		{"style sheet", "GET", "/graphiql/assets/graphiql.min.css", 200, "text/css; charset=utf-8"},
		{"icon", "GET", "/graphiql/assets/meshyard.svg", 200, "image/svg+xml"},
		{"HEAD of an asset", "HEAD", "/graphiql/assets/meshyard.js", 200, "text/javascript; charset=utf-8"},
		{"unknown asset", "GET", "/graphiql/assets/nothing.js", 404, "text/plain; charset=utf-8"},
		{"file that is no asset", "GET", "/graphiql/assets/README.md", 404, "text/plain; charset=utf-8"},
		{"escape from the folder", "GET", "/graphiql/assets/..%2Fgraphiql.go", 404, "text/plain; charset=utf-8"},
		{"folder of assets", "GET", "/graphiql/assets/", 404, "text/plain; charset=utf-8"},
		{"unknown path", "GET", "/graphiql/elsewhere", 404, "text/plain; charset=utf-8"},
		{"POST to the page", "POST", "/graphiql", 405, "text/plain; charset=utf-8"},
		{"DELETE of an asset", "DELETE", "/graphiql/assets/meshyard.js", 405, "text/plain; charset=utf-8"},
		{"PUT of the examples", "PUT", "/graphiql/examples.json", 405, "text/plain; charset=utf-8"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			response := serve(t, Options{}, tc.method, tc.target, nil)
			if response.StatusCode != tc.status || response.Header.Get("Content-Type") != tc.contentType {
				t.Errorf("%s %s: got %d %q, want %d %q", tc.method, tc.target,
					response.StatusCode, response.Header.Get("Content-Type"), tc.status, tc.contentType)
			}
			if tc.status == http.StatusMethodNotAllowed && response.Header.Get("Allow") != "GET, HEAD" {
				t.Errorf("%s %s: got Allow %q, want GET, HEAD", tc.method, tc.target, response.Header.Get("Allow"))
			}
			for name, want := range map[string]string{
				"X-Content-Type-Options":       "nosniff",
				"Referrer-Policy":              "no-referrer",
				"Cross-Origin-Opener-Policy":   "same-origin",
				"Cross-Origin-Resource-Policy": "same-origin",
			} {
				if got := response.Header.Get(name); got != want {
					t.Errorf("%s %s: got %s %q, want %q", tc.method, tc.target, name, got, want)
				}
			}
			if got := response.Header.Get("Content-Security-Policy"); !strings.HasPrefix(got, "default-src 'none'; ") {
				t.Errorf("%s %s: got Content-Security-Policy %q, want default-src 'none' first", tc.method, tc.target, got)
			}
		})
	}
}

func TestPagePolicy(t *testing.T) {
	t.Parallel()
	nonces := map[string]bool{}
	for range 3 {
		response := serve(t, Options{}, "GET", "/graphiql", nil)
		policy := response.Header.Get("Content-Security-Policy")
		nonce := regexp.MustCompile(`'nonce-([^']+)'`).FindStringSubmatch(policy)
		if nonce == nil {
			t.Fatalf("got policy %q, want a nonce in it", policy)
		}
		nonces[nonce[1]] = true
		want := "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-" + nonce[1] +
			"'; font-src data:; img-src 'self' data:; " +
			"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
		if policy != want {
			t.Errorf("got policy\n%s\nwant\n%s", policy, want)
		}
		page := body(t, response)
		if strings.Count(page, nonce[1]) != 1 || !strings.Contains(page, `<link rel="stylesheet" nonce="`+nonce[1]+`"`) {
			t.Errorf("want the nonce %s once, on a style sheet, in\n%s", nonce[1], page)
		}
		if got := response.Header.Get("Cache-Control"); got != "no-store" {
			t.Errorf("got Cache-Control %q, want no-store for a page with a nonce", got)
		}
		// What the policy would block, and URLs of other hosts.
		if bad := regexp.MustCompile(`<script>|<style|style="| on[a-z]+="|javascript:|https?:|="//`).
			FindString(page); bad != "" {
			t.Errorf("the page contains %q:\n%s", bad, page)
		}
	}
	if len(nonces) != 3 {
		t.Errorf("3 pages had %d nonces", len(nonces))
	}
}

// TestPageAddresses checks that every URL in the page works and can be cached forever.
func TestPageAddresses(t *testing.T) {
	t.Parallel()
	for _, target := range []string{"/graphiql", "/graphiql/"} {
		page := body(t, serve(t, Options{}, "GET", target, nil))
		addresses := regexp.MustCompile(`(?:href|src|data-examples)="([^"]+)"`).FindAllStringSubmatch(page, -1)
		if len(addresses) != 12 {
			t.Errorf("%s: got %d addresses, want 12: %q", target, len(addresses), addresses)
		}
		for _, found := range addresses {
			address := path.Join(path.Dir(target), found[1])
			if address == "/login?next=/graphiql" { // a page of the server
				continue
			}
			response := serve(t, Options{}, "GET", address, nil)
			if response.StatusCode != http.StatusOK {
				t.Errorf("%s: %s: got %d, want 200", target, address, response.StatusCode)
			}
			if got := response.Header.Get("Cache-Control"); got != "public, max-age=31536000, immutable" {
				t.Errorf("%s: %s: got Cache-Control %q", target, address, got)
			}
		}
	}
}

// TestSignedIn checks that the page has the ID and the name of the signed-in user, and otherwise a
// link to the sign-in page.
func TestSignedIn(t *testing.T) {
	t.Parallel()
	ada := auth.SignedIn{Caller: auth.Caller{UserID: 7}, Username: `"><b>ada`}
	for want, who := range map[string]auth.SignedIn{`href="login?next=/graphiql"`: {},
		`data-user="id:7" data-username="&#34;&gt;&lt;b&gt;ada"`: ada} {
		page := body(t, serve(t, Options{SignedIn: func(*http.Request) (auth.SignedIn, bool) { return who, who.UserID != 0 }},
			"GET", "/graphiql", nil))
		if !strings.Contains(page, want) || strings.Contains(page, "<b>") {
			t.Errorf("for %+v: want %s in\n%s", who, want, page)
		}
	}
}

func TestCaching(t *testing.T) {
	t.Parallel()
	version := files()["meshyard.js"].Version
	tag := `"` + version + `"`
	for _, tc := range []struct {
		name, target string
		header       http.Header
		status       int
		cache        string
	}{
		{"its version", "/graphiql/assets/meshyard.js?v=" + version, nil, 200, "public, max-age=31536000, immutable"},
		{"no version", "/graphiql/assets/meshyard.js", nil, 200, "no-cache"},
		{"another version", "/graphiql/assets/meshyard.js?v=0123456789abcdef", nil, 200, "no-cache"},
		{"unchanged", "/graphiql/assets/meshyard.js", http.Header{"If-None-Match": {tag}}, 304, "no-cache"},
		{"changed", "/graphiql/assets/meshyard.js", http.Header{"If-None-Match": {`"old"`}}, 200, "no-cache"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			response := serve(t, Options{}, "GET", tc.target, tc.header)
			if response.StatusCode != tc.status || response.Header.Get("Cache-Control") != tc.cache ||
				response.Header.Get("ETag") != tag {
				t.Errorf("%s: got %d %q %s, want %d %q %s", tc.target,
					response.StatusCode, response.Header.Get("Cache-Control"), response.Header.Get("ETag"), tc.status, tc.cache, tag)
			}
		})
	}
}

func TestExamplesServed(t *testing.T) {
	t.Parallel()
	own := []Example{{Title: "Mine", Query: "{ me { id } } # </script>", Variables: "{}"}}
	for _, tc := range []struct {
		name string
		opts Options
		want []Example
	}{
		{"built in", Options{}, Examples()},
		{"given", Options{Examples: own}, own},
		{"none", Options{Examples: []Example{}}, []Example{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var got []Example
			text := body(t, serve(t, tc.opts, "GET", "/graphiql/examples.json", nil))
			if err := json.Unmarshal([]byte(text), &got); err != nil || !slices.Equal(got, tc.want) || got == nil {
				t.Errorf("got %s, %v, want %v", text, err, tc.want)
			}
		})
	}
}

func TestAssets(t *testing.T) {
	t.Parallel()
	assetstest.Check(t, files(), func(name string) bool { return strings.HasPrefix(name, "meshyard.") })
}

func BenchmarkPage(b *testing.B) {
	h := Handler(Options{})
	r := httptest.NewRequest("GET", "/graphiql", nil)
	for b.Loop() {
		h.ServeHTTP(httptest.NewRecorder(), r)
	}
}

// TestGerman checks that the page is in German for a visitor who prefers it.
func TestGerman(t *testing.T) {
	r := httptest.NewRequest("GET", "/graphiql", nil)
	r.Header.Set("Accept-Language", "de-AT, en;q=0.5")
	w := httptest.NewRecorder()
	Handler(Options{}).ServeHTTP(w, r)
	for _, want := range []string{`<html lang="de">`, ">Zugriffstoken</label>",
		`Oder <a href="login?next=/graphiql">melde dich an</a>`, "Datei für <code>$file</code>", `nicht angemeldet`} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("want %q in\n%s", want, w.Body)
		}
	}
	if got := w.Header().Get("Content-Language"); got != "de" {
		t.Errorf("got Content-Language %q", got)
	}
}
