package webpage

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/meshyard/meshyard/internal/apierror"
)

// TestProblems checks that a browser gets an error page with the reason, and that a program gets
// its own response.
func TestProblems(t *testing.T) {
	for status, title := range map[int]string{
		http.StatusForbidden: "No access", http.StatusTooManyRequests: "Too many requests",
		http.StatusInternalServerError: "Something went wrong", http.StatusServiceUnavailable: "The server is busy",
	} {
		o := Options{
			BaseURL: "https://example.org/models", Site: &Site{Name: "Parts"}, AnonymousRead: true,
			Reserved: func(string) bool { return true }, Script: func(string) string { return "/gallery.js" },
			Visitor: func(r *http.Request) (*User, *http.Request, error) { return nil, r, nil },
			Run:     func(context.Context, string, map[string]any) ([]byte, error) { return nil, errors.New("secret") },
			Explain: func(context.Context, error) (int, *apierror.Error) {
				return status, &apierror.Error{Message: "the <reason>", RetryAfter: 7 * time.Second}
			},
			Fail: func(w http.ResponseWriter, _ *http.Request, _ error) { http.Error(w, "{}", status) },
		}
		for _, path := range []string{"/", "/thing:1", "/thing:1/zip"} {
			get := func(header ...string) *httptest.ResponseRecorder {
				r := httptest.NewRequest("GET", path, nil)
				for i := 0; i < len(header); i += 2 {
					r.Header.Set(header[i], header[i+1])
				}
				w := httptest.NewRecorder()
				Handler(o).ServeHTTP(w, r)
				return w
			}
			w := get()
			page := w.Body.String()
			if w.Code != status || w.Header().Get("Retry-After") != "7" || w.Header().
				Get("Cache-Control") != "private, no-store" || strings.Contains(page, "gallery.js") ||
				strings.Contains(page, "secret") {
				t.Errorf("%d %s: got %d %v\n%s", status, path, w.Code, w.Header(), page)
			}
			for _, part := range []string{"<h1>" + title + "</h1>", "The &lt;reason&gt;.", `href="/models/"`,
				`content="noindex"`} {
				if !strings.Contains(page, part) {
					t.Errorf("%d %s: the page lacks %s\n%s", status, path, part, page)
				}
			}
			if w := get("Authorization", "Bearer x"); w.Code != status || w.Body.String() != "{}\n" {
				t.Errorf("%d %s, a program: got %d %s", status, path, w.Code, w.Body)
			}
		}
	}
}
