package assets

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestCompressed serves an asset compressed and uncompressed. It checks that the compressed form is
// created only once.
func TestCompressed(t *testing.T) {
	a := New("bundle.js", []byte(strings.Repeat("function f() {}\n", 10_000)))
	get := func(encoding string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, "/bundle.js", nil)
		r.Header.Set("Accept-Encoding", encoding)
		w := httptest.NewRecorder()
		a.Serve(w, r, a.Version)
		return w
	}
	plain, packed := get("identity"), get("gzip")
	if !bytes.Equal(plain.Body.Bytes(), a.Content) || plain.Header().Get("Content-Encoding") != "" || plain.Header().
		Get("Vary") != "Accept-Encoding" {
		t.Errorf("plain: %d bytes, %v", plain.Body.Len(), plain.Header())
	}
	if packed.Header().Get("Content-Encoding") != "gzip" || packed.Body.Len() > len(a.Content)/10 || packed.Header().
		Get("ETag") == plain.Header().Get("ETag") {
		t.Errorf("compressed: %d bytes, %v", packed.Body.Len(), packed.Header())
	}
	if first, second := a.compressed(), a.compressed(); &first[0] != &second[0] {
		t.Error("the content is compressed for each request")
	}
	small := New("a.css", []byte("a{}"))
	w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/a.css", nil)
	r.Header.Set("Accept-Encoding", "gzip")
	small.Serve(w, r, "")
	if w.Header().Get("Content-Encoding") != "" || w.Body.String() != "a{}" {
		t.Errorf("small: %q %v", w.Body, w.Header())
	}
}
