// Package tokenize splits texts into the words that search knows, and queries into those that it looks for. Two database engines are fed
// with these words, so both find the same, and nothing in them can be taken for an operator of a query language.
package tokenize

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// plain are letters that no decomposition makes plain.
var plain = map[rune]string{
	'ß': "ss", 'æ': "ae", 'œ': "oe", 'ø': "o", 'ł': "l", 'đ': "d", 'ð': "d", 'þ': "th", 'ħ': "h", 'ı': "i", 'ŀ': "l", 'ŋ': "n", 'ſ': "s", 'ς': "σ",
}

// Fold brings spellings of a text to one: lower case, compatible forms decomposed, marks of alphabets removed, letters with strokes made plain. Characters that
// show nothing are dropped, and bytes that are no UTF-8 are blanks.
func Fold(text string) string {
	if ascii(text) {
		return strings.ToLower(text)
	}
	// Once is not always enough: the lower case of a letter may have a decomposition that the letter has not.
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
		composed := norm.NFC.String(folded.String()) // for the scripts whose marks stay
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

// invisible tells of characters that show nothing: NUL, those that join, hide or turn round others, and the fillers of Hangul, which count as letters.
func invisible(r rune) bool {
	return r == 0 || r == '\u115f' || r == '\u1160' || r == '\u3164' || r == '\uffa0' || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r)
}

// essential tells of marks without which words of their script are other words.
func essential(r rune) bool {
	return unicode.In(r, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu,
		unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Thai, unicode.Lao, unicode.Tibetan, unicode.Myanmar, unicode.Khmer) || r == '\u3099' || r == '\u309a'
}
