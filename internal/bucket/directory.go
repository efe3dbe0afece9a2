package bucket

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/meshyard/meshyard/internal/filesystem/durable"
	"github.com/meshyard/meshyard/internal/outage"
)

// directory is a bucket in a directory. A key is the path of a file below it.
//
// It uses package os instead of gocloud.dev/blob/fileblob, which has the same layout. Durable
// writes and promotion by hard link need the file and its directory anyway; fileblob does not sync,
// copies where a link is sufficient, and reads and sorts the whole directory for each page of a
// listing.
type directory struct {
	path string
	root *os.Root
	// folders are open directories for syncing, by key prefix.
	folders map[string]*os.File
}

// DirectoryURL returns the URL of the bucket in the directory with an absolute path. The path of
// C:\data is /C:/data (RFC 8089, appendix D.2).
func DirectoryURL(dir string) string {
	dir = filepath.ToSlash(dir)
	if !strings.HasPrefix(dir, "/") {
		dir = "/" + dir
	}
	return (&url.URL{Scheme: "file", Path: dir}).String()
}

// Directory returns the path of the directory of a bucket, and false for the URL of another bucket.
func Directory(rawURL string) (dir string, ok bool) {
	u, err := parseURL(rawURL)
	if err != nil || u.Scheme != "file" {
		return "", false
	}
	return directoryPath(u), true
}

// directoryPath returns the path of the directory with a URL.
func directoryPath(u *url.URL) string {
	dir := strings.TrimPrefix(u.Path, "/")
	if filepath.VolumeName(dir) == "" { // always, except on Windows
		dir = u.Path
	}
	return filepath.Clean(filepath.FromSlash(dir))
}

func openDirectory(u *url.URL) (_ *directory, err error) {
	dir := directoryPath(u)
	if err := makeFolder(dir); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	d := &directory{path: dir, root: root, folders: map[string]*os.File{}}
	defer func() {
		if err != nil {
			d.close()
		}
	}()
	for _, prefix := range prefixes {
		if err := makeFolder(filepath.Join(dir, filepath.FromSlash(prefix))); err != nil {
			return nil, err
		}
		f, err := root.Open(strings.TrimSuffix(prefix, "/"))
		if err != nil {
			return nil, err
		}
		d.folders[prefix] = f
		// A process that died between a rename and the sync left names that are visible but may not
		// be durable.
		if err := durable.Sync(f); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// makeFolder creates dir and its missing parents durably.
func makeFolder(dir string) error {
	parent := filepath.Dir(dir)
	err := os.Mkdir(dir, 0o750)
	if errors.Is(err, fs.ErrNotExist) && parent != dir {
		if err := makeFolder(parent); err != nil {
			return err
		}
		err = os.Mkdir(dir, 0o750)
	}
	if errors.Is(err, fs.ErrExist) {
		return nil // or it is not a directory, which opening it reports
	}
	if err != nil {
		return err
	}
	return durable.SyncFolder(parent)
}

// syncFolderAt makes the names in the directory that is now at a path durable.
func (d *directory) syncFolderAt(name string) error {
	f, err := d.root.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return durable.Sync(f)
}

func (d *directory) close() error {
	err := d.root.Close()
	for _, f := range d.folders {
		err = errors.Join(err, f.Close())
	}
	return err
}

// ready also detects that the path refers to another directory than at start: the disk was
// unmounted, or another one was mounted over it. It also returns an error if the disk is read-only
// or nearly full, or if this process may not write the folder of one of the prefixes.
func (d *directory) ready(context.Context) error {
	opened, err := d.root.Stat(".")
	if err != nil {
		return err
	}
	now, err := os.Stat(d.path)
	if err != nil {
		return err
	}
	if !os.SameFile(opened, now) {
		return fmt.Errorf("%s is no longer the directory that was opened", d.path)
	}
	for _, prefix := range prefixes {
		err := outage.CheckDisk(filepath.Join(d.path, filepath.FromSlash(prefix)))
		if errors.Is(err, fs.ErrNotExist) && prefix == DerivedPrefix { // the next preview creates it
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}
