// Package etag computes entity tags of responses and compares them with those of requests, as RFC
// 9110 specifies.
package etag

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"
)

// Of returns the weak entity tag of a body.
func Of(body []byte) string {
	sum := sha256.Sum256(body)
	return `W/"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
}

// Matches reports whether the header If-None-Match of r contains tag, by weak comparison (RFC 9110,
// section 8.8.3.2).
func Matches(r *http.Request, tag string) bool {
	for one := range strings.SplitSeq(strings.Join(r.Header.Values("If-None-Match"), ","), ",") {
		one = strings.TrimSpace(one)
		if one == "*" || strings.TrimPrefix(one, "W/") == strings.TrimPrefix(tag, "W/") {
			return true
		}
	}
	return false
}
