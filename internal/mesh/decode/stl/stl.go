// Package stl decodes STL files.
package stl

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode/geometry"
	"github.com/meshyard/meshyard/internal/mesh/decode/source"
	"github.com/meshyard/meshyard/internal/mesh/decode/textscan"
)

// A binary STL file has a header of 80 bytes of free text, the number of triangles, and a record
// for each triangle: a normal and three corners as 12 floats, and a 16-bit attribute word.
const (
	headerSize = 84
	prefixSize = 1024 // enough bytes to distinguish a text file from a binary one
	facetSize  = 50
	blockSize  = 1 << 20 / facetSize * facetSize // a whole number of records
)

// Decode decodes a binary or text STL file (3D Systems, StereoLithography Interface Specification,
// 1989). A file is binary if its size matches its triangle count or if it contains zero bytes; the
// word "solid" at the start does not decide. Programs that do not know the triangle count before
// they write it leave it zero, so that the size decides. Decode ignores normals, which the corners
// imply. It drops triangles with a corner that is not finite or farther than 1e18 from zero; a file
// with only such triangles is an error.
func Decode(ctx context.Context, src source.Source, limits mesh.Limits, progress func(float64)) (*mesh.Mesh, error) {
	start, err := src.Prefix(prefixSize)
	if err != nil {
		return nil, err
	}
	n := triangleCount(start)
	if n == 0 && src.Size > headerSize && (src.Size-headerSize)%facetSize == 0 {
		n = (src.Size - headerSize) / facetSize
	}
	switch {
	case !IsBinary(start, src.Size) && isText(start):
		return decodeText(ctx, src, limits, progress)
	case src.Size < headerSize:
		return nil, mesh.Errorf(mesh.Malformed,
			"The STL file is neither text nor binary: it has %d bytes, fewer than a header.", src.Size)
	case n == 0 && src.Size < headerSize+facetSize:
		return nil, mesh.Errorf(mesh.Empty, "The STL file is valid but contains no triangles.")
	case n == 0 || src.Size < headerSize+n*facetSize:
		return nil, mesh.Errorf(mesh.Malformed,
			"The header of the STL file says that there are %d triangles, but its %d bytes hold %d.",
			n, src.Size, (src.Size-headerSize)/facetSize)
	case n > limits.Triangles:
		return nil, mesh.Errorf(mesh.TooLarge, "The STL file has %d triangles, and at most %d are read.", n, limits.Triangles)
	}
	// Data after the last triangle is ignored: a line feed, a signature, or triangles beyond the
	// count.
	b := binaryFile{triangles: int(n), positions: make([]float32, 9*n)}
	if err := b.read(ctx, src, progress); err != nil {
		return nil, err
	}
	if b.kept == 0 {
		return nil, mesh.Errorf(mesh.Malformed,
			"None of the %d triangles of the STL file has corners that are finite numbers near enough to zero.", n)
	}
	return &mesh.Mesh{Format: mesh.STL, Unit: 1, Positions: b.positions[:9*b.kept], Colors: b.colors(start[:80])}, nil
}

// binaryFile is the state of decoding a binary STL file.
type binaryFile struct {
	triangles int       // in the file
	kept      int       // number of triangles that are not dropped
	positions []float32 // space for all triangles
	words     []uint16  // attribute words of the kept triangles; nil while all are zero
}

func (b *binaryFile) read(ctx context.Context, src source.Source, progress func(float64)) error {
	block := make([]byte, min(blockSize, b.triangles*facetSize))
	for done := 0; done < b.triangles; {
		if err := ctx.Err(); err != nil {
			return err
		}
		records := block[:min(len(block), (b.triangles-done)*facetSize)]
		if err := src.ReadFull(records, headerSize+int64(done)*facetSize); err != nil {
			return err
		}
		b.decode(records)
		done += len(records) / facetSize
		progress(float64(done) / float64(b.triangles))
	}
	return nil
}

// decode appends the triangles of whole records. It is performance-critical: a million triangles
// take tens of milliseconds.
func (b *binaryFile) decode(records []byte) {
	out := b.positions[9*b.kept:]
	for ; len(records) >= facetSize; records = records[facetSize:] {
		r, p := records[12:facetSize:facetSize], out[:9:9]
		x0, x1, x2 := binary.LittleEndian.Uint32(r), binary.LittleEndian.Uint32(r[4:]), binary.LittleEndian.Uint32(r[8:])
		x3, x4, x5 := binary.LittleEndian.Uint32(r[12:]), binary.LittleEndian.Uint32(r[16:]),
			binary.LittleEndian.Uint32(r[20:])
		x6, x7, x8 := binary.LittleEndian.Uint32(r[24:]), binary.LittleEndian.Uint32(r[28:]),
			binary.LittleEndian.Uint32(r[32:])
		far := geometry.OutOfRangeBit(x0) | geometry.OutOfRangeBit(x1) | geometry.OutOfRangeBit(x2) | geometry.OutOfRangeBit(
			x3) | geometry.OutOfRangeBit(x4) | geometry.OutOfRangeBit(x5) | geometry.OutOfRangeBit(x6) | geometry.OutOfRangeBit(
			x7) | geometry.OutOfRangeBit(x8)
		if far>>31 != 0 {
			continue
		}
		p[0], p[1], p[2] = math.Float32frombits(x0), math.Float32frombits(x1), math.Float32frombits(x2)
		p[3], p[4], p[5] = math.Float32frombits(x3), math.Float32frombits(x4), math.Float32frombits(x5)
		p[6], p[7], p[8] = math.Float32frombits(x6), math.Float32frombits(x7), math.Float32frombits(x8)
		if word := binary.LittleEndian.Uint16(r[36:]); word != 0 || b.words != nil {
			if b.words == nil {
				b.words = make([]uint16, b.triangles)
			}
			b.words[b.kept] = word
		}
		b.kept++
		out = out[9:]
	}
}

// colors returns the colors of all corners from the attribute words, 5 bits for each channel, or
// nil if there are none. If the header contains "COLOR=" and four bytes (Materialise Magics), that
// is the color of the body, and words with a clear highest bit hold another color, red in the
// lowest bits. Otherwise (VisCAM, SolidView), words with the highest bit set hold a color, blue in
// the lowest bits; if any other word is not zero, the words have another meaning. If all words have
// that bit alone, they are those of Magics for the color of the body, not the black of VisCAM:
// Autodesk's programs write them, also without a color in the header.
func (b *binaryFile) colors(header []byte) []uint8 {
	body, magics := uint32(geometry.NoColor), false
	if _, after, ok := bytes.Cut(header, []byte("COLOR=")); ok && len(after) >= 4 {
		body, magics = binary.LittleEndian.Uint32(after)|0xFF<<24, true
	}
	if b.words == nil && !magics {
		return nil
	}
	words := b.words[:min(b.kept, len(b.words))]
	colored := magics
	for _, w := range words {
		if !magics && w != 0 && w&0x8000 == 0 {
			return nil
		}
		colored = colored || w != 0x8000
	}
	if !colored {
		return nil
	}
	colors := make([]uint8, 0, 12*b.kept)
	for t := range b.kept {
		color := body
		if words != nil && words[t]&0x8000 == 0 == magics {
			low, middle, high := channel5(words[t]), channel5(words[t]>>5), channel5(words[t]>>10)
			if !magics {
				low, high = high, low
			}
			color = low | middle<<8 | high<<16 | 0xFF<<24
		}
		for range 3 {
			colors = binary.LittleEndian.AppendUint32(colors, color)
		}
	}
	return colors
}

// channel5 converts the lowest five bits to a channel of eight bits.
func channel5(word uint16) uint32 { return (uint32(word&31)*255 + 15) / 31 }

// triangleCount returns the number of triangles that the header of a binary STL file declares, or 0
// if there are too few bytes.
func triangleCount(start []byte) int64 {
	if len(start) < headerSize {
		return 0
	}
	return int64(binary.LittleEndian.Uint32(start[headerSize-4:]))
}

// IsText reports whether a file that is not binary by its size is a text file that begins as most
// do.
func IsText(start []byte) bool {
	if !isText(start) {
		return false
	}
	text := bytes.ToLower(bytes.TrimLeft(bytes.TrimPrefix(start, []byte("\xEF\xBB\xBF")), " \t\r\n"))
	first, _ := textscan.CutWord(text)
	return string(first) == "solid" || string(first) == "facet"
}

// isText reports whether a file that is not binary by its size is a text file. Binary files contain
// zero bytes, at least in the triangle count. Zero bytes at the end may be padding.
func isText(start []byte) bool {
	text := bytes.TrimRight(start, "\x00")
	return bytes.HasPrefix(start, []byte("\xFE\xFF")) || bytes.HasPrefix(start, []byte("\xFF\xFE")) ||
		len(text) > 0 && bytes.IndexByte(text, 0) < 0
}

// IsBinary reports whether a file of size bytes is a binary STL file: its size is exactly what the
// triangle count in its header requires. The header text does not matter: many binary files begin
// with "solid". prefix holds at least the first 84 bytes of the file, or all of a shorter one.
func IsBinary(prefix []byte, size int64) bool {
	return size == headerSize+triangleCount(prefix)*facetSize
}
