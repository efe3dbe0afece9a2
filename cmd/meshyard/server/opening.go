package server

import (
	"net/http"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/urls"
)

// maxKeys is the maximum number of keys in a URL that are used.
const maxKeys = 8

// withOpened returns a request that opens the unlisted things whose keys are in its URL. So every
// URL works with the key: pages, archives, downloads, the 3D viewer and both APIs.
func withOpened(r *http.Request, addresses urls.Builder) *http.Request {
	if r.URL.RawQuery == "" {
		return r
	}
	var opened []int64
	keys := r.URL.Query()[urls.KeyParameter]
	for _, key := range keys[:min(len(keys), maxKeys)] {
		if id, ok := addresses.ThingOf(key); ok {
			opened = append(opened, id)
		}
	}
	if len(opened) == 0 {
		return r
	}
	return r.WithContext(auth.WithOpened(r.Context(), opened...))
}
