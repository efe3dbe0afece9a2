package outage

import (
	"fmt"
	"io/fs"
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

// CheckDisk returns an error that [Of] recognizes if the file system that holds a folder is
// read-only, or has less than 16 MiB available. It also returns an error if this process may not
// write the folder.
func CheckDisk(folder string) error {
	if err := touch(folder); err != nil {
		return &fs.PathError{Op: "write", Path: folder, Err: err}
	}
	free, err := available(folder)
	if err != nil {
		return fmt.Errorf("free space of %s: %w", folder, err)
	}
	if free < minFree {
		return fmt.Errorf("%s: %d bytes are available, fewer than %d: %w", folder, free, minFree, syscall.ENOSPC)
	}
	return nil
}
