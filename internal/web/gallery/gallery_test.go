package gallery

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/web/language"
)

// scriptLimit is the maximum size of the compressed script in bytes, which a browser loads on the
// first visit.
const scriptLimit = 56 << 10

// onDemandLimit is the same for the script that a browser loads with the first large upload.
const onDemandLimit = 17 << 10

// partLimit is the same for the scripts that a browser loads with the first part of the gallery
// that is about printing, or about managing things and users.
const partLimit = 12 << 10

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
		Script("en"): "text/javascript; charset=utf-8", Script("de"): "text/javascript; charset=utf-8",
		Icon(): "image/svg+xml",
	} {
		w := get(t, path, "identity")
		if w.Code != 200 || w.Header().Get("Content-Type") != contentType || w.Header().
			Get("Cache-Control") != "public, max-age=31536000, immutable" {
			t.Errorf("%s: got %d %v", path, w.Code, w.Header())
		}
	}
	parts := strings.Split(Script("en"), "/")
	if w := get(t, Prefix+"0123456789abcdef/"+parts[len(parts)-1], "identity"); w.Header().
		Get("Cache-Control") != "no-cache" {
		t.Errorf("another version: got %v", w.Header())
	}
	if w := get(t, Prefix+"0123456789abcdef/missing.js", "identity"); w.Code != 404 {
		t.Errorf("missing.js: got %d, want 404", w.Code)
	}
}

// TestScripts checks that there is a script for each language of the server and for no other one,
// that it loads the current scripts for uploads in parts, for printing and for managing things, and
// that all are small.
func TestScripts(t *testing.T) {
	t.Parallel()
	scripts := 0
	for name := range files() {
		if strings.HasSuffix(name, ".js") {
			scripts++
		}
	}
	if scripts != 3*len(language.All)+1 {
		t.Errorf("got %d scripts, want three for each of the %d languages and one for uploads", scripts, len(language.All))
	}
	onDemand := files()["resumable.js"].Version + "/resumable.js"
	if size := get(t, Prefix+onDemand, "gzip").Body.Len(); size > onDemandLimit {
		t.Errorf("resumable.js has %d bytes compressed, at most %d are allowed", size, onDemandLimit)
	}
	for _, l := range language.All {
		name := "gallery." + l.Code + ".js"
		if files()[name] == nil {
			t.Errorf("there is no %s", name)
			continue
		}
		if !bytes.Contains(files()[name].Content, []byte(onDemand)) {
			t.Errorf("%s does not load %s", name, onDemand)
		}
		for _, part := range []string{"printing." + l.Code + ".js", "manage." + l.Code + ".js"} {
			if version := files()[part].Version; !bytes.Contains(files()[name].Content, []byte(version+"/"+part)) {
				t.Errorf("%s does not load the current %s", name, part)
			}
			if size := get(t, Prefix+files()[part].Version+"/"+part, "gzip").Body.Len(); size > partLimit {
				t.Errorf("%s has %d bytes compressed, at most %d are allowed", part, size, partLimit)
			}
		}
		w := get(t, Script(l.Code), "gzip")
		size := w.Body.Len()
		if w.Header().Get("Content-Encoding") == "gzip" {
			z, err := gzip.NewReader(bytes.NewReader(w.Body.Bytes()))
			if err != nil {
				t.Fatal(err)
			}
			content, err := io.ReadAll(z)
			if err != nil || !bytes.Equal(content, files()[name].Content) {
				t.Errorf("the compressed %s is not the script: %v", name, err)
			}
		}
		if size > scriptLimit {
			t.Errorf("%s has %d bytes compressed, at most %d are allowed", name, size, scriptLimit)
		}
	}
}
