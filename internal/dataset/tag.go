package dataset

import "strings"

// tagKey is what two spellings of one tag have in common.
func tagKey(tag string) string { return strings.ReplaceAll(strings.ToLower(tag), "_", " ") }

// distinctTags gives tags in their order, without empty ones, blanks around them, and all but the first of those that
// repeat each other.
func distinctTags(tags []string) []string {
	var kept []string
	seen := make(map[string]bool, len(tags))
	for _, tag := range tags {
		tag = strings.TrimSpace(tag)
		if key := tagKey(tag); tag != "" && !seen[key] {
			seen[key] = true
			kept = append(kept, tag)
		}
	}
	return kept
}
