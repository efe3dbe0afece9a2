// Package gallery provides the browser client of the gallery pages: its script, its style sheet and
// the GraphQL documents that it sends. The sources are in web/ at the root of the repository. The
// folder dist contains the files that are built from them, so that building the server requires
// only Go.
package gallery

import (
	"embed"
	"net/http"

	"github.com/meshyard/meshyard/internal/web/assets"
)

//go:embed dist/*.js dist/*.css dist/*.svg
var distFiles embed.FS

// files are the built files by name.
var files = assets.Lazy(distFiles, "dist")

// Prefix is the path below which [Handler] serves the files.
const Prefix = "/assets/gallery/"

// Styles returns the style sheet. Pages contain it inline: it is small, and a browser renders
// nothing before it has loaded the style sheet.
func Styles() string { return string(files()["gallery.css"].Content) }

// Script returns the path of the script in a language, a module, below the base URL of the server.
// It contains a hash of the content. There is a script for each language of package language.
func Script(code string) string { return address("gallery." + code + ".js") }

// Icon returns the path of the icon of the site, below the base URL of the server. It contains a
// hash of the content.
func Icon() string { return address("icon.svg") }

func address(name string) string { return Prefix + files()[name].Version + "/" + name }

// Handler serves the files at the paths that [Script] and [Icon] return. Mount it at
// [Prefix], without StripPrefix. It needs no authentication and compresses by itself.
func Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+Prefix+"{version}/{name}", func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		file, ok := files()[r.PathValue("name")]
		if !ok {
			http.NotFound(w, r)
			return
		}
		file.Serve(w, r, r.PathValue("version"))
	})
	return mux
}
