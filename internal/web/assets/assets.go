// Package assets serves files that are embedded in the binary, each under a URL that contains a
// hash of its content, and sets the headers of pages that load them.
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

	"github.com/meshyard/meshyard/internal/web/precompressed"
)

// contentTypes is fixed, because mime.TypeByExtension depends on the configuration of the machine.
var contentTypes = map[string]string{
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".json": "application/json",
	".jpeg": "image/jpeg",
	".jpg":  "image/jpeg",
	".png":  "image/png",
	".svg":  "image/svg+xml",
	".webp": "image/webp",
}

// minCompressed is the minimum size for compression, in bytes. A smaller response fits into one
// packet.
const minCompressed = 1024

// Asset is an embedded file with a version that identifies its content.
type Asset struct {
	Content     []byte
	ContentType string // by the file extension; "" if unknown
	Version     string // the first 16 hex digits of the SHA-256 of the content

	// compressed returns the compressed content. It compresses on the first call.
	compressed func() []byte
}

// New returns an asset with the given name and content.
func New(name string, content []byte) *Asset {
	sum := sha256.Sum256(content)
	return &Asset{
		Content: content, ContentType: contentTypes[path.Ext(name)], Version: hex.EncodeToString(sum[:8]),
		compressed: sync.OnceValue(func() []byte { return precompressed.Compress(content) }),
	}
}

// Lazy returns a function that returns the files of a folder by name. It loads them on its first
// call: commands other than serve, and servers without visitors, never need them.
func Lazy(files embed.FS, folder string) func() map[string]*Asset {
	return sync.OnceValue(func() map[string]*Asset { return Load(files, folder) })
}

// Load returns the files of a folder by name. It panics if the folder does not exist, because the
// folder is part of the binary.
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

// Serve responds with the asset. If version is that of the asset, the response may be cached
// forever. Otherwise caches must revalidate it: during a rolling upgrade behind a proxy, a page of
// one release may request the files of another, which must not be stored under that version.
func (a *Asset) Serve(w http.ResponseWriter, r *http.Request, version string) {
	if version == a.Version {
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	} else {
		w.Header().Set("Cache-Control", "no-cache")
	}
	w.Header().Set("Content-Type", a.ContentType)
	w.Header().Set("ETag", `"`+a.Version+`"`)
	if len(a.Content) >= minCompressed && precompressed.Accepted(r.Header) {
		// cannot fail: the content is not decompressed
		_ = precompressed.Serve(w, r, bytes.NewReader(a.compressed()))
		return
	}
	w.Header().Add("Vary", "Accept-Encoding")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(a.Content))
}
