package decode

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/meshyard/meshyard/internal/mesh"
)

// The modes of primitives that are shown (specification, 5.24.4). Those between are of lines.
const (
	gltfPoints    = 0
	gltfTriangles = 4
	gltfStrip     = 5
	gltfFan       = 6
)

// gltfPrimitive is a part of a mesh, of one material.
type gltfPrimitive struct {
	Attributes struct {
		Position ref `json:"POSITION"`
		Color    ref `json:"COLOR_0"`
		Texture0 ref `json:"TEXCOORD_0"`
		Texture1 ref `json:"TEXCOORD_1"`
	}
	Indices    ref
	Material   ref
	Mode       *whole
	Extensions struct {
		Draco *skipped `json:"KHR_draco_mesh_compression"`
	}
	place     string // in messages
	mode      whole
	positions elements
	corners   elements // without bytes where the vertices are the corners, as they come
	look      gltfLook
}

// gltfMesh is a mesh that is used.
type gltfMesh struct {
	primitives        []*gltfPrimitive
	triangles, points int64
	solids            []*solid
}

// mesh reads the primitives of a mesh and sees that what they refer to is there. Nothing is made of it yet. It counts the primitives of all
// meshes.
func (f *gltfFile) mesh(i int, primitives *int64) (*gltfMesh, error) {
	m := &gltfMesh{}
	var all []gltfPrimitive
	raw := json.NewDecoder(bytes.NewReader(f.meshes[i].Primitives))
	if err := list(f, raw, fmt.Sprintf("primitives in mesh %d", i), &all); err != nil {
		return nil, err
	}
	if *primitives += int64(len(all)); *primitives > f.limits.Elements {
		return nil, mesh.Errorf(mesh.TooLarge, "The meshes of the %s file have more than %d primitives.", f.name, f.limits.Elements)
	}
	for j := range all {
		p := &all[j]
		p.place, p.mode = fmt.Sprintf("primitive %d of mesh %d", j, i), gltfTriangles
		if p.Mode != nil {
			p.mode = *p.Mode
		}
		if p.mode > gltfFan {
			return nil, mesh.Errorf(mesh.Malformed, "The %s file has the unknown mode %d in %s.", f.name, p.mode, p.place)
		}
		if p.Attributes.Position == 0 || p.mode != gltfPoints && p.mode < gltfTriangles {
			continue // lines, and what is nowhere
		}
		if err := f.resolve(p); err != nil {
			return nil, err
		}
		m.triangles += p.triangles() // each count is less than 2^54, and of them there are less than Elements
		m.points += p.points()
		m.primitives = append(m.primitives, p)
	}
	return m, f.ctx.Err()
}

// resolve finds what the references of a primitive lead to.
func (f *gltfFile) resolve(p *gltfPrimitive) (err error) {
	if at, ok := f.at(p.Attributes.Position, len(f.accessors)); ok && p.Extensions.Draco != nil && f.accessors[at].BufferView == 0 {
		return mesh.Errorf(mesh.Unsupported, "The %s file is compressed by the extension KHR_draco_mesh_compression, which is not read.", f.name)
	}
	if p.positions, err = f.accessor(p.Attributes.Position, "VEC3"); err != nil {
		return err
	}
	if p.Indices != 0 {
		if p.corners, err = f.accessor(p.Indices, "SCALAR"); err != nil {
			return err
		}
		switch p.corners.kind {
		case uint8s, uint16s, uint32s:
		default:
			return mesh.Errorf(mesh.Malformed, "The %s file has indices of the type %d in %s.", f.name, p.corners.kind, p.place)
		}
	}
	p.look, err = f.look(p)
	return err
}

// drawn counts the corners.
func (p *gltfPrimitive) drawn() int64 {
	if p.Indices != 0 {
		return int64(p.corners.count)
	}
	return int64(p.positions.count)
}

// triangles counts the triangles. What is left over of corners makes none.
func (p *gltfPrimitive) triangles() int64 {
	switch n := p.drawn(); p.mode {
	case gltfTriangles:
		return n / 3
	case gltfStrip, gltfFan:
		return max(0, n-2)
	}
	return 0
}

func (p *gltfPrimitive) points() int64 {
	if p.mode == gltfPoints {
		return p.drawn()
	}
	return 0
}

// triangle gives the corners of a triangle, in the order that shows its front (specification, 3.7.2.1).
func (p *gltfPrimitive) triangle(i int) [3]int {
	switch p.mode {
	case gltfStrip:
		return [3]int{i, i + 1 + i%2, i + 2 - i%2}
	case gltfFan:
		return [3]int{i + 1, i + 2, 0}
	}
	return [3]int{3 * i, 3*i + 1, 3*i + 2}
}

// solid makes the solid of a primitive, of no more vertices than are used. It gives back slots, in which it keeps the places of vertices:
// they are zero before and after.
func (f *gltfFile) solid(p *gltfPrimitive, slots []uint32) (*solid, []uint32, error) {
	if more := p.positions.count - len(slots); more > 0 {
		slots = append(slots, make([]uint32, more)...)
	}
	s := &solid{}
	var vertices []uint32 // of each place
	place := func(corner int) error {
		v := uint32(corner)
		if p.Indices != 0 {
			if v = p.corners.index(corner); int64(v) >= int64(p.positions.count) {
				return mesh.Errorf(mesh.Malformed, "The %s file has the index %d in %s, where there are %d vertices.", f.name, v, p.place,
					p.positions.count)
			}
		}
		if slots[v] == 0 {
			vertices = append(vertices, v)
			slots[v] = uint32(len(vertices))
		}
		if p.mode != gltfPoints {
			s.corners = append(s.corners, slots[v]-1)
		}
		return nil
	}
	for i := range int(p.triangles()) {
		for _, corner := range p.triangle(i) {
			if err := place(corner); err != nil {
				return nil, nil, err
			}
		}
		if i&0xFFF == 0 && f.ctx.Err() != nil {
			return nil, nil, f.ctx.Err()
		}
	}
	for i := range int(p.points()) {
		if err := place(i); err != nil {
			return nil, nil, err
		}
	}
	s.from = make([]uint32, len(vertices))
	s.vertices = make([]float64, 0, 3*len(vertices))
	paint := make([]uint32, len(vertices))
	painted := false
	for i, v := range vertices {
		slots[v] = 0
		at := p.positions.vector(int(v))
		s.vertices = append(s.vertices, at[:3]...)
		s.from[i] = uint32(i)
		paint[i] = p.look.color(int(v))
		painted = painted || paint[i] != plain
		if i&0xFFF == 0 && f.ctx.Err() != nil {
			return nil, nil, f.ctx.Err()
		}
	}
	if painted {
		s.paint = paint
	}
	return s, slots, nil
}
