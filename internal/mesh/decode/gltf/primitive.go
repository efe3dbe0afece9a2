package gltf

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode/geometry"
)

// The supported primitive modes (specification, 5.24.4). Modes between points and triangles are
// lines.
const (
	modePoints    = 0
	modeTriangles = 4
	modeStrip     = 5
	modeFan       = 6
)

// primitive is a part of a mesh with one material.
type primitive struct {
	Attributes attributes
	Targets    []struct {
		Position ref `json:"POSITION"`
	}
	Indices    ref
	Material   ref
	Mode       *integer
	Extensions struct {
		Draco *dracoMesh `json:"KHR_draco_mesh_compression"`
	}
	location   string // for error messages
	mode       integer
	compressed map[ref]elements // by their accessors; those that are not in the map are not compressed
	positions  elements
	indexed    bool
	corners    elements // empty if the primitive is not indexed
	appearance appearance
	joints     elements // empty without a skin
	weights    elements
	morphs     []morph // with the weights of the current instance
}

// attributes are the attributes that are read of a primitive.
type attributes struct {
	Position ref `json:"POSITION"`
	Color    ref `json:"COLOR_0"`
	Texture0 ref `json:"TEXCOORD_0"`
	Texture1 ref `json:"TEXCOORD_1"`
	Joints   ref `json:"JOINTS_0"`
	Weights  ref `json:"WEIGHTS_0"`
}

// morph is a morph target: how far it moves each vertex if its weight is 1.
type morph struct {
	weight float64
	moves  elements
}

// morphs resolves the morph targets of a primitive that have a weight.
func (f *file) morphs(p *primitive, weights []float64) (all []morph, err error) {
	for i, target := range p.Targets[:min(len(p.Targets), len(weights))] {
		if weights[i] == 0 || target.Position == 0 {
			continue
		}
		m := morph{weight: weights[i]}
		if m.moves, err = f.accessor(target.Position, "VEC3"); err != nil {
			return nil, err
		}
		if m.moves.count < p.positions.count {
			return nil, mesh.Errorf(mesh.Malformed, "The %s file has a morph target with %d positions for %d vertices in %s.",
				f.name, m.moves.count,
				p.positions.count, p.location)
		}
		all = append(all, m)
	}
	return all, nil
}

// resolvedMesh is a mesh that an instance uses.
type resolvedMesh struct {
	primitives        []*primitive
	triangles, points int64
	bound, skinnable  bool // set by bind
}

// mesh resolves the primitives of a mesh and checks their references. It allocates no geometry yet.
// primitives counts the primitives of all meshes.
func (f *file) mesh(i int, primitives *int64) (*resolvedMesh, error) {
	m := &resolvedMesh{}
	var all []primitive
	raw := json.NewDecoder(bytes.NewReader(f.meshes[i].Primitives))
	if err := decodeList(f, raw, fmt.Sprintf("primitives in mesh %d", i), &all); err != nil {
		return nil, err
	}
	if *primitives += int64(len(all)); *primitives > f.limits.Elements {
		return nil, mesh.Errorf(mesh.TooLarge, "The meshes of the %s file have more than %d primitives.", f.name,
			f.limits.Elements)
	}
	for j := range all {
		p := &all[j]
		p.location, p.mode = fmt.Sprintf("primitive %d of mesh %d", j, i), modeTriangles
		if p.Mode != nil {
			p.mode = *p.Mode
		}
		if p.mode > modeFan {
			return nil, mesh.Errorf(mesh.Malformed, "The %s file has the unknown mode %d in %s.", f.name, p.mode, p.location)
		}
		if p.Attributes.Position == 0 || p.mode != modePoints && p.mode < modeTriangles {
			continue // lines, or no positions
		}
		if err := f.resolve(p); err != nil {
			return nil, err
		}
		// no overflow: each count is less than 2^54, and there are at most Elements of them
		m.triangles += p.triangles()
		m.points += p.points()
		m.primitives = append(m.primitives, p)
	}
	return m, f.ctx.Err()
}

// bind resolves the joints of a mesh and reports whether a skin applies to it, which it does not if
// one of the primitives has no joints.
func (f *file) bind(m *resolvedMesh) (applies bool, err error) {
	if m.bound {
		return m.skinnable, nil
	}
	m.bound = true
	for _, p := range m.primitives {
		if p.Attributes.Joints == 0 || p.Attributes.Weights == 0 {
			return false, nil
		}
	}
	for _, p := range m.primitives {
		if err := f.resolveJoints(p); err != nil {
			return false, err
		}
	}
	m.skinnable = true
	return true, nil
}

// resolve resolves the accessors of a primitive.
func (f *file) resolve(p *primitive) (err error) {
	if err = f.decompress(p); err != nil {
		return err
	}
	if p.positions, err = f.attribute(p, p.Attributes.Position, "VEC3"); err != nil {
		return err
	}
	if p.Indices != 0 && !p.indexed {
		p.indexed = true
		if p.corners, err = f.accessor(p.Indices, "SCALAR"); err != nil {
			return err
		}
		switch p.corners.kind {
		case uint8s, uint16s, uint32s:
		default:
			return mesh.Errorf(mesh.Malformed, "The %s file has indices of the type %d in %s.", f.name, p.corners.kind,
				p.location)
		}
	}
	p.appearance, err = f.resolveAppearance(p)
	return err
}

// resolveJoints resolves the joints of a primitive and their weights.
func (f *file) resolveJoints(p *primitive) (err error) {
	if p.joints, err = f.attribute(p, p.Attributes.Joints, "VEC4"); err != nil {
		return err
	}
	if p.weights, err = f.attribute(p, p.Attributes.Weights, "VEC4"); err != nil {
		return err
	}
	p.weights.normalized = p.weights.kind != float32s
	switch least := p.positions.count; {
	case p.joints.kind != uint8s && p.joints.kind != uint16s:
		return mesh.Errorf(mesh.Malformed, "The %s file has joints of the type %d in %s.", f.name, p.joints.kind, p.location)
	case p.joints.count < least || p.weights.count < least:
		return mesh.Errorf(mesh.Malformed, "The %s file has %d joints and %d weights for %d vertices in %s.", f.name,
			p.joints.count, p.weights.count,
			least, p.location)
	}
	return nil
}

// cornerCount returns the number of corners.
func (p *primitive) cornerCount() int64 {
	if p.indexed {
		return int64(p.corners.count)
	}
	return int64(p.positions.count)
}

// triangles returns the number of triangles. Remaining corners are ignored.
func (p *primitive) triangles() int64 {
	switch n := p.cornerCount(); p.mode {
	case modeTriangles:
		return n / 3
	case modeStrip, modeFan:
		return max(0, n-2)
	}
	return 0
}

func (p *primitive) points() int64 {
	if p.mode == modePoints {
		return p.cornerCount()
	}
	return 0
}

// isHidden reports whether a primitive has no points, in a cloud, or no triangles, otherwise.
func (p *primitive) isHidden(cloud bool) bool {
	return cloud && p.points() == 0 || !cloud && p.triangles() == 0
}

// triangle returns the corners of a triangle in front-facing order (specification, 3.7.2.1).
func (p *primitive) triangle(i int) [3]int {
	switch p.mode {
	case modeStrip:
		return [3]int{i, i + 1 + i%2, i + 2 - i%2}
	case modeFan:
		return [3]int{i + 1, i + 2, 0}
	}
	return [3]int{3 * i, 3*i + 1, 3*i + 2}
}

// position returns the position of a vertex, moved by the morph targets, and by pose if it is not
// nil.
func (f *file) position(p *primitive, pose *pose, v int) ([3]float64, error) {
	own := p.positions.vector(v)
	at := [3]float64(own[:3])
	for i := range p.morphs {
		move := p.morphs[i].moves.vector(v)
		for k := range at {
			at[k] += p.morphs[i].weight * move[k]
		}
	}
	if p.morphs != nil && f.ctx.Err() != nil { // there can be very many
		return at, f.ctx.Err()
	}
	if pose == nil {
		return at, nil
	}
	return f.move(p, pose, v, at)
}

// buildShape builds the shape of a primitive from the vertices that it uses, moved by pose if it is
// not nil. It leaves out what has coordinates that are not finite. It uses slots as scratch space,
// which is all zero before and after, and returns it because it may grow.
func (f *file) buildShape(p *primitive, pose *pose, slots []uint32) (*geometry.Shape, []uint32, error) {
	if more := p.positions.count - len(slots); more > 0 {
		slots = append(slots, make([]uint32, more)...)
	}
	s := &geometry.Shape{Vertices: make([]float64, 0, 3*min(p.positions.count, int(p.cornerCount())))}
	var vertices []uint32 // of each output vertex
	// place returns the output vertex of a corner + 1, or 0 if its position is not finite.
	place := func(corner int) (uint32, error) {
		v := uint32(corner)
		if p.indexed {
			if v = p.corners.index(corner); int64(v) >= int64(p.positions.count) {
				return 0, mesh.Errorf(mesh.Malformed, "The %s file has the index %d in %s, where there are %d vertices.", f.name, v,
					p.location,
					p.positions.count)
			}
		}
		if slots[v] == 0 {
			at, err := f.position(p, pose, int(v))
			if err != nil || !geometry.Finite(at) {
				return 0, err
			}
			s.Vertices = append(s.Vertices, at[:]...)
			s.Sources = append(s.Sources, uint32(len(vertices)))
			vertices = append(vertices, v)
			slots[v] = uint32(len(vertices))
		}
		return slots[v], nil
	}
	for i := range int(p.triangles()) {
		var outputs [3]uint32
		for k, corner := range p.triangle(i) {
			var err error
			if outputs[k], err = place(corner); err != nil {
				return nil, nil, err
			}
		}
		if a, b, c := outputs[0], outputs[1], outputs[2]; a != 0 && b != 0 && c != 0 {
			s.Corners = append(s.Corners, a-1, b-1, c-1)
		}
		if i&0xFFF == 0 && f.ctx.Err() != nil {
			return nil, nil, f.ctx.Err()
		}
	}
	for i := range int(p.points()) {
		if _, err := place(i); err != nil {
			return nil, nil, err
		}
	}
	paint := make([]uint32, len(vertices))
	painted := false
	for i, v := range vertices {
		slots[v] = 0
		paint[i] = p.appearance.color(int(v))
		painted = painted || paint[i] != geometry.NoColor
		if i&0xFFF == 0 && f.ctx.Err() != nil {
			return nil, nil, f.ctx.Err()
		}
	}
	if painted {
		s.Colors = paint
	}
	if p.appearance.texture != nil {
		s.Patches = make([]mesh.Patch, min(s.Triangles(), mesh.MaxPatches-f.patches))
		f.patches += len(s.Patches)
		for i := range s.Patches {
			c := s.Corners[3*i:]
			s.Patches[i] = p.appearance.patch(i, [3]uint32{vertices[c[0]], vertices[c[1]], vertices[c[2]]})
		}
	}
	return s, slots, nil
}
