package server

import (
	"net/http"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/urls"
)

// maxKeys is the maximum number of keys in a URL that are used.
const maxKeys = 8

// opening opens the unlisted things whose keys are in the URL of a request. So every URL works with
// the key: pages, archives, downloads, the 3D viewer and both APIs.
func opening(next http.Handler, addresses urls.Builder) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery == "" {
			next.ServeHTTP(w, r)
			return
		}
		var opened []int64
		keys := r.URL.Query()[urls.KeyParameter]
		for _, key := range keys[:min(len(keys), maxKeys)] {
			if id, ok := addresses.ThingOf(key); ok {
				opened = append(opened, id)
			}
		}
		if len(opened) > 0 {
			r = r.WithContext(auth.WithOpened(r.Context(), opened...))
		}
		next.ServeHTTP(w, r)
	})
}
