// Package ply decodes PLY files.
package ply

import (
	"context"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode/geometry"
	"github.com/meshyard/meshyard/internal/mesh/decode/source"
	"github.com/meshyard/meshyard/internal/mesh/decode/textscan"
)

// Decode decodes a PLY file, text or binary of either byte order (Greg Turk, The PLY Polygon File
// Format, 1994, and the type names introduced later). It reads the elements vertex, face and
// tristrips in any order, with colors of vertices or else of faces, and ignores other elements and
// properties. It drops vertices with a coordinate that is not finite, and their faces. A file
// without faces is a point cloud.
func Decode(ctx context.Context, src source.Source, limits mesh.Limits, progress func(float64)) (*mesh.Mesh, error) {
	h, err := readHeader(src)
	if err != nil {
		return nil, err
	}
	p := file{header: h, bodySize: src.Size - h.length, faces: geometry.NewFaces(mesh.PLY, limits)}
	var least int64 // minimum size of a text value with its separator
	if h.order == nil {
		p.body, least = newTextBody(ctx, src, h, progress), 2
	} else {
		p.body = newBinaryBody(ctx, src, h, progress)
	}
	if err := h.checkSize(p.bodySize, least); err != nil {
		return nil, err
	}
	if err := p.readVertices(); err != nil {
		return nil, err
	}
	for i := range h.elements {
		if e := &h.elements[i]; e.name == "face" || e.name == "tristrips" {
			if err := p.readFaces(i, e); err != nil {
				return nil, err
			}
		}
	}
	return p.faces.Finish(), nil
}

// file is the state of decoding a PLY file.
type file struct {
	header   *header
	body     body
	bodySize int64 // size of the body in bytes
	current  int   // the element at whose start the body is
	faces    *geometry.Faces
}

// checkSize checks that the file is large enough for the values that the header declares.
func (h *header) checkSize(there, text int64) error {
	for _, e := range h.elements {
		each := text * int64(len(e.properties))
		for _, p := range e.properties {
			switch {
			case text > 0:
			case p.list != noType:
				each += int64(p.list.size())
			default:
				each += int64(p.of.size())
			}
		}
		if each > 0 && e.count > (there+1)/each { // text may end without a separator after the last value
			return mesh.Errorf(mesh.Malformed,
				"The header of the PLY file promises %d of the element %s, but only %d bytes are left for them.",
				e.count, textscan.Quote([]byte(e.name)), max(0, there))
		}
		there -= e.count * each
	}
	return nil
}

// seek moves to the start of an element.
func (p *file) seek(element int) error {
	if element < p.current {
		p.body.rewind()
		p.current = 0
	}
	for ; p.current < element; p.current++ {
		e := &p.header.elements[p.current]
		if size, ok := e.fixedSize(); ok && (p.header.order != nil || size == 0) {
			if err := p.body.skip(e.count*int64(len(e.properties)), e.count*size); err != nil {
				return err
			}
			continue
		}
		for range e.count {
			for _, property := range e.properties {
				if err := p.skip(property); err != nil {
					return err
				}
			}
			if err := p.body.endRow(); err != nil {
				return err
			}
		}
	}
	return nil
}

// skip skips a property.
func (p *file) skip(property property) error {
	n := int64(1)
	if property.list != noType {
		var err error
		if n, err = p.readLength(property); err != nil {
			return err
		}
	}
	return p.body.skip(n, n*int64(property.of.size()))
}

// readLength reads the length of a list.
func (p *file) readLength(list property) (int64, error) {
	x, err := p.body.number(list.list)
	if err != nil {
		return 0, err
	}
	if !(x >= 0 && x < 1<<32) || x != float64(int64(x)) {
		return 0, mesh.Errorf(mesh.Malformed, "%s of the PLY file has a list %s of the length %v.", p.body.place(list.list),
			textscan.Quote([]byte(list.name)), x)
	}
	return int64(x), nil
}
