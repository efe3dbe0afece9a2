package words

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxRunes is how long a word may be; what is longer is cut.
const maxRunes = 40

// span is a part of a text, in bytes.
type span struct{ start, end int }

func (s span) of(text string) string { return text[s.start:s.end] }

// runs gives the maximal runs of letters and digits of a text. Marks and apostrophes within a run belong to it.
func runs(text string) []span {
	var all []span
	start := -1
	for i, r := range text {
		inside := letter(r) || start >= 0 && (unicode.Is(unicode.M, r) || unicode.Is(unicode.Cf, r) || apostrophe(r) && begins(text[i+utf8.RuneLen(r):]))
		switch {
		case inside && start < 0:
			start = i
		case !inside && start >= 0:
			all = append(all, span{start, i})
			start = -1
		}
	}
	if start >= 0 {
		all = append(all, span{start, len(text)})
	}
	return all
}

func letter(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsNumber(r))
}

func apostrophe(r rune) bool { return r == '\'' || r == '’' || r == 'ʼ' }

// begins tells whether a text begins with a letter.
func begins(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return letter(r)
}

// glued tells whether nothing but a hyphen or an underscore stands between two runs.
func glued(text string, a, b span) bool {
	between := text[a.end:b.start]
	return between == "-" || between == "_" || between == "\u2010" || between == "\u2011"
}

// chains groups runs of which each is glued to the one before. More than three are a list and no word.
func chains(text string) [][]span {
	var all [][]span
	runs := runs(text)
	for len(runs) > 0 {
		n := 1
		for n < len(runs) && glued(text, runs[n-1], runs[n]) {
			n++
		}
		if n <= 3 {
			all = append(all, runs[:n])
		} else {
			for i := range n {
				all = append(all, runs[i:i+1])
			}
		}
		runs = runs[n:]
	}
	return all
}

// humps gives the parts that capitals make of a run: 3D and Benchy of 3DBenchy, HTML and Parser of HTMLParser.
func humps(text string, run span) []span {
	var all []span
	start := run.start
	var before rune
	for i, r := range text[run.start:run.end] {
		at := run.start + i
		if at > start && unicode.IsUpper(r) {
			following, _ := utf8.DecodeRuneInString(text[at+utf8.RuneLen(r) : run.end])
			if unicode.IsLower(before) || unicode.IsUpper(before) && unicode.IsLower(following) {
				all = append(all, span{start, at})
				start = at
			}
		}
		before = r
	}
	return append(all, span{start, run.end})
}

// digits gives the parts of a run between which letters and digits meet.
func digits(text string, run span) []span {
	var all []span
	start := run.start
	for i, r := range text[run.start:run.end] {
		at := run.start + i
		if first, _ := utf8.DecodeRuneInString(text[start:]); at > start && unicode.IsNumber(first) != unicode.IsNumber(r) {
			all = append(all, span{start, at})
			start = at
		}
	}
	return append(all, span{start, run.end})
}

// word brings a run, or a part of one, to the form that is kept: folded, and nothing in it but letters, digits and marks.
func word(run string) string {
	folded := Fold(run)
	if len(folded) <= maxRunes && strings.Trim(folded, "abcdefghijklmnopqrstuvwxyz0123456789") == "" {
		return folded
	}
	clean := strings.Map(func(r rune) rune {
		if letter(r) || unicode.Is(unicode.M, r) {
			return r
		}
		return -1
	}, folded)
	if utf8.RuneCountInString(clean) > maxRunes {
		clean = string([]rune(clean)[:maxRunes])
	}
	return clean
}

// unspaced tells of letters of scripts that put no blanks between words.
func unspaced(r rune) bool {
	return r >= '\u0e00' && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) || r == 'ー'
}

// pairs gives the overlapping pairs of characters of a text in a script without blanks, and the last character; ok is false for other scripts.
func pairs(text string) (all []string, ok bool) {
	first := strings.IndexFunc(text, unspaced)
	if first < 0 {
		return nil, false
	}
	if first > 0 {
		all = append(all, text[:first])
	}
	runes := []rune(text[first:])
	for i, r := range runes {
		switch {
		case !unspaced(r) && !unicode.Is(unicode.M, r):
			if i == 0 || unspaced(runes[i-1]) { // the rest is in another script, or mixed again
				end := i
				for end < len(runes) && !unspaced(runes[end]) {
					end++
				}
				all = append(all, string(runes[i:end]))
			}
		case i+1 < len(runes) && (unspaced(runes[i+1]) || unicode.Is(unicode.M, runes[i+1])):
			all = append(all, string(runes[i:i+2]))
		default:
			all = append(all, string(r))
		}
	}
	return all, true
}

func long(s string) bool { return utf8.RuneCountInString(s) >= 2 }
