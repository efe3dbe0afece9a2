package draco

import (
	"encoding/binary"

	"github.com/meshyard/meshyard/internal/mesh"
)

// reader reads the bitstream. After an error, it only returns zeros, so that the error has to be
// checked just before a number that was read decides what is allocated or how often something is
// done.
type reader struct {
	b   []byte // what is left
	err error
}

// malformed records that the bitstream violates its format, as explained by problem.
func (r *reader) malformed(problem string) error {
	if r.err == nil {
		r.err = mesh.Errorf(mesh.Malformed, "%s", problem)
		r.b = nil
	}
	return r.err
}

// bytes returns the next n bytes.
func (r *reader) bytes(n uint64) []byte {
	if n > uint64(len(r.b)) {
		r.malformed("ends too early")
		return nil
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

func (r *reader) uint8() uint8 {
	if b := r.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) uint16() uint16 {
	if b := r.bytes(2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

func (r *reader) uint32() uint32 {
	if b := r.bytes(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

// varint returns a number of variable length, of at most 64 bits (DecodeVarint).
func (r *reader) varint() uint64 {
	n, size := binary.Uvarint(r.b)
	switch {
	case size == 0:
		r.malformed("ends too early")
		return 0
	case size < 0:
		r.malformed("has a number of more than 64 bits")
		return 0
	}
	r.b = r.b[size:]
	return n
}

// varint31 returns a number of variable length that is a count or an index.
func (r *reader) varint31() int {
	n := r.varint()
	if n >= 1<<31 {
		r.malformed("has a number of more than 31 bits where a count is expected")
		return 0
	}
	return int(n)
}

// bitReader reads numbers of bits, the least significant ones first.
type bitReader struct {
	b    []byte
	at   int // bits that have been read
	over bool
}

// bits returns the next n bits, at most 32. It sets over if there are fewer.
func (r *bitReader) bits(n int) uint32 {
	if n > 8*len(r.b)-r.at {
		r.over = true
		return 0
	}
	v, have := uint64(0), 0
	for have < n {
		skip := r.at & 7
		v |= uint64(r.b[r.at>>3]>>skip) << have
		step := min(8-skip, n-have)
		have += step
		r.at += step
	}
	return uint32(v & (1<<n - 1))
}

// skip skips n bits. It sets over if there are fewer.
func (r *bitReader) skip(n int) {
	if n > 8*len(r.b)-r.at {
		r.over = true
		return
	}
	r.at += n
}

// size returns how many bytes have been read, in whole or in part.
func (r *bitReader) size() uint64 { return uint64(r.at+7) / 8 }
