package gallery

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// scriptLimit is the maximum size of the compressed script in bytes, which a browser loads on the
// first visit.
const scriptLimit = 50 << 10

func get(t *testing.T, path, encoding string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.Header.Set("Accept-Encoding", encoding)
	w := httptest.NewRecorder()
	Handler().ServeHTTP(w, r)
	return w
}

func TestFilesAreCachedForever(t *testing.T) {
	t.Parallel()
	for path, contentType := range map[string]string{
		Script(): "text/javascript; charset=utf-8", Icon(): "image/svg+xml",
	} {
		w := get(t, path, "identity")
		if w.Code != 200 || w.Header().Get("Content-Type") != contentType || w.Header().Get("Cache-Control") != "public, max-age=31536000, immutable" {
			t.Errorf("%s: got %d %v", path, w.Code, w.Header())
		}
	}
	parts := strings.Split(Script(), "/")
	if w := get(t, Prefix+"0123456789abcdef/"+parts[len(parts)-1], "identity"); w.Header().Get("Cache-Control") != "no-cache" {
		t.Errorf("another version: got %v", w.Header())
	}
	if w := get(t, Prefix+"0123456789abcdef/missing.js", "identity"); w.Code != 404 {
		t.Errorf("missing.js: got %d, want 404", w.Code)
	}
}

func TestScriptIsSmall(t *testing.T) {
	t.Parallel()
	w := get(t, Script(), "gzip")
	size := w.Body.Len()
	if w.Header().Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(bytes.NewReader(w.Body.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(z)
		if err != nil || !bytes.Equal(content, files()["gallery.js"].Content) {
			t.Errorf("the compressed script is not the script: %v", err)
		}
	}
	if size > scriptLimit {
		t.Errorf("the script has %d bytes compressed, at most %d are allowed", size, scriptLimit)
	}
}
