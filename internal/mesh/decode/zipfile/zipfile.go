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

// What a file inside a ZIP may unpack to, beside Limits.Inflated. Meshes written as XML are packed to a tenth or a thirtieth.
const (
	maxRatio      = 200
	freeInflation = 16 << 20 // bytes before mostInflation counts
)

// container is a ZIP file that is read in place: nothing is ever written, and all that is unpacked counts.
type Archive struct {
	ctx      context.Context
	format   string               // of the format
	byPath   map[string]*zip.File // by their path in lower case, without a slash in front; part names have no case (OPC, 6.2.2.3)
	Files    []*zip.File
	limits   mesh.Limits
	left     int64 // of Limits.Inflated
	progress func(float64)
	done     int64
	expected float64 // bytes that the files with geometry say they unpack to
}

// isZIP tells whether a file starts as ZIP files do.
func IsZIP(src source.Source) bool {
	var b [4]byte
	n, _ := src.ReadAt(b[:], 0)
	return n == 4 && string(b[:]) == "PK\x03\x04"
}

// openContainer reads the directory of a ZIP file. It refuses those with names that lead out of it.
func Open(ctx context.Context, name string, src source.Source, limits mesh.Limits, progress func(float64)) (*Archive, error) {
	c := &Archive{ctx: ctx, format: name, byPath: map[string]*zip.File{}, limits: limits, left: limits.Inflated, progress: progress}
	directory := &meteredReader{ReaderAt: src, left: 1<<20 + min(limits.Elements, 1<<40)*64}
	z, err := zip.NewReader(directory, src.Size)
	switch {
	case errors.Is(err, errMeterExceeded) || err == nil && int64(len(z.File)) > limits.Elements:
		return nil, mesh.Errorf(mesh.TooLarge, "The %s file is a ZIP archive of more than %d files, or has very long names for them.", name, limits.Elements)
	case err != nil:
		return nil, c.damaged(err, "directory of the ZIP archive")
	}
	directory.left = math.MaxInt64
	z.RegisterDecompressor(zip.Deflate, flate.NewReader)
	for _, f := range z.File {
		// Some programs write Windows' separators.
		inside, ok := JoinPath("", strings.ReplaceAll(f.Name, `\`, "/"))
		if !ok {
			return nil, mesh.Errorf(mesh.Malformed, "The %s file has a file named %s, which leads out of the archive.", name, textscan.Quote([]byte(f.Name)))
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

// join gives the path inside of a container that a reference leads to from a folder, and false where it leads out.
func JoinPath(folder, reference string) (string, bool) {
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

// file gives the file of a path, nil where there is none.
func (c *Archive) File(inside string) *zip.File { return c.byPath[strings.ToLower(inside)] }

// open starts to unpack a file.
func (c *Archive) Open(f *zip.File) (io.Reader, error) {
	name := textscan.Quote([]byte(f.Name))
	if f.Flags&1 != 0 {
		return nil, mesh.Errorf(mesh.Unsupported, "The %s file is encrypted.", c.format)
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

// read unpacks a small file as a whole, and gives nil where it is larger than that.
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
	return mesh.Errorf(mesh.TooLarge, "The %s file unpacks to more than %d bytes, which is the most that is read.", c.format, c.limits.Inflated)
}

// damaged tells what is wrong with the file from what is wrong with the machine.
func (c *Archive) damaged(err error, what string) error {
	var corrupt flate.CorruptInputError
	switch {
	case errors.Is(err, zip.ErrAlgorithm):
		return mesh.Errorf(mesh.Unsupported, "The %s of the %s file is packed in a way that is not read.", what, c.format)
	case errors.Is(err, zip.ErrFormat), errors.Is(err, zip.ErrChecksum), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF),
		errors.As(err, &corrupt):
		return mesh.Errorf(mesh.Malformed, "The %s of the %s file is damaged.", what, c.format)
	}
	return err
}

// packed is a file in a container while it is unpacked.
type entryReader struct {
	*Archive
	r    io.Reader
	name string
	size uint64 // before it is unpacked
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
		return 0, mesh.Errorf(mesh.TooLarge, "The file %s of the %s file unpacks to more than %d times its size.", p.name, p.Archive.format, maxRatio)
	case err != nil && err != io.EOF:
		err = p.damaged(err, "file "+p.name)
	}
	return n, err
}

// metered stops a directory of a ZIP file that is endless, for all of it is held in memory, and places before the file's start.
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
