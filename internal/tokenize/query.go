package tokenize

import (
	"slices"
	"strings"
)

// maxQuery is how many words of a query count.
const maxQuery = 10

// Word is a word that a query asks for.
type Word struct {
	Text  string   // folded
	Stem  string   // what a word must begin with to be found: Text without the ending of an English plural
	Parts []string // of a compound: what words must begin with that are found together instead of it
}

// WholeOnly tells whether a word is one letter or digit of a script with blanks between words, which is found as a whole word
// only: too much begins with it.
func WholeOnly(word string) bool { return !long(word) && !strings.ContainsFunc(word, unspaced) }

// small are words that say too little to be asked for beside others.
var small = strings.Fields("a an and as at by de der das en et for from in is it la le my of on or the to und with your")

// Query gives the words that a query asks for, distinct and in order, at most 10. Small words of English are left out where others remain.
func Query(text string) []Word {
	var all []Word
	add := func(w Word) {
		if w.Text != "" && !slices.ContainsFunc(all, func(other Word) bool { return other.Text == w.Text }) {
			all = append(all, w)
		}
	}
	for _, chain := range chains(text) {
		if len(all) >= 2*maxQuery { // enough, even if half of them are small
			break
		}
		var joined string
		var parts []string
		for _, run := range chain {
			whole := clean(run.of(text))
			if two, ok := pairs(whole); ok {
				if n := len(two); n > 1 && strings.HasSuffix(two[n-2], two[n-1]) {
					two = two[:n-1] // the last character alone is part of the pair before
				}
				for _, w := range two {
					add(Word{Text: w, Stem: w})
				}
				continue
			}
			joined += whole
			for _, hump := range humps(text, run) {
				if part := word(hump.of(text)); part != "" { // everything would begin with nothing
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
	if telling := slices.DeleteFunc(slices.Clone(all), func(w Word) bool { return slices.Contains(small, w.Text) }); len(telling) > 0 {
		all = telling
	}
	return all[:min(len(all), maxQuery)]
}

// singular are words that end as plurals do and are none.
var singular = strings.Fields("lens series species")

// stem takes the ending of an English plural off a word.
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
	if strings.HasSuffix(word, "oes") && len(word) > 5 { // heroes, and not shoes
		return word[:len(word)-2]
	}
	return word[:len(word)-1]
}
