// Package placeholder serves the images that stand for things, users and files that have no image
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
		image, err := files.ReadFile("default/" + r.PathValue("name"))
		if err != nil {
			notFound(w)
			return
		}
		h := w.Header()
		h.Set("Content-Type", "image/png")
		h.Set("Content-Length", strconv.Itoa(len(image)))
		h.Set("Cache-Control", "public, max-age=86400")
		h.Set("X-Content-Type-Options", "nosniff")
		_, _ = w.Write(image)
	})
}
