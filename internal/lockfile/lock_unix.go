//go:build unix

package lockfile

import (
	"errors"
	"os"
	"syscall"
)

func open(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = errHeld
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// unlock releases the lock explicitly before it closes the file, because a child process that is
// being started may still have the file open.
func unlock(f *os.File) error {
	return errors.Join(syscall.Flock(int(f.Fd()), syscall.LOCK_UN), f.Close())
}

// remove removes the file before it releases the lock. Otherwise another process could lock the
// file just before it is removed.
func remove(f *os.File) error { return errors.Join(os.Remove(f.Name()), unlock(f)) }
