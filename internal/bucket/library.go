package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"
)

// LibraryPrefix begins the keys of files in libraries: folders of the operator that are read where
// they lie. [Bucket.Reader] and [Bucket.Stat] accept them; all other methods reject them, so that
// nothing is ever written to a library.
const LibraryPrefix = "library/"

// ErrChanged matches the errors for a file in a library whose size or modification time is no
// longer that in its key.
var ErrChanged = errors.New("the file has changed since the library was scanned")

// ErrNoLibrary matches the errors for files in a library that this process does not know.
var ErrNoLibrary = errors.New("no library of that name")

// LibraryFile is a file in a library as a scan saw it. Its key contains all fields.
type LibraryFile struct {
	Library string // the name
	Path    string // slash-separated, below the folder of the library, as the file system has it
	Size    int64
	ModTime int64 // in nanoseconds since 1970
}

// Key returns the key of the file. It is valid UTF-8 even if the path is not.
func (f LibraryFile) Key() string {
	return LibraryPrefix + f.Library + "/" + strconv.FormatInt(f.Size, 10) + "." + strconv.FormatInt(f.ModTime, 10) + "/" +
		EscapePath(f.Path)
}

// ParseLibraryKey returns the file with a key. ok is false if the key is not one of a library.
func ParseLibraryKey(key string) (f LibraryFile, ok bool) {
	rest, ok := strings.CutPrefix(key, LibraryPrefix)
	if !ok {
		return f, false
	}
	parts := strings.SplitN(rest, "/", 3)
	if len(parts) != 3 {
		return f, false
	}
	size, modTime, _ := strings.Cut(parts[1], ".")
	var sizeErr, timeErr, pathErr error
	f.Library = parts[0]
	f.Size, sizeErr = strconv.ParseInt(size, 10, 64)
	f.ModTime, timeErr = strconv.ParseInt(modTime, 10, 64)
	f.Path, pathErr = UnescapePath(parts[2])
	return f, errors.Join(sizeErr, timeErr, pathErr) == nil
}

// EscapePath returns a path of the file system as valid UTF-8: each byte that is not is written as
// % with two hexadecimal digits, as are % itself and control characters.
func EscapePath(path string) string {
	var b strings.Builder
	for i := 0; i < len(path); {
		r, n := utf8.DecodeRuneInString(path[i:])
		if r == utf8.RuneError && n == 1 || r == '%' || r < ' ' || r == 0x7f {
			fmt.Fprintf(&b, "%%%02X", path[i])
			i++
			continue
		}
		b.WriteString(path[i : i+n])
		i += n
	}
	return b.String()
}

// UnescapePath is the inverse of [EscapePath].
func UnescapePath(escaped string) (string, error) {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(escaped, "%")
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		if len(after) < 2 {
			return "", fmt.Errorf("path %q: ends within an escaped byte", escaped)
		}
		raw, err := strconv.ParseUint(after[:2], 16, 8)
		if err != nil {
			return "", fmt.Errorf("path %q: has no hexadecimal digits after %%", escaped)
		}
		b.WriteByte(byte(raw))
		escaped = after[2:]
	}
}

// ServeLibraries makes the files of libraries readable, from the folders with the given names. It
// opens a folder whenever a file is read, so a file system may be mounted later. Call it before the
// bucket is used.
func (b *Bucket) ServeLibraries(folders map[string]string) { b.libraries = folders }

// HasLibrary reports whether this process knows the library of a key.
func (b *Bucket) HasLibrary(key string) bool {
	f, ok := ParseLibraryKey(key)
	return ok && b.libraries[f.Library] != ""
}

// openLibraryFile opens a file of a library. The error matches [ErrNotExist] if there is none at
// the path, and [ErrChanged] if it is another one than when it was scanned. It follows no symbolic
// link out of the library.
func (b *Bucket) openLibraryFile(key string) (*os.File, Object, error) {
	want, ok := ParseLibraryKey(key)
	if !ok {
		return nil, Object{}, fmt.Errorf("object key %q: is not the key of a file in a library", key)
	}
	folder, ok := b.libraries[want.Library]
	if !ok {
		return nil, Object{}, fmt.Errorf("%w: %w", ErrNotExist, ErrNoLibrary)
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, Object{}, missing(err)
	}
	defer root.Close()
	path := filepath.FromSlash(want.Path)
	info, err := root.Lstat(path) // opening a named pipe would wait for a writer
	if err != nil {
		return nil, Object{}, lost(err)
	}
	if !info.Mode().IsRegular() {
		return nil, Object{}, fmt.Errorf("%w: it is not a regular file", ErrNotExist)
	}
	f, err := root.Open(path)
	if err != nil {
		return nil, Object{}, lost(err)
	}
	if info, err = f.Stat(); err == nil && (info.Size() != want.Size || info.ModTime().UnixNano() != want.ModTime) {
		err = ErrChanged
	}
	if err != nil {
		return nil, Object{}, errors.Join(err, f.Close())
	}
	return f, Object{Key: key, Size: want.Size, ModTime: info.ModTime()}, nil
}

// lost makes the errors that mean that there is no such file match ErrNotExist, such as that of a
// path with a file where a folder was, or of one that leads out of the library.
func lost(err error) error {
	if IsUnreadable(err) {
		return fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	return fmt.Errorf("%w: %w", ErrNotExist, err)
}

func (b *Bucket) library(ctx context.Context, key string) (io.ReadSeekCloser, Object, error) {
	if err := ctx.Err(); err != nil {
		return nil, Object{}, err
	}
	f, o, err := b.openLibraryFile(key)
	if err != nil {
		return nil, Object{}, err
	}
	return f, o, nil
}
