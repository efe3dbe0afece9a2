package tokenize

import (
	"cmp"
	"slices"
	"strings"
)

// Span is a part of a text, in bytes: from Start to before End.
type Span struct{ Start, End int }

// Marks returns the positions in text that match the query, in order and without overlaps: words
// that begin with a word of the query, or that match it within Tolerance.
func Marks(text string, query []Word) []Span {
	var found []Span
	if len(query) == 0 {
		return nil
	}
	mark := func(s span) { found = append(found, Span{s.start, s.end}) }
	for _, chain := range chains(text) {
		for _, run := range chain {
			whole := clean(run.of(text))
			if strings.ContainsFunc(whole, unspaced) {
				markPairs(text, run, query, mark)
				continue
			}
			whole = cut(whole)
			if asked(whole, query) {
				mark(run)
				continue
			}
			capitalizedWords := capitalizedWords(text, run)
			for _, hump := range capitalizedWords {
				if len(capitalizedWords) > 1 && asked(word(hump.of(text)), query) {
					mark(hump)
				}
			}
		}
		if len(chain) > 1 && asked(word(text[chain[0].start:chain[len(chain)-1].end]), query) {
			mark(span{chain[0].start, chain[len(chain)-1].end})
		}
	}
	slices.SortFunc(found, func(a, b Span) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End)) })
	var apart []Span
	for _, s := range found {
		if n := len(apart); n > 0 && s.Start <= apart[n-1].End {
			apart[n-1].End = max(apart[n-1].End, s.End)
			continue
		}
		apart = append(apart, s)
	}
	return apart
}

// asked reports whether a word matches the query. A single letter matches only as a whole word.
func asked(word string, query []Word) bool {
	for _, w := range query {
		if word == w.Stem || !WholeOnly(w.Stem) && strings.HasPrefix(word, w.Stem) ||
			slices.ContainsFunc(w.Parts, func(part string) bool {
				return word == part || long(part) &&
					strings.HasPrefix(word, part)
			}) {
			return true
		}
		if limit := Tolerance(w.Text); limit > 0 && Distance(w.Text, word, limit) <= limit {
			return true
		}
	}
	return false
}

// markPairs marks the characters of a run in a script without spaces that match the query. It folds
// each character once, because such a run may be very long.
func markPairs(text string, run span, query []Word, mark func(span)) {
	characters := characters(text, run)
	var next string // the next character, folded
	for i := len(characters) - 1; i >= 0; i-- {
		c, following := characters[i], next
		next = clean(c.of(text))
		if !begins(next, unspaced) {
			if next != "" && asked(cut(next), query) {
				mark(c)
			}
			continue
		}
		for _, w := range query {
			switch rest, ok := strings.CutPrefix(w.Stem, next); {
			case strings.HasPrefix(next, w.Stem):
				mark(c)
			case ok && strings.HasPrefix(following, rest):
				mark(span{c.start, characters[i+1].end})
			}
		}
	}
}
