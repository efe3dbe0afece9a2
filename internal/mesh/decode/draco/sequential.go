package draco

import (
	"encoding/binary"

	"github.com/meshyard/meshyard/internal/mesh"
)

// sequential decodes triangles that are lists of points (Sequential Connectivity Decoder).
func (d *decoder) sequential() error {
	triangles := d.varint31()
	d.points = d.varint31()
	method := d.uint8()
	if d.err != nil {
		return d.err
	}
	if int64(d.points) > 3*d.limits.Triangles {
		return mesh.Errorf(mesh.TooLarge, "has %d vertices, where at most %d more are read", d.points, 3*d.limits.Triangles)
	}
	if err := d.reserveTriangles(triangles, 4); err != nil {
		return err
	}
	d.corners = make([]int32, 3*triangles)
	var err error
	switch method {
	case 0:
		err = d.codedIndices()
	case 1:
		err = d.plainIndices()
	default:
		err = d.malformed("has an unknown kind of indices")
	}
	if err != nil {
		return err
	}
	for _, p := range d.corners {
		if p < 0 || int(p) >= d.points {
			return d.malformed("has a triangle of a vertex that does not exist")
		}
	}
	return nil
}

// codedIndices reads differences between indices (DecodeSequentialCompressedIndices).
func (d *decoder) codedIndices() error {
	values, err := d.readSymbols(len(d.corners), 1, true)
	if err != nil {
		return err
	}
	last := int32(0)
	for i, v := range values {
		difference := int32(v >> 1)
		if v&1 != 0 {
			difference = -difference
		}
		last += difference
		d.corners[i] = last
	}
	return nil
}

// plainIndices reads indices whose size depends on the number of points (DecodeSequentialIndices).
func (d *decoder) plainIndices() error {
	size := uint64(4)
	switch {
	case d.points < 1<<8:
		size = 1
	case d.points < 1<<16:
		size = 2
	case d.points < 1<<21:
		for i := range d.corners {
			d.corners[i] = int32(d.varint31())
		}
		return d.err
	}
	b := d.bytes(size * uint64(len(d.corners)))
	if d.err != nil {
		return d.err
	}
	for i := range d.corners {
		switch at := b[size*uint64(i):]; size {
		case 1:
			d.corners[i] = int32(at[0])
		case 2:
			d.corners[i] = int32(binary.LittleEndian.Uint16(at))
		case 4:
			d.corners[i] = int32(binary.LittleEndian.Uint32(at))
		}
	}
	return nil
}
