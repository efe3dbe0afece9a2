// Package draco decodes triangle meshes in the Draco bitstream 2.2, which the glTF extension
// KHR_draco_mesh_compression uses.
//
// Comments name in parentheses the sections and functions of the Draco Bitstream Specification
// (Google, version 2.2).
package draco

import (
	"context"

	"github.com/meshyard/meshyard/internal/mesh"
)

// The types of the components of an attribute.
const (
	Int8    = 1
	Uint8   = 2
	Int16   = 3
	Uint16  = 4
	Int32   = 5
	Uint32  = 6
	Float32 = 9
)

// sizes are the sizes of the types in bytes. Types of more than 4 bytes and booleans can only be
// skipped.
var sizes = [...]int{Int8: 1, Uint8: 1, Int16: 2, Uint16: 2, Int32: 4, Uint32: 4, 7: 8, 8: 8, Float32: 4, 10: 8, 11: 1}

// Mesh is a decoded mesh. Its bytes are laid out like those of glTF accessors: little-endian and
// without gaps.
type Mesh struct {
	Points    int
	Triangles int
	Indices   []byte // three 32-bit indices of points for each triangle
	// by the unique IDs of the attributes; those that Decode was asked for and that exist
	Attributes map[uint32]Attribute
}

// Attribute is an attribute of the points.
type Attribute struct {
	Type       uint8
	Width      int // number of components, 1 to 4
	Normalized bool
	Values     []byte
}

// Limits bound the memory that Decode uses.
type Limits struct {
	Triangles int64
	Bytes     int64 // allocated, in the mesh and on the way
}

// Decode decodes a mesh and those of its attributes whose unique IDs are wanted. It subtracts what
// it uses from limits. The message of a *mesh.Error that it returns has no subject: it is, for
// instance, "ends too early".
func Decode(ctx context.Context, b []byte, wanted []uint32, limits *Limits) (*Mesh, error) {
	d := &decoder{reader: reader{b: b}, ctx: ctx, limits: limits, wanted: wanted}
	coding, err := d.header()
	if err != nil {
		return nil, err
	}
	if coding == codingEdgebreaker {
		err = d.edgebreaker()
	} else {
		err = d.sequential()
	}
	if err != nil {
		return nil, err
	}
	return d.attributes()
}

// The codings of the connectivity.
const (
	codingSequential  = 0
	codingEdgebreaker = 1
)

// decoder is the state of decoding a mesh.
type decoder struct {
	reader
	ctx     context.Context
	limits  *Limits
	wanted  []uint32
	symbols symbolDecoder
	points  int
	corners []int32        // point of each corner
	table   *cornerTable   // nil if the coding is sequential
	split   []*cornerTable // of attributes; same length as table
	// quantized positions, by which others are predicted; nil before they are decoded
	positions         []int32
	positionsSequence *sequence
}

// header reads the header and skips the metadata (DecodeHeader).
func (d *decoder) header() (coding uint8, err error) {
	magic := d.bytes(5)
	major, minor := d.uint8(), d.uint8()
	kind := d.uint8()
	coding = d.uint8()
	flags := d.uint16()
	switch {
	case d.err == nil && string(magic) != "DRACO":
		d.malformed("does not begin with DRACO")
	case d.err == nil && (major != 2 || minor != 2):
		return 0, mesh.Errorf(mesh.Unsupported, "is of version %d.%d, and only version 2.2 is supported", major, minor)
	case d.err == nil && kind != 1:
		return 0, mesh.Errorf(mesh.Unsupported, "is a point cloud, and only triangles are supported")
	case coding > codingEdgebreaker:
		d.malformed("has an unknown coding of triangles")
	}
	if flags&0x8000 != 0 {
		d.skipMetadata()
	}
	return coding, d.err
}

// skipMetadata skips the metadata of the attributes and of the mesh (Metadata Decoder).
func (d *decoder) skipMetadata() {
	for attributes := d.varint31(); attributes >= 0 && d.err == nil; attributes-- {
		if attributes > 0 {
			d.varint() // the attribute
		}
		for elements := 1; elements > 0 && d.err == nil; elements-- {
			for entries := d.varint31(); entries > 0 && d.err == nil; entries-- {
				d.bytes(uint64(d.uint8())) // name
				d.bytes(d.varint())        // value
			}
			children := d.varint31()
			elements += children
			if elements > 1 {
				d.bytes(uint64(d.uint8())) // name of the next element
			}
		}
	}
}

// reserve counts memory for n values of the given size.
func (d *decoder) reserve(n int, size int64) error {
	if int64(n) > d.limits.Bytes/size {
		return mesh.Errorf(mesh.TooLarge, "needs too much memory")
	}
	d.limits.Bytes -= int64(n) * size
	return nil
}

// reserveTriangles counts triangles, and memory of the given size for each of their corners.
func (d *decoder) reserveTriangles(n int, size int64) error {
	if int64(n) > d.limits.Triangles {
		return mesh.Errorf(mesh.TooLarge, "has %d triangles, where at most %d more are read", n, d.limits.Triangles)
	}
	d.limits.Triangles -= int64(n)
	return d.reserve(3*n, size)
}
