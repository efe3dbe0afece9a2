package config

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// Origins are the origins of the web pages that may call the API from a browser. The zero value
// allows all.
type Origins struct {
	listed bool
	list   []string
}

// UnmarshalText parses *, none, or origins separated by commas:
// https://app.example.org,http://localhost:3000.
func (o *Origins) UnmarshalText(text []byte) error {
	*o = Origins{}
	switch given := strings.TrimSpace(string(text)); given {
	case "", "*":
		return nil
	case "none":
		o.listed = true
		return nil
	default:
		o.listed = true
		for origin := range strings.SplitSeq(given, ",") {
			origin = strings.TrimSpace(origin)
			if !isOrigin(origin) {
				return fmt.Errorf("origin %q: must be as browsers send it: in lower case, without a path or a default port, such as https://app.example.org or http://localhost:3000; or * alone, or none", origin)
			}
			o.list = append(o.list, origin)
		}
		return nil
	}
}

// isOrigin reports whether a text is an origin in its canonical form (RFC 6454, section 6.2).
func isOrigin(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || text != u.Scheme+"://"+u.Host || text != strings.ToLower(text) ||
		strings.ContainsAny(text, "* \"") || strings.HasSuffix(u.Host, ":") {
		return false
	}
	usual := map[string]string{"http": "80", "https": "443"}
	return (u.Port() == "" || u.Port() != usual[u.Scheme]) &&
		strings.IndexFunc(text, func(r rune) bool { return r > 126 }) < 0
}

// All reports whether all origins are allowed.
func (o Origins) All() bool { return !o.listed }

// None reports whether no origin is allowed.
func (o Origins) None() bool { return o.listed && len(o.list) == 0 }

// Allow reports whether an origin is allowed.
func (o Origins) Allow(origin string) bool { return !o.listed || slices.Contains(o.list, origin) }
