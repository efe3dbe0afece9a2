package librarywalk

import (
	"cmp"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// list returns the entries of an open folder. It asks for each file relative to the folder, which
// is faster than by its path.
func list(f *os.File) ([]Entry, error) {
	names, err := f.Readdirnames(-1)
	entries := make([]Entry, 0, len(names))
	fd := int(f.Fd())
	for _, name := range names {
		var s unix.Stat_t
		switch statErr := unix.Fstatat(fd, name, &s, unix.AT_SYMLINK_NOFOLLOW); statErr {
		case nil:
			entries = append(entries, Entry{name, mode(s.Mode), s.Size, s.Mtim.Nano()})
		case unix.ENOENT: // it was deleted after its name was read
		default:
			err = cmp.Or(err, error(&fs.PathError{Op: "stat", Path: name, Err: statErr}))
		}
	}
	return entries, err
}

// mode returns the type of a file.
func mode(m uint32) fs.FileMode {
	switch m & unix.S_IFMT {
	case unix.S_IFREG:
		return 0
	case unix.S_IFDIR:
		return fs.ModeDir
	case unix.S_IFLNK:
		return fs.ModeSymlink
	case unix.S_IFIFO:
		return fs.ModeNamedPipe
	case unix.S_IFSOCK:
		return fs.ModeSocket
	}
	return fs.ModeDevice
}
