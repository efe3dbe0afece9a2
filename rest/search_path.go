package rest

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// searchPath matches the escaped paths of searches. Its groups are the path to the term, the term,
// and what follows it.
var searchPath = regexp.MustCompile(`^((?:/api)?(?i:(?:/users/[^/]+)?/search)/)(.+?)((?i:/tag|/autocomplete)?/?)$`)

// OneTerm returns r with each slash in the term of a search escaped, so that the term is one
// segment of the path. Clients send terms such as M3/M4 and https://… without escaping the slashes.
func OneTerm(r *http.Request) *http.Request {
	if strings.Count(r.URL.Path, "/") < 3 { // most requests
		return r
	}
	match := searchPath.FindStringSubmatch(r.URL.EscapedPath())
	if match == nil || !strings.Contains(match[2], "/") {
		return r
	}
	u := *r.URL
	u.RawPath = match[1] + strings.ReplaceAll(match[2], "/", "%2F") + match[3]
	path, err := url.PathUnescape(u.RawPath)
	if err != nil {
		return r // not reached: EscapedPath has valid escapes
	}
	clone := *r
	clone.URL, u.Path = &u, path
	return &clone
}
