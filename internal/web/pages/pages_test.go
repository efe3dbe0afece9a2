package pages

import (
	"html"
	"maps"
	"net/http"
	"net/http/httptest"
	"path"
	"regexp"
	"strings"
	"testing"
)

const base = "http://127.0.0.1:8080"

var options = Options{BaseURL: base,
	Guide: func() ([]byte, error) { return []byte("# Guide\n\n## get_newest\n\n[schema](/schema.graphql)\n"), nil }}

// serve mounts the handler as a server does and sends a request.
func serve(t *testing.T, o Options, method, target string, header http.Header) *httptest.ResponseRecorder {
	t.Helper()
	h := Handler(o)
	mux := http.NewServeMux()
	for _, pattern := range []string{"GET /developers", "GET /reference", "GET /reference/", "GET /migration"} {
		mux.Handle(pattern, h)
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "the caller's", http.StatusTeapot) })
	return ask(mux, method, target, header)
}

func ask(h http.Handler, method, target string, header http.Header) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, nil)
	maps.Copy(r.Header, header)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestPathsAndMethods(t *testing.T) {
	t.Parallel()
	const page, text, caller = "text/html; charset=utf-8", "text/plain; charset=utf-8", http.StatusTeapot
	for _, tc := range []struct {
		method, target string
		status         int
		contentType    string
	}{
		{"GET", "/developers", 200, page},
		{"HEAD", "/developers", 200, page},
		{"GET", "/developers?token=1", 200, page},
		{"GET", "/reference", 200, page},
		{"GET", "/reference/", 200, page},
		{"HEAD", "/reference", 200, page},
		{"GET", "/migration", 200, page},
		{"HEAD", "/migration", 200, page},
		{"GET", "/reference/assets/0/reference.js", 200, "text/javascript; charset=utf-8"},
		{"GET", "/reference/assets/0/swagger-ui.css", 200, "text/css; charset=utf-8"},
		{"HEAD", "/reference/assets/0/meshyard.svg", 200, "image/svg+xml"},
		{"GET", "/reference/assets/0/README.md", 404, text},
		{"GET", "/reference/assets/0/..%2Fhome.go", 404, text},
		{"GET", "/reference/assets/0/", 404, text},
		{"GET", "/reference/elsewhere", 404, text},
		{"POST", "/developers", caller, text},
		{"DELETE", "/reference", caller, text},
		{"PUT", "/migration", caller, text},
		{"POST", "/reference/assets/0/reference.js", caller, text},
		{"GET", "/elsewhere", caller, text},
		{"GET", "/migration/elsewhere", caller, text},
	} {
		t.Run(tc.method+" "+tc.target, func(t *testing.T) {
			t.Parallel()
			w := serve(t, options, tc.method, tc.target, nil)
			if got := w.Header().Get("Content-Type"); w.Code != tc.status || got != tc.contentType {
				t.Errorf("got %d %q, want %d %q", w.Code, got, tc.status, tc.contentType)
			}
			if tc.status == caller {
				return
			}
			for name, want := range map[string]string{
				"X-Content-Type-Options":       "nosniff",
				"Referrer-Policy":              "no-referrer",
				"Cross-Origin-Opener-Policy":   "same-origin",
				"Cross-Origin-Resource-Policy": "same-origin",
			} {
				if got := w.Header().Get(name); got != want {
					t.Errorf("got %s %q, want %q", name, got, want)
				}
			}
			if got := w.Header().Get("Content-Security-Policy"); !strings.HasPrefix(got, "default-src 'none'; ") {
				t.Errorf("got Content-Security-Policy %q, want default-src 'none' first", got)
			}
		})
	}
}

func TestPolicy(t *testing.T) {
	t.Parallel()
	for target, images := range map[string]string{"/developers": "'self'", "/migration": "'self'",
		"/reference": "'self' data: blob:"} {
		seen := map[string]bool{}
		for range 3 {
			w := serve(t, options, "GET", target, nil)
			policy := w.Header().Get("Content-Security-Policy")
			nonce := regexp.MustCompile(`'nonce-([A-Z2-7]{26})'`).FindStringSubmatch(policy)
			if nonce == nil {
				t.Fatalf("%s: got policy %q, want a nonce in it", target, policy)
			}
			seen[nonce[1]] = true
			want := "default-src 'none'; script-src 'nonce-" + nonce[1] + "'; style-src 'nonce-" + nonce[1] + "'; img-src " +
				images + "; " +
				"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
			if policy != want {
				t.Errorf("%s: got policy\n%s\nwant\n%s", target, policy, want)
			}
			for _, tag := range regexp.MustCompile(`<script[^>]*>|<link rel="stylesheet"[^>]*>`).
				FindAllString(w.Body.String(), -1) {
				if !strings.Contains(tag, ` nonce="`+nonce[1]+`"`) {
					t.Errorf("%s: %s lacks the nonce", target, tag)
				}
			}
			if got := w.Header().Get("Cache-Control"); got != "no-store" {
				t.Errorf("%s: got Cache-Control %q, want no-store for a page with a nonce", target, got)
			}
			if bad := regexp.MustCompile(`<script>|<style|style="| on[a-z]+="|javascript:`).
				FindString(w.Body.String()); bad != "" {
				t.Errorf("%s contains %q, which the policy refuses", target, bad)
			}
		}
		if len(seen) != 3 {
			t.Errorf("%s: 3 pages had %d nonces", target, len(seen))
		}
	}
}

// TestAddresses checks that no page contains a URL of another host, and that each path begins with
// the path of the base URL.
func TestAddresses(t *testing.T) {
	t.Parallel()
	for baseURL, prefix := range map[string]string{
		base:                                "",
		"https://example.org/models":        "/models",
		"https://example.org/a/b/":          "/a/b",
		"https://example.org//evil.org":     "/evil.org", // after two slashes it would be a host
		"https://example.org/%22%3E%3Cb%3E": "/%22%3E%3Cb%3E",
	} {
		o := options
		o.BaseURL = baseURL
		for _, target := range []string{"/developers", "/reference", "/migration"} {
			page := serve(t, o, "GET", target, nil).Body.String()
			rest := strings.ReplaceAll(page, html.EscapeString(baseURL), "")
			if found := regexp.MustCompile(`(?i)https?:|(?:href|src)="//`).FindString(rest); found != "" {
				t.Errorf("%s at %s: found %q", target, baseURL, found)
			}
			addresses := regexp.MustCompile(`(?:href|src|data-graphql|data-base)="([^"#]+)"`).FindAllStringSubmatch(page, -1)
			if len(addresses) < 8 {
				t.Errorf("%s at %s: got %d addresses, want more", target, baseURL, len(addresses))
			}
			for _, found := range addresses {
				address, ok := strings.CutPrefix(found[1], prefix)
				if !ok || address != "" && address[0] != '/' {
					t.Errorf("%s at %s: got address %q, want it below %q", target, baseURL, found[1], prefix)
				}
				if path.Dir(path.Dir(address)) != "/reference/assets" {
					continue
				}
				w := serve(t, o, "GET", address, nil)
				if got := w.Header().Get("Cache-Control"); w.Code != http.StatusOK || got != "public, max-age=31536000, immutable" {
					t.Errorf("%s at %s: %s: got %d %q", target, baseURL, address, w.Code, got)
				}
			}
		}
	}
}
