package models

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/meshyard/meshyard/internal/apierror"
)

// maxFilename is the maximum length of a file name in bytes, because file systems limit bytes.
const maxFilename = 255

// maxFolder is the maximum length of the path of a folder in bytes.
const maxFolder = 1_000

// CleanFolder cleans each name in the path of a folder like [cleanFilename]. It returns BadInput
// about the named input for a path that leads out of the thing or is too long.
func CleanFolder(input, folder string) (string, error) {
	if folder == "" || folder == "." {
		return "", nil
	}
	var names []string
	for name := range strings.SplitSeq(folder, "/") {
		clean, err := CleanFilename(input, name)
		if err != nil {
			return "", err
		}
		names = append(names, clean)
	}
	folder = strings.Join(names, "/")
	if len(folder) > maxFolder {
		return "", Invalid(input, "%s: must be at most %d bytes (got %d)", input, maxFolder, len(folder))
	}
	return folder, nil
}

// CleanFilename removes the dangerous parts of a file name: directories, control characters, and
// direction marks that disguise the extension. It shortens a long name in the middle and keeps its
// extension. It returns BadInput about the named input for NUL, invalid UTF-8, and names of which
// nothing else is left.
func CleanFilename(input, name string) (string, error) {
	if !utf8.ValidString(name) {
		return "", Invalid(input, "%s: the file name is not valid UTF-8", input)
	}
	if strings.ContainsRune(name, 0) {
		return "", Invalid(input, "%s: the file name contains a NUL character", input)
	}
	if i := strings.LastIndexAny(name, `/\`); i >= 0 {
		name = name[i+1:]
	}
	name = strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, name))
	switch name {
	case "":
		return "", Invalid(input, "%s: the file name must not be blank", input).WithFieldCode(apierror.FieldRequired)
	case ".", "..":
		return "", Invalid(input, "%s: the file name must not be %q", input, name)
	}
	if len(name) > maxFilename {
		ending := path.Ext(name)
		if len(ending) > 32 {
			ending = ""
		}
		stem := name[:maxFilename-len(ending)]
		for !utf8.ValidString(stem) {
			stem = stem[:len(stem)-1]
		}
		name = stem + ending
	}
	return name, nil
}
