package viewer

import (
	"bytes"
	"embed"
	"maps"
	"net/http"
	"slices"
	"sync"

	"github.com/meshyard/meshyard/internal/web/assets"
)

// The files listed in assets/README.md are copies from an npm package. renew.sh downloads them, and
// assets/SHA256SUMS pins them.
//
//go:generate sh renew.sh

//go:embed assets/*/*.js assets/*/*.css assets/*/*.svg
var assetFiles embed.FS

// loaded returns the assets by folder and name. They share one version, because modules import each
// other by relative URLs: an imported file is then always of the same release, and is cached as
// long.
var loaded = sync.OnceValues(func() (map[string]*assets.Asset, string) {
	return loadAssets("viewer", "three", "controls", "loaders", "utils")
})

func files() map[string]*assets.Asset {
	all, _ := loaded()
	return all
}

func version() string {
	_, v := loaded()
	return v
}

func loadAssets(folders ...string) (map[string]*assets.Asset, string) {
	all := map[string]*assets.Asset{}
	for _, folder := range folders {
		for name, a := range assets.Load(assetFiles, "assets/"+folder) {
			all[folder+"/"+name] = a
		}
	}
	var contents bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(all)) {
		contents.WriteString(name)
		contents.Write(all[name].Content)
	}
	version := assets.New("", contents.Bytes()).Version
	for _, a := range all {
		a.Version = version
	}
	return all, version
}

func serveAsset(w http.ResponseWriter, r *http.Request) {
	a, ok := files()[r.PathValue("folder")+"/"+r.PathValue("name")]
	if !ok {
		http.NotFound(w, r)
		return
	}
	a.Serve(w, r, r.PathValue("version"))
}
