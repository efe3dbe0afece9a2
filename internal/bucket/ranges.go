package bucket

import "fmt"

// Ranges returns prefixes that together cover the objects below one of the prefixes of this
// package. Each can be listed on its own, so that several can be listed concurrently, and an
// interrupted listing goes on at the range where it stopped. A directory has one range, because it
// always lists all of its files.
func (b *Bucket) Ranges(prefix string) []string {
	if b.directory() != nil {
		return []string{prefix}
	}
	ranges := make([]string, 256) // the names begin with a random number, or a SHA-256, in hex
	for i := range ranges {
		ranges[i] = fmt.Sprintf("%s%02x", prefix, i)
	}
	return ranges
}
