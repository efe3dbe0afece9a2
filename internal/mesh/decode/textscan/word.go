package textscan

import (
	"strconv"
	"unicode/utf8"
)

// blank tells whether a byte stands between words.
func IsSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// word cuts the first word off a line. It is empty where there is none.
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

// quote shows what stands in a file in a message: quoted, and never much of it.
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
