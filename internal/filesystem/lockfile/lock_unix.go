//go:build unix

package lockfile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

func open(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	return lock(f, true)
}

// openUse opens a file whose lock several processes can share. Another user can lock a file that
// they can only read, such as one that root created.
func openUse(path string, exclusive bool) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if errors.Is(err, fs.ErrPermission) {
		if readable, err := os.Open(path); err == nil {
			return lock(readable, exclusive)
		}
	}
	if err != nil {
		return nil, err
	}
	_ = f.Chmod(0o644) // whatever the umask is; it fails for files of others, which is fine
	return lock(f, exclusive)
}

// lock locks an open file, or closes it.
func lock(f *os.File, exclusive bool) (*os.File, error) {
	how := syscall.LOCK_SH
	if exclusive {
		how = syscall.LOCK_EX
	}
	err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
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

// isRunning reports whether a process exists.
func isRunning(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
