package models

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxFilename is in bytes, which is what file systems count.
const maxFilename = 255

// cleanFilename keeps a name as it was given, less what could do harm: folders before it, control
// characters, and the marks that turn the direction of writing and so disguise an ending. A name
// too long loses its middle and keeps its ending. NUL, invalid UTF-8 and a name of which nothing is
// left are refused.
func cleanFilename(name string) (string, error) {
	if !utf8.ValidString(name) {
		return "", badInput("name", "file name: not valid UTF-8")
	}
	if strings.ContainsRune(name, 0) {
		return "", badInput("name", "file name: holds a NUL character")
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
	if name == "" || name == "." || name == ".." {
		return "", badInput("name", "file name: must not be empty")
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
