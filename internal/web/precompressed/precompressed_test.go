package precompressed

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
)

func TestAccepted(t *testing.T) {
	for header, want := range map[string]bool{
		"": false, "gzip": true, "GZIP": true, "x-gzip": true, "br, gzip;q=0.5": true, "gzip;q=0": false,
		"gzip; q=0.0, *": false,
		"*":              true, "*;q=0": false, "identity": false, "deflate, br": false, "gzip;q=x": false,
		"*;q=0, gzip": true,
	} {
		if got := Accepted(http.Header{"Accept-Encoding": {header}}); got != want {
			t.Errorf("Accept-Encoding %q: got %v, want %v", header, got, want)
		}
	}
}

func TestServe(t *testing.T) {
	content := []byte(strings.Repeat("three.js ", 10_000))
	packed := Compress(content)
	if len(packed) > len(content)/10 {
		t.Fatalf("%d bytes are compressed to %d", len(content), len(packed))
	}
	for _, c := range []struct {
		name, method, encoding, ask, value string
		status, length                     int
	}{
		{"compressed", "GET", "gzip", "", "", 200, len(packed)},
		{"plain", "GET", "", "", "", 200, len(content)},
		{"head compressed", "HEAD", "gzip", "", "", 200, len(packed)},
		{"head plain", "HEAD", "identity", "", "", 200, len(content)},
		{"unchanged", "GET", "gzip", "If-None-Match", `"a-gzip"`, 304, -1},
		{"unchanged plain", "GET", "", "If-None-Match", `"a"`, 304, -1},
		{"the other form is another representation", "GET", "gzip", "If-None-Match", `"a"`, 200, len(packed)},
		{"range of the compressed form", "GET", "gzip", "Range", "bytes=0-9", 206, 10},
		{"range of the plain form", "GET", "", "Range", "bytes=0-9", 200, len(content)},
	} {
		r := httptest.NewRequest(c.method, "/", nil)
		if c.encoding != "" {
			r.Header.Set("Accept-Encoding", c.encoding)
		}
		if c.ask != "" {
			r.Header.Set(c.ask, c.value)
		}
		w := httptest.NewRecorder()
		w.Header().Set("ETag", `"a"`)
		w.Header().Set("Content-Type", "application/json")
		if err := Serve(w, r, bytes.NewReader(packed)); err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		body := w.Body.Bytes()
		if c.method == "GET" && w.Code == 200 && c.encoding == "gzip" {
			z, err := gzip.NewReader(bytes.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			body, _ = io.ReadAll(z)
		}
		if w.Code != c.status || c.method == "GET" && c.status == 200 && !bytes.Equal(body, content) || w.Header().
			Get("Vary") != "Accept-Encoding" {
			t.Errorf("%s: got %d with %d bytes, want %d: %v", c.name, w.Code, len(body), c.status, w.Header())
		}
		// net/http sends no length for an encoded form, because a middleware might have encoded it.
		if got := w.Result().ContentLength; c.length >= 0 && got != int64(c.length) && got != -1 {
			t.Errorf("%s: Content-Length %d, want %d", c.name, got, c.length)
		}
	}
	if err := Serve(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil),
		strings.NewReader("no gzip")); err == nil {
		t.Error("what is not compressed is served")
	}
}
