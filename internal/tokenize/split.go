package tokenize

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxRunes is the maximum length of a word in characters. Longer words are truncated.
const maxRunes = 40

// span is a part of a text, in bytes.
type span struct{ start, end int }

func (s span) of(text string) string { return text[s.start:s.end] }

// runs returns the maximal runs of letters and digits. Marks and apostrophes inside a run belong to
// it.
func runs(text string) []span {
	var all []span
	start := -1
	for i, r := range text {
		inside := letter(r) || start >= 0 && (unicode.Is(unicode.M, r) || unicode.Is(unicode.Cf, r) || apostrophe(r) &&
			begins(text[i+utf8.RuneLen(r):], letter))
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
	return r != utf8.RuneError && !apostrophe(r) && (unicode.IsLetter(r) || unicode.IsNumber(r))
}

// apostrophe reports whether a character is typed as an apostrophe. Unicode classifies two of them
// as letters.
func apostrophe(r rune) bool { return strings.ContainsRune("'‘’＇ʼʻ", r) }

// begins reports whether a text begins with a character of a kind.
func begins(text string, kind func(rune) bool) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return kind(r)
}

// glued reports whether only a hyphen or an underscore separates two runs. It is false for scripts
// without spaces.
func glued(text string, a, b span) bool {
	between := text[a.end:b.start]
	return (between == "-" || between == "_" || between == "\u2010" || between == "\u2011") &&
		!strings.ContainsFunc(clean(a.of(text))+clean(b.of(text)), unspaced)
}

// chains groups runs that are glued together. More than three are treated as a list of separate
// words.
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

// capitalizedWords splits a run at capital letters: 3DBenchy into 3D and Benchy, HTMLParser into
// HTML and Parser.
func capitalizedWords(text string, run span) []span {
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

// digits splits a run between letters and digits.
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

// word normalizes and truncates a run.
func word(run string) string { return cut(clean(run)) }

// clean normalizes a run and removes everything but letters, digits and their marks.
func clean(run string) string {
	folded := Fold(run)
	if strings.Trim(folded, "abcdefghijklmnopqrstuvwxyz0123456789") == "" {
		return folded
	}
	kept := strings.Map(func(r rune) rune {
		if letter(r) || unicode.Is(unicode.M, r) {
			return r
		}
		return -1
	}, folded)
	return strings.TrimLeftFunc(kept, func(r rune) bool { return unicode.Is(unicode.M, r) })
}

func cut(word string) string {
	if len(word) > maxRunes && utf8.RuneCountInString(word) > maxRunes {
		return string([]rune(word)[:maxRunes])
	}
	return word
}

// unspaced reports whether a letter belongs to a script without spaces between words.
func unspaced(r rune) bool {
	return r >= '\u0e00' && (letter(r) && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai,
		unicode.Lao, unicode.Khmer, unicode.Myanmar) || r == 'ー' || r == 'ｰ')
}

// follows reports whether a character belongs to the one before it.
func follows(r rune) bool { return unicode.In(r, unicode.M, unicode.Cf) || r == 'ﾞ' || r == 'ﾟ' }

// characters returns the characters of a run, each with its marks. Text between characters of
// scripts without spaces is one piece.
func characters(text string, run span) []span {
	var all []span
	var before rune
	for i, r := range run.of(text) {
		if n := len(all); n > 0 && (follows(r) || !unspaced(r) && !unspaced(before)) {
			all[n-1].end = run.start + i + utf8.RuneLen(r)
			continue
		}
		all = append(all, span{run.start + i, run.start + i + utf8.RuneLen(r)})
		before = r
	}
	return all
}

// pairs returns the overlapping pairs of characters of a normalized text in a script without
// spaces, and its last character. ok is false for other scripts.
func pairs(text string) (all []string, ok bool) {
	if !strings.ContainsFunc(text, unspaced) {
		return nil, false
	}
	characters := characters(text, span{0, len(text)})
	for i, c := range characters {
		if i+1 < len(characters) && begins(c.of(text), unspaced) && begins(characters[i+1].of(text), unspaced) {
			c.end = characters[i+1].end
		}
		all = append(all, cut(c.of(text)))
	}
	return all, true
}

func long(s string) bool { return utf8.RuneCountInString(s) >= 2 }
