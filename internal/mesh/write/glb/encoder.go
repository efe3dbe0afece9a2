package glb

import (
	"encoding/binary"
	"io"
	"math"

	"github.com/meshyard/meshyard/internal/mesh"
)

const bufferSize = 64 << 10

// encoder appends to a buffer and writes it when it is full. It writes nothing after an error.
type encoder struct {
	w   io.Writer
	b   []byte
	err error
}

func (e *encoder) flush() error {
	if e.err == nil {
		_, e.err = e.w.Write(e.b)
	}
	e.b = e.b[:0]
	return e.err
}

// ensureSpace flushes the buffer if another element does not fit.
func (e *encoder) ensureSpace() {
	if len(e.b)+16 > bufferSize {
		e.flush()
	}
}

func (e *encoder) bytes(b ...byte) {
	e.ensureSpace()
	e.b = append(e.b, b...)
}

// blob writes bytes of any number.
func (e *encoder) blob(b []byte) {
	if e.flush() == nil {
		_, e.err = e.w.Write(b)
	}
}

func (e *encoder) floats(xs []float32) {
	for _, x := range xs {
		e.ensureSpace()
		e.b = binary.LittleEndian.AppendUint32(e.b, math.Float32bits(x))
	}
}

// shorts writes three coordinates and padding to the alignment of vertices.
func (e *encoder) shorts(x, y, z int16) {
	e.ensureSpace()
	e.b = binary.LittleEndian.AppendUint64(e.b, uint64(uint16(x))|uint64(uint16(y))<<16|uint64(uint16(z))<<32)
}

// directions writes unit vectors as bytes.
func (e *encoder) directions(xs []float32) {
	small := func(x float32) byte { return byte(int8(math.Round(float64(max(-1, min(1, x))) * math.MaxInt8))) }
	for ; len(xs) >= 3; xs = xs[3:] {
		e.bytes(small(xs[0]), small(xs[1]), small(xs[2]), 0)
	}
}

// colors writes colors as linear 16-bit values.
func (e *encoder) colors(colors []uint8) {
	var light [256]uint64
	for i := range light {
		light[i] = uint64(math.Round(mesh.Linear[i] * math.MaxUint16))
	}
	for ; len(colors) >= 4; colors = colors[4:] {
		e.ensureSpace()
		e.b = binary.LittleEndian.AppendUint64(e.b,
			light[colors[0]]|light[colors[1]]<<16|light[colors[2]]<<32|uint64(colors[3])*257<<48)
	}
}

func (e *encoder) corners(indices []uint32, size int) {
	for _, v := range indices {
		e.ensureSpace()
		if size == 2 {
			e.b = binary.LittleEndian.AppendUint16(e.b, uint16(v))
		} else {
			e.b = binary.LittleEndian.AppendUint32(e.b, v)
		}
	}
}
