// Package cleanname converts the names of files and folders, in whatever encoding, to names that
// can be stored and compared: valid UTF-8 in the form NFC without control characters.
package cleanname

import (
	"fmt"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// MaxSegment is the maximum length of a name in bytes, because file systems limit bytes.
const MaxSegment = 255

// Segment returns the name of a file or folder in the form in which equal names are the same:
// valid UTF-8 in the normalization form NFC, without control characters, and without characters
// that override the direction of text. macOS stores names in NFD.
func Segment(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(name, "\uFFFD"))
	name = strings.TrimSpace(norm.NFC.String(name))
	if name == "" || name == "." || name == ".." {
		return "_"
	}
	if len(name) > MaxSegment {
		return shorten(name, "")
	}
	return name
}

// shorten puts an end before the extension of a name, and cuts the name before it so that the
// result has at most MaxSegment bytes.
func shorten(name, end string) string {
	extension := path.Ext(name)
	if len(extension) > 32 {
		extension = ""
	}
	end += extension
	stem := strings.TrimSuffix(name, extension)
	if most := MaxSegment - len(end); len(stem) > most {
		stem = stem[:most]
		for !utf8.ValidString(stem) {
			stem = stem[:len(stem)-1]
		}
	}
	return stem + end
}

// Numbered returns a name with a number before its extension. It shortens the name so that the
// result has at most MaxSegment bytes.
func Numbered(name string, n int) string { return shorten(name, fmt.Sprintf(" (%d)", n)) }
