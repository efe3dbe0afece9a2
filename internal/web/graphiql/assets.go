package graphiql

import (
	"embed"
	"fmt"

	"github.com/meshyard/meshyard/internal/web/assets"
)

// The files under assets that README.md there lists are copies from npm packages; renew.sh fetches
// them and assets/SHA256SUMS pins them.
//
//go:generate sh renew.sh

//go:embed assets/*.js assets/*.css assets/*.svg
var assetFiles embed.FS

// files are the assets by name.
var files = assets.Lazy(assetFiles, "assets")

// assetAddress returns the URL of an asset, with its version, for a page at base.
func assetAddress(base, name string) (string, error) {
	a, ok := files()[name]
	if !ok {
		return "", fmt.Errorf("no GraphiQL asset %q", name)
	}
	return base + "assets/" + name + "?v=" + a.Version, nil
}
