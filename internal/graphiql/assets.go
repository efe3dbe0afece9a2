package graphiql

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"net/http"
	"path"
	"time"
)

// The files under assets that README.md there lists are copies from npm packages; renew.sh fetches them and assets/SHA256SUMS pins them.
//
//go:generate sh renew.sh

//go:embed assets/*.js assets/*.css assets/*.svg
var assetFiles embed.FS

// assets holds every file under assets by its base name.
var assets = loadAssets()

// contentTypes are fixed here because mime.TypeByExtension asks the machine's own tables.
var contentTypes = map[string]string{
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".json": "application/json",
	".svg":  "image/svg+xml",
}

// An asset is a file with the version its content gives it.
type asset struct {
	content     []byte
	contentType string
	version     string // the first 16 hexadecimal digits of the content's SHA-256
}

func newAsset(name string, content []byte) *asset {
	sum := sha256.Sum256(content)
	return &asset{content: content, contentType: contentTypes[path.Ext(name)], version: hex.EncodeToString(sum[:8])}
}

func loadAssets() map[string]*asset {
	entries, err := assetFiles.ReadDir("assets")
	if err != nil {
		panic(fmt.Sprintf("embedded GraphiQL assets: %v", err))
	}
	loaded := make(map[string]*asset, len(entries))
	for _, entry := range entries {
		content, err := assetFiles.ReadFile("assets/" + entry.Name())
		if err != nil {
			panic(fmt.Sprintf("embedded GraphiQL assets: %v", err))
		}
		loaded[entry.Name()] = newAsset(entry.Name(), content)
	}
	return loaded
}

// assetAddress gives the address of an asset, with its version, for a page at base.
func assetAddress(base, name string) (string, error) {
	a, ok := assets[name]
	if !ok {
		return "", fmt.Errorf("no GraphiQL asset %q", name)
	}
	return base + "assets/" + name + "?v=" + a.version, nil
}

// serve answers for good under the asset's version and only after revalidation under any other address, so that a page of one release never
// keeps a file of another.
func (a *asset) serve(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("v") == a.version {
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	} else {
		w.Header().Set("Cache-Control", "no-cache")
	}
	w.Header().Set("Content-Type", a.contentType)
	w.Header().Set("ETag", `"`+a.version+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(a.content))
}
