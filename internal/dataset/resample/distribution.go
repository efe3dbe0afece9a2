package resample

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/meshyard/meshyard/internal/dataset"
)

// distribution is the data that resampling draws from. All sequences of one catalogue share it.
type distribution struct {
	things  []dataset.Thing
	titles  []string // titles of things and additional ones
	words   []string // words of the titles, as often as they occur
	tags    []string // by descending frequency
	tagKeys map[string]bool
	parts   []string // of generated tags: distinct single words
	authors []string // by descending number of things
	known   map[string]bool
	stems   []string // of generated author names: distinct words of ASCII letters in lower case
}

// measure collects the distribution.
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
		if length >= 2 && length <= 20 && !seenParts[word] && strings.ContainsFunc(word, isLetter) &&
			!strings.ContainsAny(word, " _,|") {
			seenParts[word] = true
			s.parts = append(s.parts, word)
		}
		if length >= 3 && length <= 12 && !seenStems[word] &&
			!strings.ContainsFunc(word, func(r rune) bool { return r < 'a' || r > 'z' }) {
			seenStems[word] = true
			s.stems = append(s.stems, word)
		}
	}
	if len(s.stems) == 0 {
		s.stems = []string{"maker"}
	}
	return s
}

// isLetter treats all characters outside ASCII as letters, which is close enough for words of
// titles.
func isLetter(r rune) bool { return r >= 0x80 || r|0x20 >= 'a' && r|0x20 <= 'z' }

// byFrequency returns the distinct texts in their first spelling, by descending frequency and then
// by key.
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

// scattered returns the k-th element of a fixed permutation of the numbers below size that jumps in
// long steps.
func scattered(k, size int) int {
	// a prime near 2^32 divided by the golden ratio, coprime to every smaller size
	const step = 2_654_435_761
	return int(uint64(k%size) * step % uint64(size))
}
