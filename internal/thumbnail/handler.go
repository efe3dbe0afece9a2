// Package thumbnail holds the pictures that stand for objects of which there is no picture of their own.
package thumbnail

import (
	"embed"
	"net/http"
	"strconv"
)

//go:embed default/*.png
var files embed.FS

// Handler answers /renders/default/{name}. missing answers for a picture that there is not.
func Handler(missing func(http.ResponseWriter)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		picture, err := files.ReadFile("default/" + r.PathValue("name"))
		if err != nil {
			missing(w)
			return
		}
		h := w.Header()
		h.Set("Content-Type", "image/png")
		h.Set("Content-Length", strconv.Itoa(len(picture)))
		h.Set("Cache-Control", "public, max-age=86400")
		h.Set("X-Content-Type-Options", "nosniff")
		_, _ = w.Write(picture)
	})
}
