package viewer_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/apierror"
	"github.com/meshyard/meshyard/internal/web/viewer"
)

// ask mounts the handler as the server does, with a model or an error, and sends a request.
func ask(t *testing.T, m viewer.Model, fault error, method, target string,
	header http.Header) *httptest.ResponseRecorder {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle("GET /view/", viewer.Handler(viewer.Options{
		Load: func(r *http.Request, fileID int64) (viewer.Model, error) {
			if fileID != 7 {
				return viewer.Model{}, errors.New("there is no such file")
			}
			return m, fault
		},
		Fail: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, "refused: "+err.Error(), http.StatusForbidden)
		},
		Explain: func(_ context.Context, err error) (int, *apierror.Error) {
			return http.StatusForbidden, &apierror.Error{Message: err.Error()}
		},
	}))
	r := httptest.NewRequest(method, target, nil)
	maps.Copy(r.Header, header)
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, r)
	return w
}

var ell = viewer.Model{
	Name: "ell.stl", State: viewer.Done, ThreejsURL: "/model.json", DownloadURL: "/download:7",
	ThumbnailURL: "/picture.png", Triangles: 24, Vertices: 16,
	SizeMM: [3]float64{40, 20, 40}, ThingName: "A bracket", ThingURL: "/things/3",
}

func TestPathsAndMethods(t *testing.T) {
	t.Parallel()
	const html, script, text = "text/html; charset=utf-8", "text/javascript; charset=utf-8", "text/plain; charset=utf-8"
	for _, tc := range []struct {
		name, method, target string
		status               int
		contentType          string
	}{
		{"page", "GET", "/view/7", 200, html},
		{"page with a signature", "GET", "/view/7?expires=1&signature=s", 200, html},
		{"HEAD of the page", "HEAD", "/view/7", 200, html},
		{"state", "GET", "/view/7/state", 200, "application/json"},
		{"refused page", "GET", "/view/8", 403, html},
		{"refused state", "GET", "/view/8/state", 403, text},
		{"script", "GET", "/view/assets/x/viewer/viewer.js", 200, script},
		{"module", "GET", "/view/assets/x/three/three.core.min.js", 200, script},
		{"style sheet", "GET", "/view/assets/x/viewer/viewer.css", 200, "text/css; charset=utf-8"},
		{"icon", "GET", "/view/assets/x/viewer/meshyard.svg", 200, "image/svg+xml"},
		{"unknown asset", "GET", "/view/assets/x/viewer/nothing.js", 404, text},
		{"file that is no asset", "GET", "/view/assets/x/three/README.md", 404, text},
		{"escape from the folder", "GET", "/view/assets/x/viewer/..%2F..%2Fviewer.go", 404, text},
		{"no number", "GET", "/view/seven", 404, html},
		{"state of no number", "GET", "/view/seven/state", 404, text},
		{"number too large", "GET", "/view/9223372036854775808", 404, html},
		{"page with a slash", "GET", "/view/7/", 404, text},
		{"unknown path", "GET", "/view/7/elsewhere", 404, text},
		{"POST to the page", "POST", "/view/7", 405, text},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			w := ask(t, ell, nil, tc.method, tc.target, nil)
			if w.Code != tc.status || w.Header().Get("Content-Type") != tc.contentType {
				t.Errorf("%s %s: got %d %q, want %d %q", tc.method, tc.target, w.Code, w.Header().Get("Content-Type"), tc.status,
					tc.contentType)
			}
			if tc.status == http.StatusMethodNotAllowed {
				return // the response of the mux
			}
			for name, want := range map[string]string{
				"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
				"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
			} {
				if got := w.Header().Get(name); got != want {
					t.Errorf("%s %s: got %s %q, want %q", tc.method, tc.target, name, got, want)
				}
			}
			if got := w.Header().Get("Content-Security-Policy"); !strings.HasPrefix(got, "default-src 'none'; ") {
				t.Errorf("%s %s: got Content-Security-Policy %q, want default-src 'none' first", tc.method, tc.target, got)
			}
		})
	}
}

// TestErrorPage checks that users who open the page of a model that is not theirs, or does not
// exist, see the reason.
func TestErrorPage(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]string{
		"/view/8": "There is no such file.", "/view/%3Cscript%3E": "There is no model with the id &#34;&lt;script&gt;&#34;",
	} {
		body := ask(t, ell, nil, "GET", target, nil).Body.String()
		if !strings.Contains(body, want) || !strings.Contains(body, "<h1>") || strings.Contains(body, "<script>") {
			t.Errorf("%s: want a page that says %q, got %s", target, want, body)
		}
	}
}

// TestChosenScheme checks that the pages have the color scheme that the visitor chose in the
// gallery.
func TestChosenScheme(t *testing.T) {
	t.Parallel()
	for _, target := range []string{"/view/7", "/view/8"} {
		for scheme, want := range map[string]string{"": "", "auto": "", "light": ` data-theme="light"`,
			"dark": ` data-theme="dark"`} {
			body := ask(t, ell, nil, "GET", target, http.Header{"Cookie": {"meshyard_theme=" + scheme}}).Body.String()
			if !strings.Contains(body, `<html lang="en"`+want+">") {
				t.Errorf("%s, scheme %q: want a page with %q, got %s", target, scheme, want, body)
			}
		}
	}
}

func TestPagePolicy(t *testing.T) {
	t.Parallel()
	nonces := map[string]bool{}
	for range 3 {
		w := ask(t, ell, nil, "GET", "/view/7", nil)
		policy, page := w.Header().Get("Content-Security-Policy"), w.Body.String()
		nonce := regexp.MustCompile(`'nonce-([^']+)'`).FindStringSubmatch(policy)
		if nonce == nil {
			t.Fatalf("got policy %q, want a nonce in it", policy)
		}
		nonces[nonce[1]] = true
		want := "default-src 'none'; script-src 'nonce-" + nonce[1] + "'; style-src 'nonce-" + nonce[1] +
			"'; img-src 'self' blob:; connect-src 'self' blob:; " +
			"worker-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
		if policy != want {
			t.Errorf("got policy\n%s\nwant\n%s", policy, want)
		}
		for _, tag := range regexp.MustCompile(`<(?:script|link rel="(?:stylesheet|modulepreload)")[^>]*>`).
			FindAllString(page, -1) {
			if !strings.Contains(tag, `nonce="`+nonce[1]+`"`) {
				t.Errorf("%s has no nonce", tag)
			}
		}
		// What the policy would block, and URLs of other hosts.
		if bad := regexp.MustCompile(`<style|style="| on[a-z]+="|javascript:|https?:|="//`).FindString(page); bad != "" {
			t.Errorf("the page contains %q:\n%s", bad, page)
		}
		if got := w.Header().Get("Cache-Control"); got != "no-store" {
			t.Errorf("got Cache-Control %q, want no-store for a page with a nonce", got)
		}
	}
	if len(nonces) != 3 {
		t.Errorf("3 pages had %d nonces", len(nonces))
	}
}

// TestEscaping checks that file names and messages are escaped, and that invalid URLs are dropped.
func TestEscaping(t *testing.T) {
	t.Parallel()
	const evil = `</script><script>alert(1)</script><img src=x onerror=alert(2)>"'` + "`{{.}}"
	m := viewer.Model{
		Name: "N" + evil, Error: "E" + evil, State: viewer.Failed, ThingName: "T" + evil, ThingURL: "javascript:alert(3)",
		DownloadURL:  "javascript:alert(4)",
		ThumbnailURL: `/p.png?"onload="alert(5)`, ThreejsURL: evil, GLBURL: evil,
	}
	page := ask(t, m, nil, "GET", "/view/7", nil).Body.String()
	if n := strings.Count(page, "<script"); n != 4 {
		t.Errorf("the page has %d scripts, want 4:\n%s", n, page)
	}
	for _, bad := range []string{"<img src=x", "javascript:", `src="/p.png?"`, "onerror=alert(2)>\"'"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page contains %q:\n%s", bad, page)
		}
	}
	text := strings.NewReplacer("&lt;", "<", "&gt;", ">", "&#34;", `"`, "&#39;", "'").Replace(page)
	for _, want := range []string{"<h1>N" + evil, "E" + evil, "T" + evil} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not contain %q:\n%s", want, page)
		}
	}
	var state struct{ Reason string }
	if err := json.Unmarshal(shownIn(t, page), &state); err != nil || state.Reason != "E"+evil {
		t.Errorf("the script receives %q, %v", state.Reason, err)
	}
}

// shownIn returns the JSON in the page.
func shownIn(t *testing.T, page string) []byte {
	t.Helper()
	found := regexp.MustCompile(`(?s)<script type="application/json" id="shown" nonce="[^"]+">(.*?)</script>`).
		FindStringSubmatch(page)
	if found == nil {
		t.Fatalf("no JSON in\n%s", page)
	}
	return []byte(found[1])
}

// TestState checks that the state equals the JSON in the page, and that an unchanged state costs a
// 304.
func TestState(t *testing.T) {
	t.Parallel()
	var inPage, state any
	if err := json.Unmarshal(shownIn(t, ask(t, ell, nil, "GET", "/view/7", nil).Body.String()), &inPage); err != nil {
		t.Fatal(err)
	}
	w := ask(t, ell, nil, "GET", "/view/7/state", nil)
	if err := json.Unmarshal(w.Body.Bytes(), &state); err != nil {
		t.Fatal(err)
	}
	if a, b := string(encode(inPage)), string(encode(state)); a != b {
		t.Errorf("the page has\n%s\nthe state\n%s", a, b)
	}
	if got := w.Header().Get("Cache-Control"); got != "no-cache" {
		t.Errorf("got Cache-Control %q, want no-cache", got)
	}
	known := http.Header{"If-None-Match": {w.Header().Get("ETag")}}
	if again := ask(t, ell, nil, "GET", "/view/7/state", known); again.Code != http.StatusNotModified ||
		again.Body.Len() != 0 {
		t.Errorf("unchanged: got %d with %d bytes, want 304 with none", again.Code, again.Body.Len())
	}
	other := ell
	other.Progress = .5
	if again := ask(t, other, nil, "GET", "/view/7/state", known); again.Code != http.StatusOK {
		t.Errorf("changed: got %d, want 200", again.Code)
	}
}

// TestAssetsAreComplete checks that every URL in the page and every import of a module leads to an
// immutable asset, and that every module is used.
func TestAssetsAreComplete(t *testing.T) {
	t.Parallel()
	page := ask(t, viewer.Model{Name: "x.stl", State: viewer.Waiting}, nil, "GET", "/view/7", nil).Body.String()
	var queue []string
	names := map[string]string{}
	for _, found := range regexp.MustCompile(`(?:href|src)="([^"]+)"|"([^"]+)": "(\./[^"]+)"`).
		FindAllStringSubmatch(page, -1) {
		if found[2] != "" {
			names[found[2]] = path.Join("/view", found[3])
		} else {
			queue = append(queue, path.Join("/view", found[1]))
		}
	}
	if len(names) != 1 || len(queue) != 6 {
		t.Errorf("got names %v and addresses %v, want 1 and 6", names, queue)
	}
	imports := regexp.MustCompile(`(?m)(?:^import\s*|\}\s*from\s*|\bimport\()["']([^"'\s]+)["']`)
	comment := regexp.MustCompile(`(?s)/\*.*?\*/`)
	seen := map[string]bool{}
	for len(queue) > 0 {
		address := queue[0]
		queue = queue[1:]
		if seen[address] {
			continue
		}
		seen[address] = true
		w := ask(t, ell, nil, "GET", address, nil)
		if w.Code != http.StatusOK || w.Header().Get("Cache-Control") != "public, max-age=31536000, immutable" {
			t.Errorf("%s: got %d, Cache-Control %q", address, w.Code, w.Header().Get("Cache-Control"))
		}
		if path.Ext(address) != ".js" {
			continue
		}
		for _, found := range imports.FindAllStringSubmatch(comment.ReplaceAllString(w.Body.String(), ""), -1) {
			switch to := found[1]; {
			case strings.HasPrefix(to, "."):
				queue = append(queue, path.Join(path.Dir(address), to))
			case names[to] != "":
				queue = append(queue, names[to])
			default:
				t.Errorf("%s imports %q, which has no address", address, to)
			}
		}
	}
	if len(seen) != 12 {
		t.Errorf("got %d assets, want 12: %v", len(seen), seen)
	}
}

func TestCaching(t *testing.T) {
	t.Parallel()
	page := ask(t, ell, nil, "GET", "/view/7", nil).Body.String()
	version := regexp.MustCompile(`assets/([0-9a-f]{16})/`).FindStringSubmatch(page)[1]
	for _, tc := range []struct {
		name, version string
		header        http.Header
		status        int
		cache         string
	}{
		{"its version", version, nil, 200, "public, max-age=31536000, immutable"},
		{"another version", "0123456789abcdef", nil, 200, "no-cache"},
		{"unchanged", "0", http.Header{"If-None-Match": {`"` + version + `"`}}, 304, "no-cache"},
		{"changed", "0", http.Header{"If-None-Match": {`"old"`}}, 200, "no-cache"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			w := ask(t, ell, nil, "GET", "/view/assets/"+tc.version+"/viewer/viewer.js", tc.header)
			if w.Code != tc.status || w.Header().Get("Cache-Control") != tc.cache || w.Header().Get("ETag") != `"`+version+`"` {
				t.Errorf("got %d %q %s, want %d %q %s", w.Code, w.Header().Get("Cache-Control"), w.Header().Get("ETag"), tc.status,
					tc.cache, version)
			}
		})
	}
}

func encode(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // cannot happen: the value contains only types that JSON supports
	}
	return text
}
