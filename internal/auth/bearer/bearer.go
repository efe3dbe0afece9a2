// Package bearer finds the bearer token (RFC 6750) of an HTTP request: in the header Authorization,
// or in the query parameter access_token for clients that cannot set a header.
package bearer

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/meshyard/meshyard/internal/auth/oauth"
)

// Token returns the token of the request, or "" if there is none. It reads the header
// "Authorization: Bearer" (RFC 6750, section 2.1), whose scheme some old clients call token. If the
// request has no such header, or one without a token, it reads the query parameter access_token
// (section 2.3), for clients that cannot set headers or whose header is for a proxy. For another
// authorization scheme without the parameter it returns a text that is not a valid token.
func Token(r *http.Request) string {
	missing := ""
	if header := r.Header.Get("Authorization"); header != "" {
		scheme, token, _ := strings.Cut(header, " ")
		if strings.EqualFold(scheme, "Bearer") || strings.EqualFold(scheme, "token") {
			if token := oauth.TrimParameters(strings.TrimSpace(token)); token != "" {
				return token
			}
		} else {
			missing = "not a bearer token"
		}
	}
	if strings.Contains(r.URL.RawQuery, "access_token=") {
		return cmp.Or(oauth.TrimParameters(r.URL.Query().Get("access_token")), missing)
	}
	return missing
}
