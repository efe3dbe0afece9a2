// Package placeholder serves the placeholder images of things, users and files that have no image
// of their own.
package placeholder

import (
	"embed"
	"net/http"
	"strconv"
)

//go:embed default/*.png
var files embed.FS

// Handler serves the image named by the path value "name", for the route
// /renders/default/{name}. It calls notFound if there is no image of that name.
func Handler(notFound func(http.ResponseWriter)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "public, max-age=86400")
		if !Serve(w, r.PathValue("name")) {
			w.Header().Del("Cache-Control")
			notFound(w)
		}
	})
}

// Serve responds with the image of a name, such as model.png, and reports whether there is one. The
// caller sets Cache-Control.
func Serve(w http.ResponseWriter, name string) bool {
	image, err := files.ReadFile("default/" + name)
	if err != nil {
		return false
	}
	h := w.Header()
	h.Set("Content-Type", "image/png")
	h.Set("Content-Length", strconv.Itoa(len(image)))
	h.Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(image)
	return true
}
