package tokenize

import (
	"strings"
	"unicode/utf8"
)

// The length of an excerpt and of the text before its first match, in bytes.
const (
	excerptLength = 240
	excerptBefore = 60
	// excerptWindow is the number of bytes at the start of a text that are searched for matches.
	excerptWindow = 2 << 10
)

// Part is a part of an excerpt.
type Part struct {
	Text    string
	IsMatch bool
}

// Excerpt returns about 240 bytes of text around the first match of the query, split into the
// matches and what is between them. It searches the first 2 KiB of text, and returns nil if nothing
// matches there.
func Excerpt(text string, query []Word) (parts []Part) {
	marks := Marks(window(text), query)
	if len(marks) == 0 {
		return nil
	}
	start, end := 0, len(text)
	if end > excerptLength {
		start = wordStart(text, max(0, marks[0].Start-excerptBefore))
		end = max(marks[0].End, wordStart(text, min(end, start+excerptLength)))
	}
	add := func(from, to int, match bool) {
		if from < to {
			parts = append(parts, Part{text[from:to], match})
		}
	}
	at := start
	for _, m := range marks {
		if m.End > end {
			break
		}
		add(at, m.Start, false)
		add(m.Start, m.End, true)
		at = m.End
	}
	add(at, end, false)
	return parts
}

// window returns the first excerptWindow bytes of a text, cut at a word or, if there is no space
// nearby, at a character.
func window(text string) string { return text[:wordStart(text, min(len(text), excerptWindow))] }

// wordStart moves an offset back to the start of a word if a space is within 20 bytes, otherwise to
// the start of a character.
func wordStart(text string, at int) int {
	const near = 20 // bytes
	if at == 0 || at >= len(text) {
		return min(at, len(text))
	}
	if i := strings.LastIndexByte(text[max(0, at-near):at], ' '); i >= 0 {
		return max(0, at-near) + i + 1
	}
	for !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}
