// Package zipfile reads ZIP archives of untrusted origin, as 3MF and AMF files use them, with
// limits on the decompressed size.
package zipfile

import (
	"archive/zip"
	"context"
	"errors"
	"io"
	"math"
	"path"
	"strings"

	"github.com/klauspost/compress/flate"
	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode/source"
	"github.com/meshyard/meshyard/internal/mesh/decode/textscan"
)

// Limits of a single file in the archive, in addition to mesh.Limits.Inflated. Meshes in XML
// compress to a tenth or a thirtieth of their size.
const (
	maxRatio      = 200
	freeInflation = 16 << 20 // bytes before maxRatio applies
)

// Archive is a ZIP archive. It never writes files. All decompressed bytes count towards the limit.
type Archive struct {
	ctx    context.Context
	format string // names the file format in error messages
	// by path in lower case without a leading slash; part names are case-insensitive (ECMA-376 part
	// 2, 6.2.2.3)
	byPath   map[string]*zip.File
	Files    []*zip.File
	limits   mesh.Limits
	left     int64 // bytes left of Limits.Inflated
	progress func(float64)
	done     int64
	expected float64 // sum of the declared sizes of the files with geometry
}

// IsZIP reports whether a file starts with the signature of a ZIP archive.
func IsZIP(src source.Source) bool {
	var b [4]byte
	n, _ := src.ReadAt(b[:], 0)
	return n == 4 && string(b[:]) == "PK\x03\x04"
}

// Open reads the directory of an archive. name is the file format for error messages. Open rejects
// archives with more than limits.Elements files and those with file names that lead out of the
// archive.
func Open(ctx context.Context, name string, src source.Source, limits mesh.Limits,
	progress func(float64)) (*Archive, error) {
	c := &Archive{ctx: ctx, format: name, byPath: map[string]*zip.File{}, limits: limits, left: limits.Inflated,
		progress: progress}
	directory := &meteredReader{ReaderAt: src, left: 1<<20 + min(limits.Elements, 1<<40)*64}
	z, err := zip.NewReader(directory, src.Size)
	switch {
	case errors.Is(err, errMeterExceeded) || err == nil && int64(len(z.File)) > limits.Elements:
		return nil, mesh.Errorf(mesh.TooLarge,
			"The %s file is a ZIP archive of more than %d files, or has very long names for them.", name, limits.Elements)
	case err != nil:
		return nil, c.damaged(err, "directory of the ZIP archive")
	}
	directory.left = math.MaxInt64
	z.RegisterDecompressor(zip.Deflate, flate.NewReader)
	for _, f := range z.File {
		// Some programs write Windows path separators.
		inside, ok := JoinPath("", strings.ReplaceAll(f.Name, `\`, "/"))
		if !ok {
			return nil, mesh.Errorf(mesh.Malformed, "The %s file has a file named %s, which leads out of the archive.", name,
				textscan.Quote([]byte(f.Name)))
		}
		key := strings.ToLower(inside)
		if strings.HasSuffix(f.Name, "/") || c.byPath[key] != nil {
			continue
		}
		c.byPath[key] = f
		c.Files = append(c.Files, f)
		if ending := path.Ext(key); ending == ".model" || ending == ".amf" {
			c.expected += float64(f.UncompressedSize64)
		}
	}
	return c, nil
}

// JoinPath resolves a reference in an archive relative to a folder. ok is false if it leads out of
// the archive.
func JoinPath(folder, reference string) (path string, ok bool) {
	if !strings.HasPrefix(reference, "/") && folder != "" {
		reference = folder + "/" + reference
	}
	var steps []string
	for step := range strings.SplitSeq(reference, "/") {
		switch step {
		case "", ".":
		case "..":
			if len(steps) == 0 {
				return "", false
			}
			steps = steps[:len(steps)-1]
		default:
			steps = append(steps, step)
		}
	}
	return strings.Join(steps, "/"), true
}

// File returns the file at a path, ignoring case, or nil if there is none.
func (c *Archive) File(inside string) *zip.File { return c.byPath[strings.ToLower(inside)] }

// Open returns a reader of the decompressed file. Its errors are of type *mesh.Error where the
// archive is at fault.
func (c *Archive) Open(f *zip.File) (io.Reader, error) {
	name := textscan.Quote([]byte(f.Name))
	if f.Flags&1 != 0 {
		return nil, mesh.Errorf(mesh.Encrypted, "The %s file is encrypted.", c.format)
	}
	if f.UncompressedSize64 > uint64(c.left) {
		return nil, c.inflated()
	}
	r, err := f.Open()
	if err != nil {
		return nil, c.damaged(err, "file "+name)
	}
	return &entryReader{Archive: c, r: r, name: name, size: f.CompressedSize64}, nil
}

// ReadFile returns the content of a small file, or nil if it is larger than most bytes.
func (c *Archive) ReadFile(f *zip.File, most int64) ([]byte, error) {
	if f.UncompressedSize64 > uint64(most) {
		return nil, nil
	}
	r, err := c.Open(f)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(r, most+1))
	if err != nil || int64(len(b)) > most {
		return nil, err
	}
	return b, nil
}

func (c *Archive) inflated() error {
	return mesh.Errorf(mesh.TooLarge, "The %s file unpacks to too many bytes: at most %d are supported.", c.format,
		c.limits.Inflated)
}

// damaged converts an error of the ZIP reader to a *mesh.Error where the archive is at fault. It
// returns I/O errors unchanged.
func (c *Archive) damaged(err error, what string) error {
	var corrupt flate.CorruptInputError
	switch {
	case errors.Is(err, zip.ErrAlgorithm):
		return mesh.Errorf(mesh.Unsupported, "The %s of the %s file is compressed by a method that is not supported.", what,
			c.format)
	case errors.Is(err, zip.ErrFormat), errors.Is(err, zip.ErrChecksum), errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, io.EOF),
		errors.As(err, &corrupt):
		return mesh.Errorf(mesh.Malformed, "The %s of the %s file is damaged.", what, c.format)
	}
	return err
}

// entryReader decompresses a file of the archive and enforces the limits.
type entryReader struct {
	*Archive
	r    io.Reader
	name string
	size uint64 // compressed size
	got  uint64
}

func (p *entryReader) Read(b []byte) (int, error) {
	if err := p.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := p.r.Read(b)
	p.got += uint64(n)
	p.left -= int64(n)
	p.done += int64(n)
	if p.progress != nil && p.expected > 0 {
		p.progress(min(1, float64(p.done)/p.expected))
	}
	switch {
	case p.left < 0:
		return 0, p.inflated()
	case p.got > freeInflation && p.got/maxRatio > p.size:
		return 0, mesh.Errorf(mesh.TooLarge, "The file %s of the %s file unpacks to more than %d times its size.", p.name,
			p.Archive.format, maxRatio)
	case err != nil && err != io.EOF:
		err = p.damaged(err, "file "+p.name)
	}
	return n, err
}

// meteredReader limits how much of the file is read for the directory, which is held in memory, and
// rejects negative offsets.
type meteredReader struct {
	io.ReaderAt
	left int64
}

var errMeterExceeded = errors.New("too much of a file was read")

func (m *meteredReader) ReadAt(b []byte, at int64) (int, error) {
	if at < 0 {
		return 0, zip.ErrFormat
	}
	if m.left -= int64(len(b)); m.left < 0 {
		return 0, errMeterExceeded
	}
	return m.ReaderAt.ReadAt(b, at)
}
