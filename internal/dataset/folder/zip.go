package folder

import (
	"archive/zip"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/meshyard/meshyard/internal/cleanname"
	"github.com/meshyard/meshyard/internal/layout"
)

// The default limit of the unpacked size of an archive: archives of models unpack to about ten
// times their size.
const (
	minUnpacked   = 1 << 30
	unpackedRatio = 50
)

// Fields of the ZIP format (PKWARE APPNOTE.TXT 6.3.10).
const (
	flagEncrypted    = 1 << 0
	flagUTF8         = 1 << 11
	extraUnicodePath = 0x7075 // section 4.6.9
)

// TooLargeError reports an archive that unpacks to more bytes than permitted.
type TooLargeError struct{ Unpacked, Limit int64 }

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("unpacks to %d bytes, and at most %d are permitted", e.Unpacked, e.Limit)
}

// ZIP is an open ZIP archive.
type ZIP struct {
	*Tree
	file *os.File
}

// Close closes the archive.
func (z *ZIP) Close() error { return z.file.Close() }

// OpenZIP opens a ZIP archive. Names may be in any encoding and have separators of Windows. Entries
// that are encrypted or lead out of the archive are left out. The error is a *TooLargeError if all
// entries together have more than limit bytes; 0 is the default, 1 GiB or 50 times the size of the
// archive.
func OpenZIP(file string, limit int64) (*ZIP, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	var tree *Tree
	if err == nil {
		tree, err = ReadZIP(f, info.Size(), limit)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &ZIP{tree, f}, nil
}

// ReadZIP is like [OpenZIP] for an archive of size bytes that r reads. Files of the tree can be
// read as long as r can.
func ReadZIP(r io.ReaderAt, size, limit int64) (*Tree, error) {
	archive, err := zip.NewReader(r, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, err
	}
	if limit == 0 {
		limit = max(minUnpacked, unpackedRatio*size)
	}
	if err := checkUnpacked(archive.File, limit); err != nil {
		return nil, err
	}
	t := newTree()
	t.fill(archive.File)
	return t, nil
}

func checkUnpacked(files []*zip.File, limit int64) error {
	total := uint64(0)
	for _, f := range files {
		total = min(total+min(f.UncompressedSize64, math.MaxInt64), math.MaxInt64)
	}
	if total > uint64(limit) {
		return &TooLargeError{int64(total), limit}
	}
	return nil
}

// fill adds the entries of an archive to the tree.
func (t *Tree) fill(entries []*zip.File) {
	raw := make([]string, len(entries))
	for i, f := range entries {
		raw[i] = entryName(f)
	}
	names := cleanname.NewDecoder(raw)
	for i, f := range entries {
		// The second byte of a character can be that of a backslash, so decoding comes first.
		name := strings.ReplaceAll(names.Decode(raw[i]), `\`, "/")
		segments, ok := clean(name)
		switch {
		case slices.ContainsFunc(strings.Split(name, "/"), func(s string) bool {
			return s != "." && s != ".." &&
				layout.Ignored(s)
		}):
		case !ok:
			t.Notes = append(t.Notes, name+": was skipped: its name leads out of the archive")
		case len(segments) == 0:
		case strings.HasSuffix(name, "/") || f.Mode().IsDir():
			t.folder(segments)
		default:
			last := len(segments) - 1
			n := &node{name: segments[last], mode: f.Mode().Type(), size: int64(f.UncompressedSize64),
				open: func() (io.ReadCloser, error) { return openEntry(f) }}
			if f.Flags&flagEncrypted != 0 {
				n.mode, n.skipped = n.mode|fs.ModeIrregular, "it is encrypted"
			}
			t.folder(segments[:last]).add(n)
		}
	}
	t.Notes = append(names.Note(), t.Notes...)
}

// clean returns the clean names in a path. ok is false if it leads out of the archive.
func clean(name string) (segments []string, ok bool) {
	for segment := range strings.SplitSeq(name, "/") {
		switch segment {
		case "", ".":
		case "..":
			return nil, false
		default:
			if len(segments) == 0 && len(segment) == 2 && segment[1] == ':' {
				continue // a drive of Windows
			}
			segments = append(segments, cleanname.Segment(segment))
		}
	}
	return segments, true
}

// entryName returns the name of an entry: UTF-8, or bytes in an unknown encoding.
func entryName(f *zip.File) string {
	if f.Flags&flagUTF8 != 0 && utf8.ValidString(f.Name) {
		return f.Name
	}
	for extra := f.Extra; len(extra) >= 4; {
		id, size := binary.LittleEndian.Uint16(extra), int(binary.LittleEndian.Uint16(extra[2:]))
		if extra = extra[4:]; size > len(extra) {
			break
		}
		field := extra[:size]
		extra = extra[size:]
		// The field applies only if the name has not been changed since it was written.
		if id == extraUnicodePath && size > 5 && field[0] == 1 &&
			binary.LittleEndian.Uint32(field[1:]) == crc32.ChecksumIEEE([]byte(f.Name)) && utf8.Valid(field[5:]) {
			return string(field[5:])
		}
	}
	return f.Name
}

// openEntry opens an entry. Reading more bytes than its declared size, which is checked against the
// limit, is an error.
func openEntry(f *zip.File) (io.ReadCloser, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	return &declared{ReadCloser: r, left: int64(f.UncompressedSize64)}, nil
}

type declared struct {
	io.ReadCloser
	left int64
}

func (d *declared) Read(p []byte) (int, error) {
	n, err := d.ReadCloser.Read(p)
	if d.left -= int64(n); d.left < 0 {
		return 0, fmt.Errorf("%w: an entry is larger than its declared size", zip.ErrFormat)
	}
	return n, err
}
