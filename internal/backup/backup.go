// Package backup defines the folders that meshyard backup writes and meshyard restore reads.
//
//	backup.json                     the manifest, replaced last
//	database-20270131T120000Z.dump  the output of pg_dump, or a SQLite database (.sqlite)
//	objects/                        the objects that the database refers to, like a bucket folder
//
// Objects are named by their content, so a second backup into a folder copies only new objects. The
// folder holds one complete backup at any time: if the process is killed, the previous backup stays
// valid.
package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/meshyard/meshyard/internal/bucket"
	"github.com/meshyard/meshyard/internal/filesystem/durable"
	"github.com/meshyard/meshyard/internal/filesystem/lockfile"
)

const (
	format       = 1
	manifestName = "backup.json"
	database     = "database-" // prefix of the name of the database file
	lockName     = "backup.lock"
)

// Manifest describes a complete backup.
type Manifest struct {
	Format    int       `json:"format"`
	CreatedAt time.Time `json:"created_at"` // of the snapshot of the database
	Version   string    `json:"version"`    // of the program
	Engine    string    `json:"engine"`
	// Source identifies the database. Backups that earlier source made have none.
	Source string `json:"source,omitempty"`
	// Migration is the newest one of the database. Backups that earlier source made have none.
	Migration string `json:"migration,omitempty"`
	Database  *File  `json:"database"` // null: the backup has objects only
	Objects   int    `json:"objects"`
	Bytes     int64  `json:"bytes"` // of the objects
	// Deleted lists the IDs of pending uploads that are in the database of the backup but whose bytes
	// were deleted while the backup was made. Restoring the backup deletes these uploads.
	Deleted []int64 `json:"deleted_uploads,omitempty"`
	// Faults lists the objects that rows refer to but that were missing, damaged or unreadable in the
	// bucket.
	Faults []string `json:"faults,omitempty"`
}

// File describes a file in the folder.
type File struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// Folder is an open backup folder.
type Folder struct {
	// Objects is the bucket in the folder.
	Objects *bucket.Bucket

	path string
	lock *lockfile.Lock // nil: the folder is only read
}

// Create opens a folder for a backup, and creates it if it is missing. It returns an error for a
// folder that is neither empty nor a backup, and if another process is writing to the folder.
func Create(ctx context.Context, path string) (_ *Folder, err error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if name := e.Name(); name != manifestName && name != lockName && name != "objects" &&
			!strings.HasPrefix(name, database) {
			return nil, fmt.Errorf("%s: contains %s, so it is not a backup folder: use an empty or a new folder", path, name)
		}
	}
	lock, err := lockfile.Acquire(filepath.Join(path, lockName))
	if err != nil {
		return nil, err
	}
	f, err := open(ctx, path)
	if err != nil {
		return nil, errors.Join(err, lock.Remove())
	}
	f.lock = lock
	return f, nil
}

// Open opens the folder of a complete backup for reading.
func Open(ctx context.Context, path string) (*Folder, *Manifest, error) {
	f := &Folder{path: path}
	m, err := f.manifest()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("%s: has no %s, so it does not contain a complete backup", path, manifestName)
	}
	if err != nil {
		return nil, nil, err
	}
	f, err = open(ctx, path)
	return f, m, err
}

func open(ctx context.Context, path string) (*Folder, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	path = filepath.Join(absolute, "objects")
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	b, err := bucket.Open(ctx, bucket.DirectoryURL(path))
	if err != nil {
		return nil, err
	}
	return &Folder{Objects: b, path: absolute}, nil
}

// Close releases the resources of the folder.
func (f *Folder) Close() error {
	err := f.Objects.Close()
	if f.lock != nil {
		err = errors.Join(err, f.lock.Remove())
	}
	return err
}

// CheckReplace returns an error if the folder contains a backup that a new one of the database
// source must not replace without being asked to: one of another database, or, if the new one is
// without its database, one with it.
func (f *Folder) CheckReplace(source string, withDatabase bool) error {
	const otherwise = "use another folder, or --replace to delete that backup"
	m, err := f.manifest()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("%s: contains a backup that cannot be read: %w: %s", f.path, err, otherwise)
	}
	found := fmt.Sprintf("%s database, of %s (objects: %d)", m.Engine, m.CreatedAt.Format(time.RFC3339), m.Objects)
	switch {
	case m.Source != "" && m.Source != source:
		return fmt.Errorf("%s: contains a backup of another %s: %s", f.path, found, otherwise)
	case m.Database != nil && !withDatabase:
		return fmt.Errorf("%s: contains a backup with the %s, and --no-database would leave none: %s", f.path, found,
			otherwise)
	}
	return nil
}

func (f *Folder) manifest() (*Manifest, error) {
	text, err := os.ReadFile(filepath.Join(f.path, manifestName))
	if err != nil {
		return nil, err
	}
	m := new(Manifest)
	if err := json.Unmarshal(text, m); err != nil {
		return nil, fmt.Errorf("%s: %w", manifestName, err)
	}
	if m.Format != format {
		return nil, fmt.Errorf("%s: has format %d, and this version of meshyard reads format %d", manifestName, m.Format,
			format)
	}
	if m.Database != nil && filepath.Base(m.Database.Name) != m.Database.Name {
		return nil, fmt.Errorf("%s: the database file %q is not in the folder", manifestName, m.Database.Name)
	}
	return m, nil
}

// NewDatabase creates an empty file for the database of a backup that is made at the given time,
// and returns its path. Programs that write it would create a file that all users can read.
func (f *Folder) NewDatabase(at time.Time, extension string) (path string, err error) {
	path = filepath.Join(f.path, database+at.UTC().Format("20060102T150405.000Z")+extension)
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	return path, file.Close()
}

// Database returns the path of the database file of a manifest. It returns an error if the size or
// the SHA-256 of the file differs from the manifest.
func (f *Folder) Database(m *Manifest) (string, error) {
	path := filepath.Join(f.path, m.Database.Name)
	got, err := describe(path)
	if err != nil {
		return "", err
	}
	if *got != *m.Database {
		return "", fmt.Errorf("%s: is damaged: it has %d bytes with SHA-256 %s, and %s says %d and %s",
			path, got.Size, got.SHA256, manifestName, m.Database.Size, m.Database.SHA256)
	}
	return path, nil
}

// Commit makes a backup the current one of the folder. Its objects and the database file at path
// ("" if it has none) must be complete. Then Commit removes the database file of the previous
// backup, and the objects for whose keys keep returns false.
func (f *Folder) Commit(ctx context.Context, m *Manifest, path string, keep func(key string) bool) (err error) {
	m.Format, m.Database = format, nil
	if path != "" {
		if m.Database, err = describe(path); err != nil {
			return err
		}
	}
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	// The next Commit removes the temporary file after a crash.
	temp := filepath.Join(f.path, database+"manifest.tmp")
	err = durable.Write(filepath.Join(f.path, manifestName), temp,
		func(w io.Writer) error { _, err := w.Write(append(text, '\n')); return err })
	if err != nil {
		return err
	}
	old, err := filepath.Glob(filepath.Join(f.path, database+"*"))
	for _, name := range old {
		if name != path {
			err = errors.Join(err, os.Remove(name))
		}
	}
	if err != nil {
		return err
	}
	for o, err := range f.Objects.Objects(ctx, "") {
		if err != nil {
			return err
		}
		if keep(o.Key) {
			continue
		}
		if err := f.Objects.Remove(ctx, o.Key); err != nil {
			return err
		}
	}
	return nil
}

// describe syncs a file to disk and returns its description.
func describe(path string) (*File, error) {
	r, err := os.OpenFile(path, os.O_RDWR, 0) // Windows syncs only files that are open for writing
	if err != nil {
		return nil, err
	}
	defer r.Close()
	hash := sha256.New()
	n, err := io.Copy(hash, r)
	if err != nil {
		return nil, err
	}
	if err := r.Sync(); err != nil {
		return nil, err
	}
	return &File{filepath.Base(path), n, hex.EncodeToString(hash.Sum(nil))}, nil
}
