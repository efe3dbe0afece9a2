// Package meshopt decodes the buffer views of the glTF extensions EXT_meshopt_compression and
// KHR_meshopt_compression. The second one adds version 1 of attributes and the filter Color.
//
// Comments name in parentheses the sections of their specifications (Khronos Group, appendices A
// and B).
package meshopt

import (
	"encoding/binary"

	"github.com/meshyard/meshyard/internal/mesh"
)

// Mode is the kind of data of a buffer view.
type Mode string

// The modes.
const (
	Attributes Mode = "ATTRIBUTES"
	Triangles  Mode = "TRIANGLES"
	Indices    Mode = "INDICES"
)

// Filter is a transformation of decoded attributes.
type Filter string

// The filters.
const (
	None        Filter = "NONE" // the empty Filter, too
	Octahedral  Filter = "OCTAHEDRAL"
	Quaternion  Filter = "QUATERNION"
	Exponential Filter = "EXPONENTIAL"
	Color       Filter = "COLOR"
)

// Layout describes the decoded elements.
type Layout struct {
	Mode   Mode
	Filter Filter
	Count  int
	Stride int // bytes of an element: 2 or 4 of an index, a multiple of 4 up to 256 of an attribute
}

// Decode decodes elements, which take Count times Stride bytes. The message of a *mesh.Error that
// it returns has no subject: it is, for instance, "ends too early".
func Decode(b []byte, l Layout) ([]byte, error) {
	if err := l.check(b); err != nil {
		return nil, err
	}
	r := &reader{b: b}
	switch l.Mode {
	case Attributes:
		values := r.attributes(l.Count, l.Stride)
		if r.err == nil {
			l.Filter.apply(values, l.Stride)
		}
		return values, r.err
	case Triangles:
		return r.triangles(l.Count/3, l.Stride), r.err
	}
	return r.sequence(l.Count, l.Stride), r.err
}

// check returns an error if the extension does not allow the layout, or if the compressed bytes
// cannot contain that many elements.
func (l Layout) check(b []byte) error {
	allowed, most := false, 0 // most is the maximum number of elements
	size := len(b)
	switch l.Mode {
	case Attributes:
		allowed = l.Stride > 0 && l.Stride%4 == 0 && l.Stride <= 256 && l.Filter.allows(l.Stride)
		most = 64 * size / max(1, l.Stride) // 16 bytes take at least two bits
		if size > 0 && b[0] == version1 {
			most *= 16 // 256 bytes take at least two bits
		}
	case Triangles:
		allowed = l.isIndex() && l.Count%3 == 0
		most = 3 * size
	case Indices:
		allowed = l.isIndex()
		most = size
	}
	switch {
	case !allowed:
		return mesh.Errorf(mesh.Malformed, "has a mode, a filter, a stride and a count that do not fit together")
	case l.Count < 0 || l.Count > most:
		return mesh.Errorf(mesh.Malformed, "ends too early")
	}
	return nil
}

func (l Layout) isIndex() bool {
	return (l.Stride == 2 || l.Stride == 4) && (l.Filter == "" || l.Filter == None)
}

// reader reads a bitstream. After an error, it only returns zeros.
type reader struct {
	b   []byte // what is left
	err error
}

// fail records the first error.
func (r *reader) fail(err error) {
	if r.err == nil {
		r.err, r.b = err, nil
	}
}

// header reads the first byte, which contains the codec in its upper half and the version in the
// lower one, and takes n bytes off the end.
func (r *reader) header(want byte, n int) (end []byte) {
	if len(r.b) < 1+n {
		r.fail(mesh.Errorf(mesh.Malformed, "ends too early"))
		return make([]byte, n)
	}
	first, end := r.b[0], r.b[len(r.b)-n:]
	r.b = r.b[1 : len(r.b)-n]
	if first>>4 != want>>4 {
		r.fail(mesh.Errorf(mesh.Malformed, "begins with the byte 0x%02x instead of 0x%02x", first, want))
	} else if first != want {
		r.fail(mesh.Errorf(mesh.Unsupported, "is of version %d, which is not supported", first&0xf))
	}
	return end
}

// end checks that nothing is left.
func (r *reader) end() {
	if len(r.b) > 0 {
		r.fail(mesh.Errorf(mesh.Malformed, "has %d bytes too many", len(r.b)))
	}
}

// bytes returns the next n bytes.
func (r *reader) bytes(n int) []byte {
	if n > len(r.b) {
		r.fail(mesh.Errorf(mesh.Malformed, "ends too early"))
		return make([]byte, n)
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

// varint returns a number of variable length.
func (r *reader) varint() uint32 {
	n, size := binary.Uvarint(r.b)
	if size <= 0 || n>>32 != 0 {
		r.fail(mesh.Errorf(mesh.Malformed, "has an index that is cut off or too large"))
		return 0
	}
	r.b = r.b[size:]
	return uint32(n)
}

// signed returns the number that an unsigned one stands for: 0, -1, 1, -2, 2 …
func signed[T uint8 | uint16 | uint32](n T) T { return n>>1 ^ -(n & 1) }
