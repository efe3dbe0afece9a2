package rest

import (
	"net/url"
	"testing"
)

// TestCanonicalURL checks the documented forms of paths. Each is found in one step: a path with
// thousands of placeholders would otherwise be compared with the routes thousands of times.
func TestCanonicalURL(t *testing.T) {
	for path, want := range map[string]string{
		"/things/1":                                "",
		"/THINGS/1/Files":                          "/things/1/files",
		"/Users/A%2FB/Things":                      "/users/A%2FB/things",
		"/FILES/0/FinalizeFiles":                   "/files/0/FinalizeFiles",
		"/users/ada/collections/{$all}":            "/users/ada/collections",
		"/users/ada/collections/%7b$all%7D":        "/users/ada/collections",
		"/Users/ada/collections/{$all}/{$all}/":    "/users/ada/collections/",
		"/{$all}/things/{$all}/1/{$all}/{$all}all": "/things/1/%7B$all%7Dall",
	} {
		u, err := url.Parse(path)
		if err != nil {
			t.Fatal(err)
		}
		canonical := canonicalURL(u)
		switch {
		case want == "" && canonical == nil:
		case canonical == nil:
			t.Errorf("%s: not changed, want %s", path, want)
		case canonical.EscapedPath() != want:
			t.Errorf("%s: %s, want %s", path, canonical.EscapedPath(), want)
		case canonicalURL(canonical) != nil:
			t.Errorf("%s: %s has the canonical form %s", path, want, canonicalURL(canonical))
		}
	}
}
