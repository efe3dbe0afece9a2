package gltf

import (
	"encoding/binary"
	"math"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode/geometry"
	"github.com/meshyard/meshyard/internal/mesh/decode/textscan"
)

// accessor describes the layout of elements in a buffer view (specification, 5.1).
type accessor struct {
	BufferView    ref
	ByteOffset    integer
	ComponentType component
	Normalized    bool
	Count         integer
	Type          string
	Sparse        *struct {
		Count   integer
		Indices struct {
			BufferView    ref
			ByteOffset    integer
			ComponentType component
		}
		Values struct {
			BufferView ref
			ByteOffset integer
		}
	}
}

// component is a component type (specification, 3.6.2.2).
type component integer

// The component types.
const (
	int8s    component = 5120
	uint8s   component = 5121
	int16s   component = 5122
	uint16s  component = 5123
	uint32s  component = 5125
	float32s component = 5126
)

func (c *component) UnmarshalJSON(b []byte) error { return (*integer)(c).UnmarshalJSON(b) }

// size returns the size in bytes, or 0 for an unknown type.
func (c component) size() int64 {
	switch c {
	case int8s, uint8s:
		return 1
	case int16s, uint16s:
		return 2
	case uint32s, float32s:
		return 4
	}
	return 0
}

// widths is the number of components of the supported element types.
var widths = map[string]int64{"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}

// elements is a view of the elements of an accessor.
type elements struct {
	b          []byte
	stride     int
	count      int
	width      int
	kind       component
	normalized bool
}

// accessor returns the elements of an accessor after checking that its type is one of types and
// that all its bytes exist.
func (f *file) accessor(r ref, types ...string) (e elements, err error) {
	i, ok := f.index(r, len(f.accessors))
	if !ok {
		return e, f.missingIndex("accessor", r, len(f.accessors))
	}
	a := &f.accessors[i]
	known := false
	for _, t := range types {
		known = known || t == a.Type
	}
	width, size := widths[a.Type], a.ComponentType.size()
	if !known || size == 0 {
		return e, mesh.Errorf(mesh.Malformed,
			"Accessor %d of the %s file has the type %s of %d, which cannot be where it is used.", i, f.name,
			textscan.Quote([]byte(a.Type)), a.ComponentType)
	}
	size *= width
	e = elements{kind: a.ComponentType, width: int(width), stride: int(size), normalized: a.Normalized}
	if a.BufferView != 0 {
		e.b, e.stride, err = f.accessorBytes(a.BufferView, int64(a.ByteOffset), int64(a.Count), size, i)
	} else if err = f.reserve(int64(a.Count), size); err == nil {
		e.b = make([]byte, int64(a.Count)*size) // zero-initialized
	}
	if err != nil {
		return e, err
	}
	e.count = int(a.Count)
	if a.Sparse != nil {
		err = f.sparse(&e, a, i)
	}
	return e, err
}

// sparse applies the substitutions of a sparse accessor.
func (f *file) sparse(e *elements, a *accessor, number int) error {
	s, size := a.Sparse, int64(e.width)*a.ComponentType.size()
	if a.BufferView != 0 {
		if err := f.reserve(int64(e.count), size); err != nil {
			return err
		}
		dense := make([]byte, int64(e.count)*size)
		for i := range e.count {
			copy(dense[int64(i)*size:][:size], e.b[i*e.stride:])
		}
		e.b, e.stride = dense, int(size)
	}
	at := elements{kind: s.Indices.ComponentType, width: 1, count: int(s.Count)}
	if at.kind.size() == 0 || at.kind == float32s {
		return mesh.Errorf(mesh.Malformed, "Accessor %d of the %s file has sparse indices of the type %d.", number, f.name,
			at.kind)
	}
	var values []byte
	var err error
	if at.b, at.stride, err = f.accessorBytes(s.Indices.BufferView, int64(s.Indices.ByteOffset), int64(s.Count),
		at.kind.size(), number); err != nil {
		return err
	}
	if values, _, err = f.accessorBytes(s.Values.BufferView, int64(s.Values.ByteOffset), int64(s.Count), size,
		number); err != nil {
		return err
	}
	for i := range at.count {
		to := at.index(i)
		if int64(to) >= int64(e.count) {
			return mesh.Errorf(mesh.Malformed, "Accessor %d of the %s file has the sparse index %d, where it has %d elements.",
				number, f.name,
				to, e.count)
		}
		copy(e.b[int64(to)*size:][:size], values[int64(i)*size:])
	}
	return nil
}

// index returns element i of an index accessor.
func (e *elements) index(i int) uint32 {
	b := e.b[i*e.stride:]
	switch e.kind {
	case uint32s:
		return binary.LittleEndian.Uint32(b)
	case uint16s:
		return uint32(binary.LittleEndian.Uint16(b))
	}
	return uint32(b[0])
}

// vector returns the components of element i.
func (e *elements) vector(i int) (v [4]float64) {
	b := e.b[i*e.stride:]
	for c := range e.width {
		switch e.kind {
		case float32s:
			v[c] = float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*c:])))
		case uint32s:
			v[c] = float64(binary.LittleEndian.Uint32(b[4*c:]))
		case int16s:
			v[c] = float64(int16(binary.LittleEndian.Uint16(b[2*c:])))
		case uint16s:
			v[c] = float64(binary.LittleEndian.Uint16(b[2*c:]))
		case int8s:
			v[c] = float64(int8(b[c]))
		case uint8s:
			v[c] = float64(b[c])
		}
		if e.normalized {
			v[c] = max(v[c]*scales[e.kind-int8s], -1)
		}
	}
	return v
}

// transform returns element i, a matrix of floats in column-major order.
func (e *elements) transform(i int) *geometry.Transform {
	var m [16]float64
	for c := range m {
		m[c] = float64(math.Float32frombits(binary.LittleEndian.Uint32(e.b[i*e.stride+4*c:])))
	}
	return transformOf(m[:])
}

// scales convert normalized integers to the range -1 to 1 or 0 to 1 (specification, 3.11).
var scales = [...]float64{1. / 127, 1. / 255, 1. / 32767, 1. / 65535, 1, 1. / math.MaxUint32, 1}
