// Package lockfile ensures that only one process at a time writes to a folder, or that either one
// process or several others use a file. The operating system
// releases the lock when the process ends for any reason, so a lock is never stale.
package lockfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// errHeld is the error of open for a file that another process has locked.
var errHeld = errors.New("the file is locked")

// Lock is a held lock.
type Lock struct {
	file *os.File
}

// Acquire creates the file at path if it is missing and locks it. If another process holds the
// lock, the error names that process.
func Acquire(path string) (*Lock, error) {
	for {
		f, err := open(path)
		if errors.Is(err, errHeld) {
			return nil, fmt.Errorf("%s is locked: another process%s is writing to this folder", path, holder(path))
		}
		if err != nil {
			return nil, err
		}
		// The previous holder may have removed the file after it was opened here.
		opened, err := f.Stat()
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		if named, err := os.Stat(path); err != nil || !os.SameFile(opened, named) {
			if err := f.Close(); err != nil {
				return nil, err
			}
			continue
		}
		err = f.Truncate(0)
		if err == nil {
			_, err = fmt.Fprintf(f, "%d\n", os.Getpid())
		}
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		return &Lock{f}, nil
	}
}

// Release releases the lock and keeps the file.
func (l *Lock) Release() error { return unlock(l.file) }

// Remove removes the file and releases the lock.
func (l *Lock) Remove() error { return remove(l.file) }

// holder returns the process that a lock file names, or "" if the file cannot be read.
func holder(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 20))
	if pid := strings.TrimSpace(string(text)); err == nil && pid != "" {
		return " (" + pid + ")"
	}
	return ""
}
