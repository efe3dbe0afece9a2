// Package assets serves files that lie inside the binary, each under an address that names its
// content.
package assets

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"net/http"
	"path"
	"sync"
	"time"

	"github.com/meshyard/meshyard/internal/precompressed"
)

// contentTypes are fixed here because mime.TypeByExtension asks the machine's own tables.
var contentTypes = map[string]string{
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".json": "application/json",
	".svg":  "image/svg+xml",
}

// minCompressed is from which size on a content is compressed: below it, an answer is one packet.
const minCompressed = 1024

// Asset is a file with the version that its content gives it.
type Asset struct {
	Content     []byte
	ContentType string // by the name's ending; empty where that is not known
	Version     string // the first 16 hexadecimal digits of the content's SHA-256

	// compressed compresses the content when it is first asked for.
	compressed func() []byte
}

// New makes an asset of a content.
func New(name string, content []byte) *Asset {
	sum := sha256.Sum256(content)
	return &Asset{
		Content: content, ContentType: contentTypes[path.Ext(name)], Version: hex.EncodeToString(sum[:8]),
		compressed: sync.OnceValue(func() []byte { return precompressed.Compress(content) }),
	}
}

// Load gives the files of a folder by name. It panics where there is none: the folder is part of
// the binary.
func Load(files embed.FS, folder string) map[string]*Asset {
	entries, err := files.ReadDir(folder)
	if err != nil {
		panic(fmt.Sprintf("embedded assets: %v", err))
	}
	loaded := make(map[string]*Asset, len(entries))
	for _, entry := range entries {
		content, err := files.ReadFile(folder + "/" + entry.Name())
		if err != nil {
			panic(fmt.Sprintf("embedded assets: %v", err))
		}
		loaded[entry.Name()] = New(entry.Name(), content)
	}
	return loaded
}

// Serve answers for good where the asset's own version is asked for, and only after revalidation
// where another is, or none: while releases change behind a proxy, the page of one may ask the
// other for its files, and neither may be kept in place of the other.
func (a *Asset) Serve(w http.ResponseWriter, r *http.Request, version string) {
	if version == a.Version {
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	} else {
		w.Header().Set("Cache-Control", "no-cache")
	}
	w.Header().Set("Content-Type", a.ContentType)
	w.Header().Set("ETag", `"`+a.Version+`"`)
	if len(a.Content) >= minCompressed && precompressed.Accepted(r.Header) {
		// nothing to decompress, which could fail
		_ = precompressed.Serve(w, r, bytes.NewReader(a.compressed()))
		return
	}
	w.Header().Add("Vary", "Accept-Encoding")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(a.Content))
}
