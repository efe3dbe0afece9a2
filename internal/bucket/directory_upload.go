package bucket

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/meshyard/meshyard/internal/filesystem/durable"
)

// writebackStep is how many bytes are written before the kernel is asked to start writing them to
// disk.
const writebackStep = 8 << 20

// directoryUpload writes <name>.tmp in the directory of the key, so that the rename stays within
// one file system.
type directoryUpload struct {
	dir     *directory
	key     string
	partial string // the key of the temporary file
	file    *os.File
	size    int64
	started int64 // number of bytes whose writeback has started
}

func (d *directory) create(_ context.Context, key, _ string) (upload, error) {
	partial := key + partialSuffix
	if strings.HasPrefix(key, DerivedPrefix) {
		// several writers may create the same object at once
		partial = DerivedPrefix + randomName() + partialSuffix
	}
	f, err := d.createFile(partial)
	if errors.Is(err, fs.ErrNotExist) && strings.HasPrefix(key, DerivedPrefix) {
		// The directory was removed. That is allowed, because all derived objects can be created again.
		if err := d.makeDerived(); err != nil {
			return nil, err
		}
		f, err = d.createFile(partial)
	}
	if err != nil {
		return nil, err
	}
	return &directoryUpload{dir: d, key: key, partial: partial, file: f}, nil
}

func (d *directory) createFile(key string) (*os.File, error) {
	return d.root.OpenFile(key, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o640)
}

// makeDerived creates the directory of derived objects again.
func (d *directory) makeDerived() error {
	if err := d.root.Mkdir(strings.TrimSuffix(DerivedPrefix, "/"), 0o750); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return d.syncFolderAt(".")
}

func (u *directoryUpload) Write(p []byte) (int, error) {
	n, err := u.file.Write(p)
	u.size += int64(n)
	// The disk writes while the rest is read and hashed, so the sync in commit has little left to
	// do.
	if u.size-u.started >= writebackStep {
		startWriteback(u.file, u.started, u.size-u.started)
		u.started = u.size
	}
	return n, err
}

func (u *directoryUpload) commit() error {
	if err := u.file.Sync(); err != nil {
		return err
	}
	if err := u.file.Close(); err != nil {
		return err
	}
	if err := u.dir.root.Rename(u.partial, u.key); err != nil {
		return err
	}
	// The directory may have been created again since the start, see makeDerived.
	if strings.HasPrefix(u.key, DerivedPrefix) {
		return u.dir.syncFolderAt(path.Dir(u.key))
	}
	return durable.Sync(u.dir.folders[path.Dir(u.key)+"/"])
}

func (u *directoryUpload) abort() {
	u.file.Close()
	u.dir.root.Remove(u.partial)
	if strings.HasPrefix(u.key, PendingPrefix) {
		u.dir.root.Remove(u.key) // exists if the last sync of commit failed
	}
}
