package outage

import (
	"fmt"
	"syscall"
)

// minFree is how many bytes must be free for a server to be ready. A database needs room for its
// journal, so a disk is in trouble before the last byte is taken.
const minFree = 16 << 20

// CheckSpace returns an error that [Of] recognizes if the file system that holds path has less than
// 16 MiB available.
func CheckSpace(path string) error {
	free, err := available(path)
	if err != nil {
		return fmt.Errorf("free space of %s: %w", path, err)
	}
	if free < minFree {
		return fmt.Errorf("%s: %d bytes are available, fewer than %d: %w", path, free, minFree, syscall.ENOSPC)
	}
	return nil
}
