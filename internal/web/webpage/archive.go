package webpage

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"mime"
	"net/http"
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/meshyard/meshyard/internal/zipstream"
)

// checksums caches the CRC-32 of file contents, so that a resumed download need not read them
// again.
type checksums struct {
	mu   sync.Mutex
	sums map[string]uint32 // by SHA-256
}

const maxChecksums = 10_000

func (c *checksums) get(sha256 string) (sum uint32, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	sum, ok = c.sums[sha256]
	return sum, ok
}

func (c *checksums) put(sha256 string, sum uint32) {
	if sha256 == "" { // of a file in a library that was not read yet
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.sums) >= maxChecksums {
		clear(c.sums)
	}
	c.sums[sha256] = sum
}

// serveZip streams the files of a thing as a ZIP archive, with files that name its creator and its
// license. The bytes of the archive depend only on
// the thing and its files, so a client can resume a download with Range and If-Range.
func (o Options) serveZip(w http.ResponseWriter, r *http.Request, thing *node) {
	var files []zipstream.File
	var resources []resource
	tag := sha256.New()
	names := make(map[string]bool)
	for _, f := range thing.Files {
		if !f.IsAvailable {
			continue
		}
		number, _ := strconv.ParseInt(f.ID, 10, 64)
		folder := "files"
		if f.Kind == "IMAGE" {
			folder = "images"
		}
		if dir := path.Dir(f.Path); dir != "." {
			folder = "files/" + dir
		}
		name := unique(names, folder, f.Name)
		fmt.Fprintf(tag, "%s %s %d\n", name, f.SHA256, f.Size)
		hash := "" // of a file in a library that was not read yet
		if f.SHA256 != "" {
			hash = "sha256:" + f.SHA256
		}
		resources = append(resources, resource{"file-" + f.ID, name, f.Path, f.ContentType, f.Size, hash})
		files = append(files, zipstream.File{
			Name: name, Size: f.Size,
			Open:    func() (io.ReadSeekCloser, error) { return o.Open(r.Context(), number) },
			CRC32:   func() (uint32, bool) { return o.known.get(f.SHA256) },
			Checked: func(sum uint32) { o.known.put(f.SHA256, sum) },
		})
	}
	if len(files) == 0 {
		o.fail(w, r, ErrNotFound)
		return
	}
	credits, err := o.credits(thing, resources)
	if err != nil {
		o.fail(w, r, err)
		return
	}
	for _, f := range credits {
		content, _ := f.Open() // of a text in memory, which does not fail
		_, _ = io.Copy(tag, content)
	}
	files = append(credits, files...)
	modified := time.Time{}
	if thing.UpdatedAt != nil {
		modified = thing.UpdatedAt.UTC()
	}
	fmt.Fprintln(tag, modified)
	archive := zipstream.New(files, modified)
	defer archive.Close()
	h := w.Header()
	h.Set("Content-Type", "application/zip")
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": fileName(thing.Name) +
		".zip"}))
	h.Set("ETag", `"`+base64.RawURLEncoding.EncodeToString(tag.Sum(nil)[:18])+`"`)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "private, no-cache")
	h.Add("Vary", "Authorization")
	http.ServeContent(w, r, "", time.Time{}, archive)
}

// unique returns the path of a file in the archive. If another file has the same path, it adds a
// number. It ignores case, because some file systems do.
func unique(taken map[string]bool, folder, name string) string {
	name = shortened(fileName(name), "")
	full := folder + "/" + name
	for n := 2; taken[strings.ToLower(full)]; n++ {
		full = folder + "/" + shortened(name, fmt.Sprintf(" (%d)", n))
	}
	taken[strings.ToLower(full)] = true
	return full
}

// maxFileName is the maximum length of a file name in bytes, because file systems limit bytes.
const maxFileName = 255

// shortened returns a file name with a suffix before its extension, and shortens it before that if
// the result were longer than maxFileName.
func shortened(name, suffix string) string {
	extension := path.Ext(name)
	if len(extension) > 32 {
		extension = ""
	}
	stem := strings.TrimSuffix(name, extension)
	if most := maxFileName - len(suffix) - len(extension); len(stem) > most {
		stem = stem[:most]
		for !utf8.ValidString(stem) {
			stem = stem[:len(stem)-1]
		}
	}
	return stem + suffix + extension
}

// fileName replaces control characters, direction marks, which disguise the extension, and
// characters that some file systems do not allow, by underscores, and adds one to names of devices.
func fileName(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || strings.ContainsRune(`/\:*?"<>|`, r) {
			return '_'
		}
		return r
	}, name)
	if name = strings.Trim(name, ". "); name == "" {
		return "file"
	}
	return device.ReplaceAllString(name, "${1}_$2")
}

// device matches the names of devices on Windows, where a file cannot have them with any extension.
var device = regexp.MustCompile(`(?i)^(con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])( *(?:\..*)?)$`)
