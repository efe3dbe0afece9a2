package pages

import (
	"embed"
	"fmt"
	"net/http"

	"github.com/meshyard/meshyard/internal/web/assets"
)

// The files under assets that README.md there lists are copies from an npm package; renew.sh
// fetches them and assets/SHA256SUMS pins them.
//
//go:generate sh renew.sh

//go:embed assets/*.js assets/*.css assets/*.svg
var assetFiles embed.FS

// files are the assets by name.
var files = assets.Lazy(assetFiles, "assets")

// AssetPath returns the path of an asset of the pages, which contains its version. base is the
// path of the base URL. It returns an error if there is no such asset.
func AssetPath(base, name string) (string, error) {
	a, ok := files()[name]
	if !ok {
		return "", fmt.Errorf("no asset %q", name)
	}
	return base + "/reference/assets/" + a.Version + "/" + name, nil
}

func serveAsset(w http.ResponseWriter, r *http.Request) {
	a, ok := files()[r.PathValue("name")]
	if !ok {
		http.NotFound(w, r)
		return
	}
	a.Serve(w, r, r.PathValue("version"))
}
