package server

import (
	"net/http"
	"net/url"
	"path"
	"strings"
)

// clean reports whether the mux accepts a path as it is. The mux redirects other paths, and clients
// repeat a redirected POST as a GET.
func clean(p string) bool {
	return p == path.Clean(p) || p == path.Clean(p)+"/"
}

// withOneSlash returns r with one slash at the start of its path. Clients whose base URL ends with
// a slash send two.
func withOneSlash(r *http.Request) *http.Request {
	if !strings.HasPrefix(r.URL.Path, "//") {
		return r
	}
	clone, u := *r, *r.URL
	u.Path = "/" + strings.TrimLeft(u.Path, "/")
	if u.RawPath != "" {
		u.RawPath = "/" + strings.TrimLeft(u.RawPath, "/")
	}
	clone.URL = &u
	return &clone
}

// routable reports whether the path of u is clean. Segments that are texts may contain any escaped
// slashes: the text of a search of the REST API, which may be a URL, and tags.
func routable(u *url.URL) bool {
	path := strings.TrimPrefix(u.Path, "/api")
	hasText := strings.HasPrefix(path, "/search/") || strings.HasPrefix(path, "/tags/") || strings.HasPrefix(path, "/tag:")
	return clean(u.Path) || hasText && clean(u.EscapedPath())
}
