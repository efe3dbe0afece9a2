package tokenize

import (
	"strings"
)

// maxWords is the maximum number of words of a text.
const maxWords = 2_000

// Words returns the distinct words of a text in the order of first occurrence, at most 2,000 words
// of 40 characters: normalized runs of letters and digits, their parts at capital letters and
// digits, and words joined by hyphens as a whole. Scripts without spaces yield overlapping pairs of
// characters.
func Words(text string) []string {
	var all []string
	seen := make(map[string]bool)
	add := func(w string) {
		if w != "" && !seen[w] && len(all) < maxWords {
			seen[w] = true
			all = append(all, w)
		}
	}
	for _, chain := range chains(text) {
		var joined strings.Builder
		for _, run := range chain {
			whole := clean(run.of(text)) // not truncated: in scripts without spaces a run may be a sentence
			joined.WriteString(whole)
			if two, ok := pairs(whole); ok {
				for _, w := range two {
					add(w)
				}
				continue
			}
			whole = cut(whole)
			add(whole)
			if whole == run.of(text) && !strings.ContainsAny(whole, "0123456789") {
				continue // lower case only: there are no parts
			}
			capitalizedWords := capitalizedWords(text, run)
			for _, hump := range capitalizedWords {
				if w := word(hump.of(text)); len(capitalizedWords) > 1 && long(w) {
					add(w)
				}
				if parts := digits(text, hump); len(parts) > 1 {
					for _, part := range parts {
						if w := word(part.of(text)); long(w) {
							add(w)
						}
					}
				}
			}
		}
		if len(chain) > 1 {
			add(word(joined.String()))
		}
	}
	return all
}
