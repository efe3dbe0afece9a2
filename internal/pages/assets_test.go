package pages

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"os"
	"strings"
	"testing"
)

func TestCaching(t *testing.T) {
	t.Parallel()
	version := files()["reference.js"].Version
	tag := `"` + version + `"`
	for _, tc := range []struct {
		name, version string
		header        http.Header
		status        int
		cache         string
	}{
		{"its version", version, nil, 200, "public, max-age=31536000, immutable"},
		{"another version", "0123456789abcdef", nil, 200, "no-cache"},
		{"unchanged", "0", http.Header{"If-None-Match": {tag}}, 304, "no-cache"},
		{"changed", "0", http.Header{"If-None-Match": {`"old"`}}, 200, "no-cache"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			w := serve(t, options, "GET", "/reference/assets/"+tc.version+"/reference.js", tc.header)
			if w.Code != tc.status || w.Header().Get("Cache-Control") != tc.cache || w.Header().Get("ETag") != tag {
				t.Errorf("got %d %q %s, want %d %q %s", w.Code, w.Header().Get("Cache-Control"), w.Header().Get("ETag"), tc.status, tc.cache, tag)
			}
		})
	}
}

// TestAssetSums checks that the files from npm are those that assets/SHA256SUMS lists.
func TestAssetSums(t *testing.T) {
	t.Parallel()
	sums, err := os.ReadFile("assets/SHA256SUMS")
	if err != nil {
		t.Fatal(err)
	}
	pinned := map[string]string{}
	for line := range strings.Lines(string(sums)) {
		sum, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		if !ok {
			t.Fatalf("assets/SHA256SUMS: line %q", line)
		}
		pinned[name] = sum
	}
	for name, a := range files() {
		if a.ContentType == "" {
			t.Errorf("%s has no content type", name)
		}
		if !strings.HasPrefix(name, "swagger-ui") {
			continue
		}
		sum := sha256.Sum256(a.Content)
		if got := hex.EncodeToString(sum[:]); got != pinned[name] {
			t.Errorf("%s: got SHA-256 %s, assets/SHA256SUMS says %q", name, got, pinned[name])
		}
		delete(pinned, name)
	}
	if len(pinned) != 0 {
		t.Errorf("assets/SHA256SUMS has files that are not there: %v", pinned)
	}
}

// TestOwnAssetsStayHere checks that our own files request no other host. The URL in the icon is an
// XML namespace.
func TestOwnAssetsStayHere(t *testing.T) {
	t.Parallel()
	for name, a := range files() {
		text := strings.ReplaceAll(string(a.Content), "http://www.w3.org/2000/svg", "")
		if !strings.HasPrefix(name, "swagger-ui") && strings.Contains(text, "://") {
			t.Errorf("%s holds an address", name)
		}
	}
}
