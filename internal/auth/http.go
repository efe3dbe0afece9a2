package auth

import (
	"context"
	"net/http"
	"strings"
)

// Authenticate puts the caller of each request into its context, as check tells it from the token in
// `Authorization: Bearer` or, for clients that can do nothing else, in the query parameter access_token. A request
// with no token, or with a bad one, goes on as nobody's: what it asks for decides whether that is an error.
func Authenticate(next http.Handler, check func(context.Context, string) (Caller, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if token := Presented(r); token != "" {
			caller, err := check(r.Context(), token)
			r = r.WithContext(WithCaller(r.Context(), caller, err))
		}
		next.ServeHTTP(w, r)
	})
}

// Presented gives the request's token. The header wins: RFC 6750 section 2.
func Presented(r *http.Request) string {
	if header := r.Header.Get("Authorization"); header != "" {
		scheme, token, _ := strings.Cut(header, " ")
		if !strings.EqualFold(scheme, "Bearer") {
			return "not a bearer token"
		}
		return strings.TrimSpace(token)
	}
	if !strings.Contains(r.URL.RawQuery, "access_token=") {
		return ""
	}
	return r.URL.Query().Get("access_token")
}
