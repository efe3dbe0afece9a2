package dataset

import "strings"

// TagKey is what two spellings of one tag have in common.
func TagKey(tag string) string { return strings.ReplaceAll(strings.ToLower(tag), "_", " ") }

// DistinctTags gives tags in their order, without empty ones, blanks around them, and all but the first of those that
// repeat each other.
func DistinctTags(tags []string) []string {
	var kept []string
	seen := make(map[string]bool, len(tags))
	for _, tag := range tags {
		tag = strings.TrimSpace(tag)
		if key := TagKey(tag); tag != "" && !seen[key] {
			seen[key] = true
			kept = append(kept, tag)
		}
	}
	return kept
}
