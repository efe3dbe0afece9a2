package outage

import (
	"fmt"
	"math"
	"syscall"
)

// minFree is the minimum number of free bytes on the disk of a ready server. A database needs space
// for its journal, so it fails before the disk is completely full.
const minFree = 16 << 20

// Available returns how many bytes the file system that holds path has left for unprivileged users.
// It returns false if the system does not report it.
func Available(path string) (free uint64, ok bool) {
	free, err := available(path)
	return free, err == nil && free != math.MaxUint64
}

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
