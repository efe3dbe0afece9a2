package resample

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/meshyard/meshyard/internal/dataset"
)

// spread is what resampling draws from: what the tables hold, in the orders in which it is drawn. It depends on nothing
// else, and so all sequences of one catalogue share it.
type distribution struct {
	things  []dataset.Thing
	titles  []string // of things and more
	words   []string // of the titles, as often as they stand there
	tags    []string // the most frequent first
	tagKeys map[string]bool
	parts   []string // of made tags: single words, no two alike
	authors []string // those with most things first
	known   map[string]bool
	stems   []string // of made author names: words of small ASCII letters, no two alike
}

// measure gathers what resampling draws from.
func measure(things []dataset.Thing, titles []string) *distribution {
	s := &distribution{things: things, tagKeys: make(map[string]bool), known: make(map[string]bool)}
	var tags, authors []string
	for _, th := range things {
		s.titles = append(s.titles, th.Name)
		tags = append(tags, th.Tags...)
		if th.Author != "" {
			authors = append(authors, th.Author)
		}
	}
	for _, title := range titles {
		if length := utf8.RuneCountInString(title); length > 0 && length <= longestName {
			s.titles = append(s.titles, title)
		}
	}
	for _, title := range s.titles {
		for word := range strings.FieldsSeq(title) {
			if strings.ContainsFunc(word, isLetter) {
				s.words = append(s.words, word)
			}
		}
	}
	s.tags, s.authors = byFrequency(tags, dataset.TagKey), byFrequency(authors, strings.ToLower)
	for _, tag := range s.tags {
		s.tagKeys[dataset.TagKey(tag)] = true
	}
	for _, author := range s.authors {
		s.known[strings.ToLower(author)] = true
	}
	seenParts, seenStems := make(map[string]bool), make(map[string]bool)
	for _, word := range slices.Concat(s.tags, s.words) {
		word = strings.ToLower(strings.Trim(word, " ,.;:!?\"'()[]{}"))
		length := utf8.RuneCountInString(word)
		if length >= 2 && length <= 20 && !seenParts[word] && strings.ContainsFunc(word, isLetter) && !strings.ContainsAny(word, " _,|") {
			seenParts[word] = true
			s.parts = append(s.parts, word)
		}
		if length >= 3 && length <= 12 && !seenStems[word] && !strings.ContainsFunc(word, func(r rune) bool { return r < 'a' || r > 'z' }) {
			seenStems[word] = true
			s.stems = append(s.stems, word)
		}
	}
	if len(s.stems) == 0 {
		s.stems = []string{"maker"}
	}
	return s
}

// isLetter takes all that is not ASCII for letters, which is near enough for the words of titles.
func isLetter(r rune) bool { return r >= 0x80 || r|0x20 >= 'a' && r|0x20 <= 'z' }

// byFrequency gives each text once, in its first spelling, the most frequent first and else by key.
func byFrequency(texts []string, key func(string) string) []string {
	counts, spelling := make(map[string]int), make(map[string]string)
	for _, text := range texts {
		k := key(text)
		if counts[k]++; counts[k] == 1 {
			spelling[k] = text
		}
	}
	ordered := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(a, b))
	})
	for i, k := range ordered {
		ordered[i] = spelling[k]
	}
	return ordered
}

// scattered gives the k-th of size numbers in a fixed order that goes through all of them in long steps.
func scattered(k, size int) int {
	const step = 2_654_435_761 // a prime next to 2^32 over the golden ratio, and so coprime to every smaller size
	return int(uint64(k%size) * step % uint64(size))
}
