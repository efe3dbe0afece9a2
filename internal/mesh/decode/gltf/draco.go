package gltf

import (
	"errors"
	"slices"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode/draco"
)

// dracoMesh is the extension KHR_draco_mesh_compression: a buffer view with the indices of a
// primitive and those of its attributes that are listed by their unique IDs.
type dracoMesh struct {
	BufferView ref
	Attributes attributes
}

// dracoKinds are the component types of Draco attributes.
var dracoKinds = [...]component{draco.Int8: int8s, draco.Uint8: uint8s, draco.Int16: int16s, draco.Uint16: uint16s,
	draco.Uint32:  uint32s,
	draco.Float32: float32s}

// compressedLimits returns the limits of all compressed data of a file together. The memory depends
// on the number of triangles, which callers choose by the memory that they have.
func compressedLimits(l mesh.Limits) draco.Limits {
	const perTriangle, least = 120, 1 << 20
	return draco.Limits{Triangles: l.Triangles, Bytes: min(l.Inflated, l.Triangles*perTriangle+least)}
}

// decompress decompresses the indices and attributes of a primitive, if they are compressed and its
// accessors have no uncompressed data.
func (f *file) decompress(p *primitive) error {
	d := p.Extensions.Draco
	if d == nil {
		return nil
	}
	if at, ok := f.index(p.Attributes.Position, len(f.accessors)); ok && f.accessors[at].BufferView != 0 {
		return nil
	}
	if p.mode != modeTriangles && p.mode != modeStrip {
		return mesh.Errorf(mesh.Malformed, "The %s file has Draco data in %s, which has the mode %d.", f.name, p.location,
			p.mode)
	}
	view, ok := f.index(d.BufferView, len(f.bufferViews))
	if !ok {
		return f.missingIndex("buffer view", d.BufferView, len(f.bufferViews))
	}
	b, err := f.viewBytes(view)
	if err != nil {
		return err
	}
	ids := f.compressedAttributes(p)
	var wanted []uint32
	for _, id := range ids {
		wanted = append(wanted, uint32(id-1))
	}
	decoded, err := draco.Decode(f.ctx, b, wanted, &f.compressed)
	var told *mesh.Error
	if errors.As(err, &told) {
		return mesh.Errorf(told.Reason, "The %s file has Draco data in %s that %s.", f.name, p.location, told.Message)
	} else if err != nil {
		return err
	}
	p.compressed = map[ref]elements{}
	for accessor, id := range ids {
		if p.compressed[accessor], err = f.dracoElements(p, accessor, decoded, uint32(id-1)); err != nil {
			return err
		}
	}
	// Draco data are triangles also if the primitive is a strip.
	p.mode, p.indexed = modeTriangles, true
	p.corners = elements{b: decoded.Indices, stride: 4, count: 3 * decoded.Triangles, width: 1, kind: uint32s}
	return nil
}

// compressedAttributes returns the unique IDs + 1 of the attributes that are compressed and can be
// needed, by their accessors.
func (f *file) compressedAttributes(p *primitive) map[ref]ref {
	ids := map[ref]ref{}
	add := func(accessor, id ref) {
		if accessor != 0 && id != 0 {
			ids[accessor] = id
		}
	}
	from, to := &p.Extensions.Draco.Attributes, &p.Attributes
	add(to.Position, from.Position)
	add(to.Color, from.Color)
	if p.Material != 0 && len(f.textures) > 0 {
		add(to.Texture0, from.Texture0)
		add(to.Texture1, from.Texture1)
	}
	if len(f.skins) > 0 {
		add(to.Joints, from.Joints)
		add(to.Weights, from.Weights)
	}
	return ids
}

// dracoElements returns a decompressed attribute as the elements of its accessor.
func (f *file) dracoElements(p *primitive, r ref, m *draco.Mesh, id uint32) (e elements, err error) {
	i, ok := f.index(r, len(f.accessors))
	if !ok {
		return e, f.missingIndex("accessor", r, len(f.accessors))
	}
	a, ok := m.Attributes[id]
	if !ok {
		return e, mesh.Errorf(mesh.Malformed, "The %s file has Draco data in %s without the attribute %d.", f.name,
			p.location, id)
	}
	accessor := &f.accessors[i]
	kind := dracoKinds[a.Type]
	if kind == 0 || int64(a.Width) != widths[accessor.Type] {
		return e, mesh.Errorf(mesh.Malformed,
			"The %s file has Draco data in %s with %d components of the type %d for accessor %d.", f.name, p.location,
			a.Width, a.Type, i)
	}
	e = elements{b: a.Values, stride: a.Width * int(kind.size()), count: m.Points, width: a.Width, kind: kind,
		normalized: accessor.Normalized}
	if accessor.ComponentType == float32s {
		e.normalized = a.Normalized
	}
	return e, nil
}

// attribute returns the elements of an attribute, which may be compressed.
func (f *file) attribute(p *primitive, r ref, types ...string) (elements, error) {
	e, ok := p.compressed[r]
	if !ok {
		return f.accessor(r, types...)
	}
	if !slices.ContainsFunc(types, func(t string) bool { return int64(e.width) == widths[t] }) {
		return e, mesh.Errorf(mesh.Malformed,
			"The %s file has Draco data in %s with an attribute of %d components, which cannot be where it is used.",
			f.name, p.location, e.width)
	}
	return e, nil
}
