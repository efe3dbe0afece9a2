package dataset

import "strings"

// TagKey returns the key by which tags are compared: lower case, with '_' as a space.
func TagKey(tag string) string { return strings.ReplaceAll(strings.ToLower(tag), "_", " ") }

// DistinctTags returns the tags in order, trimmed, without empty ones and without duplicates by
// TagKey.
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
