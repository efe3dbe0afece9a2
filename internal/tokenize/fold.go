// Package tokenize splits texts into the words of the search index, and search queries into the
// words to look for. Both database engines index these words, so they find the same results, and no
// query can contain an operator of a query language.
package tokenize

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// plain maps letters without a decomposition to plain letters.
var plain = map[rune]string{
	'ß': "ss", 'æ': "ae", 'œ': "oe", 'ø': "o", 'ł': "l", 'đ': "d", 'ð': "d", 'þ': "th", 'ħ': "h", 'ı': "i", 'ŀ': "l",
	'ŋ': "n", 'ſ': "s", 'ς': "σ",
}

// Fold normalizes the spelling of a text: lower case, compatibility decomposition, no diacritics,
// letters with strokes replaced. It drops invisible characters and replaces invalid UTF-8 by
// spaces.
func Fold(text string) string {
	if ascii(text) {
		return strings.ToLower(text)
	}
	// Repeated, because the lower case of a letter may have a decomposition that the letter does
	// not have.
	for range 4 {
		var folded strings.Builder
		for _, r := range norm.NFKD.String(strings.ToValidUTF8(text, " ")) {
			r = unicode.ToLower(r)
			switch {
			case invisible(r), unicode.In(r, unicode.Mn, unicode.Me) && !essential(r):
			case plain[r] != "":
				folded.WriteString(plain[r])
			default:
				folded.WriteRune(r)
			}
		}
		composed := norm.NFC.String(folded.String()) // for scripts that keep their marks
		if composed == text {
			break
		}
		text = composed
	}
	return text
}

func ascii(text string) bool {
	for i := range len(text) {
		if text[i] >= 0x80 || text[i] == 0 {
			return false
		}
	}
	return true
}

// invisible reports whether a character is not visible: NUL, joiners, direction marks and the
// Hangul fillers, which Unicode classifies as letters.
func invisible(r rune) bool {
	return r == 0 || r == '\u115f' || r == '\u1160' || r == '\u3164' || r == '\uffa0' || unicode.Is(unicode.Cf, r) ||
		unicode.Is(unicode.Variation_Selector, r)
}

// essential reports whether a mark distinguishes words in its script.
func essential(r rune) bool {
	return unicode.In(r, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya,
		unicode.Tamil, unicode.Telugu,
		unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Thai, unicode.Lao, unicode.Tibetan, unicode.Myanmar,
		unicode.Khmer) || r == '\u3099' || r == '\u309a'
}
