// Package durable writes files that survive a crash and a power failure: a file is complete, or it
// is not there or still the one before.
package durable

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// Write creates or replaces the file at path with the bytes that write writes. Only its owner can
// read the file. If Write returns an error, the file is the one before. A process that is killed
// can leave the file temp, which must be in the same folder; the next Write replaces that.
func Write(path, temp string, write func(io.Writer) error) error {
	if err := WriteOneOfMany(path, temp, write); err != nil {
		return err
	}
	return SyncFolder(filepath.Dir(path))
}

// WriteOneOfMany is like Write, but the file may be missing after a power failure until the caller
// calls [SyncFolder], once for many files.
func WriteOneOfMany(path, temp string, write func(io.Writer) error) (err error) {
	// A file of an earlier process could have other permissions.
	if err := os.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	return nil
}

// SyncFolder makes the names in a folder durable.
func SyncFolder(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return Sync(f)
}

// Sync makes the names in an open folder durable. It ignores EINVAL, which some network file
// systems return. On Windows it does nothing: a folder can be flushed only by a handle with write
// access, which package os does not open, and NTFS keeps a journal of names.
func Sync(folder *os.File) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	if err := folder.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
		return fmt.Errorf("sync %s: %w", folder.Name(), err)
	}
	return nil
}
