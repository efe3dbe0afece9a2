package decode

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"

	"github.com/meshyard/meshyard/internal/mesh"
)

// A binary STL file is a header of 80 bytes that says nothing, the number of triangles, and a record for each: a normal and three corners
// as 12 floats, and an attribute word.
const (
	headerSTL = 84
	facetSTL  = 50
	blockSTL  = 1 << 20 / facetSTL * facetSTL // a round number of records is read at once
)

// readSTL reads an STL file, binary or text, of 3D Systems' StereoLithography Interface Specification (1989). The word "solid" at the
// start tells little: binary is what has the size that its number of triangles asks for, and what has zero bytes. Normals are left, for
// the corners say the same. Triangles with a corner that is no finite number, or farther than 1e18 from zero, are left out; if all are
// like that it is an error.
func readSTL(ctx context.Context, src Source, limits mesh.Limits, progress func(float64)) (*mesh.Mesh, error) {
	start, err := src.start(looked)
	if err != nil {
		return nil, err
	}
	n := saidTriangles(start)
	exact := src.Size == headerSTL+n*facetSTL
	switch {
	case !exact && (isTextSTL(start) || bytes.HasPrefix(start, []byte("\xFE\xFF")) || bytes.HasPrefix(start, []byte("\xFF\xFE"))):
		return readTextSTL(ctx, src, limits, progress)
	case src.Size < headerSTL:
		return nil, mesh.Errorf(mesh.Malformed, "The STL file is neither text that begins with \"solid\" nor binary: it has %d bytes, fewer than a header.", src.Size)
	case n == 0 && src.Size < headerSTL+facetSTL:
		return nil, mesh.Errorf(mesh.Empty, "The STL file is sound but holds no triangle.")
	case n == 0 || src.Size < headerSTL+n*facetSTL:
		return nil, mesh.Errorf(mesh.Malformed, "The header of the STL file says that there are %d triangles, but its %d bytes hold %d.",
			n, src.Size, (src.Size-headerSTL)/facetSTL)
	case n > limits.Triangles:
		return nil, mesh.Errorf(mesh.TooLarge, "The STL file has %d triangles, and at most %d are read.", n, limits.Triangles)
	}
	// What follows the last triangle is left: a line feed, a signature, or triangles that the header does not count.
	b := binarySTL{triangles: int(n), positions: make([]float32, 9*n)}
	if err := b.read(ctx, src, progress); err != nil {
		return nil, err
	}
	if b.kept == 0 {
		return nil, mesh.Errorf(mesh.Malformed, "None of the %d triangles of the STL file has corners that are finite numbers near enough to zero.", n)
	}
	return &mesh.Mesh{Format: mesh.STL, Unit: 1, Positions: b.positions[:9*b.kept], Colors: b.colors(start[:80])}, nil
}

// binarySTL is a binary STL file while it is read.
type binarySTL struct {
	triangles int       // in the file
	kept      int       // of them, those that are not left out
	positions []float32 // room for all
	words     []uint16  // attribute words of those that are kept, nil while all are zero
}

func (b *binarySTL) read(ctx context.Context, src Source, progress func(float64)) error {
	block := make([]byte, min(blockSTL, b.triangles*facetSTL))
	for done := 0; done < b.triangles; {
		if err := ctx.Err(); err != nil {
			return err
		}
		records := block[:min(len(block), (b.triangles-done)*facetSTL)]
		if err := src.readAt(records, headerSTL+int64(done)*facetSTL); err != nil {
			return err
		}
		b.decode(records)
		done += len(records) / facetSTL
		progress(float64(done) / float64(b.triangles))
	}
	return nil
}

// decode appends the triangles of whole records. It stands in a loop that a million triangles go through in some ten milliseconds.
func (b *binarySTL) decode(records []byte) {
	out := b.positions[9*b.kept:]
	for ; len(records) >= facetSTL; records = records[facetSTL:] {
		r, p := records[12:facetSTL:facetSTL], out[:9:9]
		x0, x1, x2 := binary.LittleEndian.Uint32(r), binary.LittleEndian.Uint32(r[4:]), binary.LittleEndian.Uint32(r[8:])
		x3, x4, x5 := binary.LittleEndian.Uint32(r[12:]), binary.LittleEndian.Uint32(r[16:]), binary.LittleEndian.Uint32(r[20:])
		x6, x7, x8 := binary.LittleEndian.Uint32(r[24:]), binary.LittleEndian.Uint32(r[28:]), binary.LittleEndian.Uint32(r[32:])
		far := beyond(x0) | beyond(x1) | beyond(x2) | beyond(x3) | beyond(x4) | beyond(x5) | beyond(x6) | beyond(x7) | beyond(x8)
		if far&signBit != 0 {
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

// colors gives the colours of the corners from attribute words of five bits a channel, nil where there are none. Where the header has
// "COLOR=" and four bytes, as Materialise Magics writes it, that is the colour of the body, and words whose highest bit is not set have
// another one with red in the lowest bits. Else, as VisCAM and SolidView write them, words whose highest bit is set have a colour with
// blue in the lowest bits; where another word is not zero, words mean something else.
func (b *binarySTL) colors(header []byte) []uint8 {
	body, magics := uint32(plain), false
	if _, after, ok := bytes.Cut(header, []byte("COLOR=")); ok && len(after) >= 4 {
		body, magics = binary.LittleEndian.Uint32(after)|0xFF<<24, true
	}
	if b.words == nil && !magics {
		return nil
	}
	words := b.words[:min(b.kept, len(b.words))]
	for _, w := range words {
		if !magics && w != 0 && w&0x8000 == 0 {
			return nil
		}
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

// channel5 makes eight bits of the lowest five.
func channel5(word uint16) uint32 { return (uint32(word&31)*255 + 15) / 31 }
