// Package textscan tokenizes the text formats of meshes: words, lines and numbers. It does not
// allocate memory for each token, and its errors are of type *mesh.Error and name the line.
package textscan

import (
	"strconv"
	"unicode/utf8"
)

// IsSpace reports whether c separates words.
func IsSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// CutWord returns the first word of a line and the rest of the line. first is empty if there is no
// word.
func CutWord(line []byte) (first, rest []byte) {
	for len(line) > 0 && IsSpace(line[0]) {
		line = line[1:]
	}
	for i, c := range line {
		if IsSpace(c) {
			return line[:i], line[i:]
		}
	}
	return line, nil
}

// Quote quotes at most 24 bytes of a file for an error message.
func Quote(b []byte) string {
	const most = 24
	if len(b) <= most {
		return strconv.Quote(string(b))
	}
	cut := most
	for cut > most-utf8.UTFMax && !utf8.RuneStart(b[cut]) {
		cut--
	}
	return strconv.Quote(string(b[:cut])) + "…"
}
