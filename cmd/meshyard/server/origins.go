package server

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/rs/cors"

	"github.com/meshyard/meshyard/internal/config"
)

// allowSocket reports whether a page of the request's origin may open a WebSocket: if CORS allows
// the origin, or if it is a page of this server. Browsers send no preflight request for WebSockets.
func (a *Server) allowSocket(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" || a.Settings.CORSOrigins.Allow(origin) {
		return true // not sent by a page, or allowed
	}
	return a.ownOrigin(r, origin)
}

// ownOrigin reports whether an origin is that of this server: its base URL, or the host name of the
// request.
func (a *Server) ownOrigin(r *http.Request, origin string) bool {
	base, err := url.Parse(a.Settings.BaseURL)
	from, fromErr := url.Parse(origin)
	return err == nil && fromErr == nil && (strings.EqualFold(from.Host, r.Host) || from.Scheme == base.Scheme && strings.EqualFold(from.Host, base.Host))
}

// crossOrigin lets pages of the allowed origins call the API with a token. It does not allow
// credentials: browsers send no cookies with these requests, so a session never counts, and they
// reject requests with cookies in the preflight.
func crossOrigin(next http.Handler, origins config.Origins) http.Handler {
	if origins.None() {
		return next
	}
	options := cors.Options{
		AllowedOrigins: []string{"*"},
		AllowedMethods: []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete},
		AllowedHeaders: []string{"*"},
		ExposedHeaders: []string{
			"Accept-Ranges", "Allow", "Content-Disposition", "Content-Range", "Deprecation", "ETag", "Link", "Location", "RateLimit", "RateLimit-Policy",
			"Retry-After", "Sunset", "Total-Count", "WWW-Authenticate", "X-Error", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "X-Request-Id",
		},
		MaxAge: 600,
	}
	if !origins.All() {
		// AllowedOrigins would be converted to lower case.
		options.AllowOriginFunc = origins.Allow
	}
	return cors.New(options).Handler(next)
}
