package pages

import (
	"net/http"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/web/assets/assetstest"
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
				t.Errorf("got %d %q %s, want %d %q %s", w.Code, w.Header().Get("Cache-Control"), w.Header().Get("ETag"), tc.status,
					tc.cache, tag)
			}
		})
	}
}

func TestAssets(t *testing.T) {
	t.Parallel()
	assetstest.Check(t, files(), func(name string) bool { return !strings.HasPrefix(name, "swagger-ui") })
}
