package archive

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Content is the content of a file in an archive.
type Content struct {
	SHA256 string // in lower-case hex
	// Name is the name of a file with the content, which the archive shows. Empty: the content is
	// stored by its SHA-256 alone.
	Name string
}

// path returns the path of the content in the archive.
func (c Content) path() (string, error) {
	folder, err := bytesPath(c.SHA256)
	if err != nil || c.Name == "" {
		return folder, err
	}
	return path.Join(folder, storedName(c.Name)), nil
}

// maxStoredName is the maximum length of a name in bytes. The limit of file systems is 255, and
// names of files that are being written are longer.
const maxStoredName = 200

// storedName returns a name that all file systems and programs for ZIP files permit. It keeps the
// extension.
func storedName(name string) string {
	name = strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\:*?"<>|`, r) || unicode.IsControl(r) || r == utf8.RuneError {
			return '_'
		}
		return r
	}, name)
	if name = strings.TrimRight(name, ". "); name == "" {
		return "file"
	}
	if len(name) <= maxStoredName {
		return name
	}
	extension := path.Ext(name)
	if len(extension) > 20 {
		extension = ""
	}
	end := maxStoredName - len(extension)
	for !utf8.RuneStart(name[end]) {
		end--
	}
	return name[:end] + extension
}
