package cleanname

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"
)

// charset is an encoding that names of files may have.
type charset struct {
	name     string
	encoding encoding.Encoding
	// score returns how likely a character is in a name, for each of its bytes: 1 for an ordinary
	// letter, a negative number for one that names hardly have.
	score func(encoded []byte, r rune) float64
}

// charsets are the encodings that are considered. The first one of those with the same score is
// chosen: the ZIP format defines CP437.
var charsets = []charset{
	{"CP437", charmap.CodePage437, latin},
	{"Windows-1252", charmap.Windows1252, latin},
	{"CP850", charmap.CodePage850, latin},
	{"Shift JIS", japanese.ShiftJIS, shiftJIS},
	{"GBK", simplifiedchinese.GBK, gbk},
	{"CP866", charmap.CodePage866, cyrillic},
	{"Windows-1251", charmap.Windows1251, cyrillic},
}

// guessCharset returns the encoding in which the names, which are not UTF-8, are most likely
// written. Most programs that write no UTF-8 use the one of their system for all names.
func guessCharset(names []string) charset {
	best, most := charsets[0], 0.0
	for i, c := range charsets {
		score := 0.0
		for _, name := range names {
			score += c.rate(name)
		}
		if i == 0 || score > most {
			best, most = c, score
		}
	}
	return best
}

// decode converts a name to UTF-8. Bytes that are invalid become U+FFFD.
func (c charset) decode(name string) string {
	text, err := c.encoding.NewDecoder().String(name)
	if err != nil {
		return name
	}
	return text
}

// rate returns how likely a name is in the encoding.
func (c charset) rate(name string) (score float64) {
	const invalid = -10
	var last, beforeLast, lastByte rune // before the current character
	run, decoder := 0, c.encoding.NewDecoder()
	rest := []byte(name)
	for len(rest) > 0 {
		n, r := 1, rune(rest[0])
		if r >= utf8.RuneSelf {
			n, r = decodeOne(decoder, rest)
		}
		switch {
		case r == utf8.RuneError:
			score += invalid
			run = 0
		case rest[0] < utf8.RuneSelf:
			if run == 1 && isASCIILetter(r) && unicode.In(last, unicode.Han, unicode.Hiragana, unicode.Katakana,
				unicode.Cyrillic) {
				switch {
				case isASCIILetter(beforeLast):
					score -= 6 // a single foreign letter in a word
				case isASCIILetter(lastByte):
					score -= 3 // at its start, probably an accented letter and the next one
				}
			}
			run = 0
		default:
			score += float64(n) * c.score(rest[:n], r)
			if run++; run > 2 && unicode.Is(unicode.Latin, r) {
				score -= 2 // words have few accented letters in a row
			}
			if unicode.IsUpper(r) && unicode.IsLower(last) {
				score -= 0.5
			}
		}
		beforeLast, last, lastByte, rest = last, r, rune(rest[n-1]), rest[n:]
	}
	return score
}

// decodeOne decodes the first character of b, which is not ASCII, and returns its length in bytes.
func decodeOne(decoder *encoding.Decoder, b []byte) (n int, r rune) {
	for n := 1; n <= min(2, len(b)); n++ {
		decoder.Reset()
		text, err := decoder.Bytes(b[:n])
		if r, size := utf8.DecodeRune(text); err == nil && size == len(text) && r != utf8.RuneError {
			return n, r
		}
	}
	return 1, utf8.RuneError
}

func isASCIILetter(r rune) bool { return r < utf8.RuneSelf && unicode.IsLetter(r) }

// latin rates a character of a single-byte encoding of Western Europe.
func latin(_ []byte, r rune) float64 {
	switch {
	case r == 'ƒ':
		return -1
	case unicode.Is(unicode.Latin, r) && r < 0x250 && r != 'ª' && r != 'º':
		return 1
	case r == 'ª' || r == 'º' || r == '°' || r == '²' || r == '³' || r == '½' || r == 'µ' || r == '®' || r == '–':
		return 0.5
	case unicode.IsLetter(r):
		return -1
	}
	return -2
}

// cyrillic rates a character of a single-byte encoding of Cyrillic.
func cyrillic(_ []byte, r rune) float64 {
	if r >= 'А' && r <= 'я' || r == 'ё' || r == 'Ё' {
		return 0.9
	}
	return -2
}

// shiftJIS rates a character of Shift JIS. Kana are the best sign. The first level of kanji has the
// common ones.
func shiftJIS(b []byte, r rune) float64 {
	switch {
	case len(b) == 1:
		return -1 // a half-width katakana, which is any accented letter in other encodings
	case unicode.In(r, unicode.Hiragana, unicode.Katakana) || r == 'ー':
		return 2
	case b[0] >= 0x88 && b[0] <= 0x97:
		return 1.1
	case b[0] == 0x81 || b[0] == 0x82:
		return 0.2 // punctuation, full-width letters
	}
	return -0.5
}

// gbk rates a character of GBK. The first level of GB 2312 has the common ones.
func gbk(b []byte, _ rune) float64 {
	switch {
	case len(b) == 1:
		return -1
	case b[1] < 0xA1:
		return -1 // not of GB 2312
	case b[0] >= 0xB0 && b[0] <= 0xD7:
		return 1.2
	case b[0] >= 0xD8 && b[0] <= 0xF7:
		return 0.4
	case b[0] == 0xA1 || b[0] == 0xA3:
		return 0.2 // punctuation, full-width letters
	}
	return -1
}
