package decode

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/meshyard/meshyard/internal/mesh"
)

// textSTLOf encodes a mesh as text STL.
func textSTLOf(m *mesh.Mesh) []byte {
	var b bytes.Buffer
	b.WriteString("solid C:\\a model\\\n")
	for t := range m.Triangles() {
		x, y, z := m.Corners(t)
		b.WriteString("  facet normal 0 0 1\n    outer loop\n")
		for _, v := range []uint32{x, y, z} {
			p := m.At(v)
			fmt.Fprintf(&b, "      vertex %.9g %.9g %.9g\n", p[0], p[1], p[2])
		}
		b.WriteString("    endloop\n  endfacet\n")
	}
	b.WriteString("endsolid\n")
	return b.Bytes()
}

// plyOf encodes an indexed mesh as PLY.
func plyOf(m *mesh.Mesh, format string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "ply\nformat %s 1.0\ncomment a sphere\nelement vertex %d\nproperty float x\nproperty float y\nproperty float z\n"+
		"element face %d\nproperty list uchar int vertex_indices\nend_header\n", format, m.Vertices(), m.Triangles())
	var order binary.AppendByteOrder = binary.LittleEndian
	switch format {
	case "ascii":
		b.Write(rowsOf(m))
		return b.Bytes()
	case "binary_big_endian":
		order = binary.BigEndian
	}
	out := b.Bytes()
	for _, x := range m.Positions {
		out = order.AppendUint32(out, math.Float32bits(x))
	}
	for i, v := range m.Indices {
		if i%3 == 0 {
			out = append(out, 3)
		}
		out = order.AppendUint32(out, v)
	}
	return out
}

func offOf(m *mesh.Mesh) []byte {
	return append(fmt.Appendf(nil, "OFF\n%d %d 0\n", m.Vertices(), m.Triangles()), rowsOf(m)...)
}

// rowsOf encodes vertices and faces in the text form that PLY and OFF share.
func rowsOf(m *mesh.Mesh) []byte {
	var b bytes.Buffer
	for v := range uint32(m.Vertices()) {
		p := m.At(v)
		fmt.Fprintf(&b, "%.9g %.9g %.9g\n", p[0], p[1], p[2])
	}
	for t := range m.Triangles() {
		x, y, z := m.Corners(t)
		fmt.Fprintf(&b, "3 %d %d %d\n", x, y, z)
	}
	return b.Bytes()
}
