package tokenize

import (
	"slices"
	"strings"
)

// maxQuery is the maximum number of words of a query.
const maxQuery = 10

// Word is a word of a query.
type Word struct {
	Text  string   // normalized
	Stem  string   // the prefix to search for: Text without an English plural suffix
	Parts []string // of a compound: prefixes that together match instead of it
}

// WholeOnly reports whether a word is a single letter or digit of a script with spaces. It matches
// only whole words, because too many words begin with it.
func WholeOnly(word string) bool { return !long(word) && !strings.ContainsFunc(word, unspaced) }

// small are stop words.
var small = strings.Fields(
	"a an and as at by de der das en et for from in is it la le my of on or the to und with your")

// Query returns the words of a query, distinct and in order, at most 10. It drops stop words if
// other words remain.
func Query(text string) []Word {
	var all []Word
	add := func(w Word) {
		if w.Text != "" && !slices.ContainsFunc(all, func(other Word) bool { return other.Text == w.Text }) {
			all = append(all, w)
		}
	}
	for _, chain := range chains(text) {
		if len(all) >= 2*maxQuery { // enough, even if half of them are stop words
			break
		}
		var joined string
		var parts []string
		for _, run := range chain {
			whole := clean(run.of(text))
			if two, ok := pairs(whole); ok {
				if n := len(two); n > 1 && strings.HasSuffix(two[n-2], two[n-1]) {
					two = two[:n-1] // the last character is part of the pair before it
				}
				for _, w := range two {
					add(Word{Text: w, Stem: w})
				}
				continue
			}
			joined += whole
			for _, hump := range capitalizedWords(text, run) {
				if part := word(hump.of(text)); part != "" { // an empty prefix would match everything
					parts = append(parts, part)
				}
			}
		}
		w := Word{Text: word(joined), Stem: stem(word(joined))}
		if len(parts) > 1 {
			for i, part := range parts {
				parts[i] = stem(part)
			}
			if len(chain) == 1 && slices.ContainsFunc(parts, func(part string) bool { return !long(part) }) {
				parts = nil // i and phone
			}
			w.Parts = parts
		}
		add(w)
	}
	if telling := slices.DeleteFunc(slices.Clone(all), func(w Word) bool { return slices.Contains(small, w.Text) }); len(
		telling) > 0 {
		all = telling
	}
	return all[:min(len(all), maxQuery)]
}

// singular are words that look like plurals but are not.
var singular = strings.Fields("lens series species")

// stem removes the suffix of an English plural.
func stem(word string) string {
	if !ascii(word) || len(word) < 4 || !strings.HasSuffix(word, "s") || slices.Contains(singular, word) {
		return word
	}
	for _, ending := range []string{"ss", "us", "is"} {
		if strings.HasSuffix(word, ending) {
			return word
		}
	}
	if len(word) == 4 {
		return word[:3] // pies and axes
	}
	if rest, ok := strings.CutSuffix(word, "ies"); ok {
		return rest // battery and batteries both begin with batter
	}
	for _, ending := range []string{"sses", "shes", "ches", "xes", "zes", "nses", "buses", "tuses", "puses"} {
		if strings.HasSuffix(word, ending) {
			return word[:len(word)-2]
		}
	}
	if strings.HasSuffix(word, "oes") && len(word) > 5 { // heroes, but not shoes
		return word[:len(word)-2]
	}
	return word[:len(word)-1]
}
