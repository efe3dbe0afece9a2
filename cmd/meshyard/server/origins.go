package server

import (
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/rs/cors"

	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/internal/urls"
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
	return err == nil && fromErr == nil && (strings.EqualFold(from.Host, r.Host) || from.Scheme == base.Scheme &&
		strings.EqualFold(from.Host, base.Host))
}

// withOwnBase makes the URLs in a response begin with the address that the client uses, if the base
// URL is not set and the address is certainly one of this server; see urls.Own.
func (a *Server) withOwnBase(next http.Handler) http.Handler {
	if !a.Settings.BaseURLIsDefault {
		return next
	}
	machine, err := os.Hostname()
	if err != nil {
		a.Logger.Warn("the name of this machine is not known, so clients need its IP address or --base-url", "error",
			err.Error())
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if base, ok := urls.Own(r, machine); ok {
			r = r.WithContext(urls.WithBase(r.Context(), base))
		}
		next.ServeHTTP(w, r)
	})
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
		AllowedMethods: []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch,
			http.MethodDelete},
		AllowedHeaders: []string{"*"},
		ExposedHeaders: []string{
			"Accept-Ranges", "Allow", "Content-Disposition", "Content-Range", "Deprecation", "ETag", "Link", "Location",
			"RateLimit", "RateLimit-Policy",
			"Retry-After", "Sunset", "Total-Count", "Tus-Checksum-Algorithm", "Tus-Extension", "Tus-Max-Size", "Tus-Resumable",
			"Tus-Version",
			"Upload-Concat", "Upload-Defer-Length", "Upload-Expires", "Upload-File-Id", "Upload-Length", "Upload-Metadata",
			"Upload-Offset",
			"WWW-Authenticate", "X-Error", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "X-Request-Id",
		},
		MaxAge: 600,
	}
	if !origins.All() {
		// AllowedOrigins would be converted to lower case.
		options.AllowOriginFunc = origins.Allow
	}
	return cors.New(options).Handler(next)
}
