package draco_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"github.com/meshyard/meshyard/internal/mesh/decode/draco"
)

// TestByHand decodes what the encoder does not write by default: metadata, indices of entropy-coded
// differences, and integers that are not coded.
func TestByHand(t *testing.T) {
	floats := func(f ...float32) (b []byte) {
		for _, x := range f {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
		}
		return b
	}
	file := slices.Concat(
		[]byte("DRACO\x02\x02\x01\x00\x00\x80"), // triangles, sequential, metadata
		[]byte("\x01\x00"),                      // metadata of attribute 0
		[]byte("\x01\x04name\x03abc\x01"),       // one entry and one child
		[]byte("\x01x\x00\x00"),                 // the child
		[]byte("\x00\x00"),                      // metadata of the mesh
		[]byte{1, 3, 0},                         // 1 triangle, 3 points, coded indices
		// Tags: of 0 to 2 bits, all are of 2 bits.
		[]byte{0, 3, 1<<2 | 3, 0<<2 | 1, 4096 >> 6, 1, 0},
		[]byte{0 | 2<<2 | 2<<4},        // differences 0, 1, 1
		[]byte{1, 1, 0, 9, 3, 0, 7, 2}, // 1 group of 1 attribute: position, 3 floats, ID 7, quantized
		[]byte{0xFE, 0, 1},             // not predicted, not coded, of 1 byte
		[]byte{0, 0, 0, 30, 0, 0, 0, 30, 0},
		floats(1, 2, 3, 15), []byte{4})
	m, err := draco.Decode(context.Background(), file, []uint32{7}, limits())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := m.Attributes[7].Values, floats(1, 2, 3, 16, 2, 3, 1, 17, 3); !bytes.Equal(got, want) {
		t.Errorf("got the positions % x, want % x", got, want)
	}
	if want := []byte{0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0}; !bytes.Equal(m.Indices, want) || m.Points != 3 {
		t.Errorf("got the indices % x of %d points", m.Indices, m.Points)
	}
	for n := range file {
		if _, err := draco.Decode(context.Background(), file[:n], []uint32{7}, limits()); err == nil {
			t.Errorf("the first %d bytes of %d are accepted", n, len(file))
		}
	}
}

// TestTooManySymbols checks that the number of symbols is limited, because they take far more
// memory than bytes.
func TestTooManySymbols(t *testing.T) {
	for count, want := range map[uint64]string{1 << 18: "has symbols whose probabilities are too small",
		1<<18 + 1: "has too many symbols"} {
		file := slices.Concat(
			[]byte("DRACO\x02\x02\x01\x00\x00\x00"), // triangles, sequential
			[]byte{1, 3, 0, 0},                      // 1 triangle, 3 points, coded indices, tags
			binary.AppendUvarint(nil, count), make([]byte, 1<<18))
		if _, err := draco.Decode(context.Background(), file, nil, limits()); err == nil || err.Error() != want {
			t.Errorf("%d symbols: got the error %v, want one that it %s", count, err, want)
		}
	}
}
