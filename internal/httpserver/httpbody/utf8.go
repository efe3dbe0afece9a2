package httpbody

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// validUnicode reports whether JSON text is valid UTF-8 and has no unpaired surrogate escape
// (RFC 8259 section 8.2).
func validUnicode(text []byte) bool {
	if !utf8.Valid(text) {
		return false
	}
	for {
		i := bytes.IndexByte(text, '\\')
		if i < 0 || i+1 == len(text) {
			return true
		}
		text = text[i:]
		if text[1] != 'u' {
			text = text[2:]
			continue
		}
		first, second := escaped(text), rune(-1)
		if !utf16.IsSurrogate(first) {
			text = text[2:]
			continue
		}
		if len(text) > 6 {
			second = escaped(text[6:])
		}
		if utf16.DecodeRune(first, second) == utf8.RuneError {
			return false
		}
		text = text[12:]
	}
}

// escaped returns the code unit of a leading \uXXXX escape, or -1.
func escaped(text []byte) (r rune) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return -1
	}
	for _, c := range text[2:6] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}
