package glb

import (
	"math"

	"github.com/meshyard/meshyard/internal/mesh"
)

// layout is the arrangement of a mesh in the file: consecutive buffer views with one accessor each.
type layout struct {
	mesh   *mesh.Mesh
	exact  bool
	center [3]float64 // of the box without origin, if positions are quantized
	half   float64    // half of its longest side; 1 if that is 0

	views       []view
	accessors   []accessor
	attributes  map[string]int
	indices     *int
	length      int64
	translucent bool
	writers     []func(*encoder) // of the views
}

// newLayout computes the layout and checks that all numbers are finite.
func newLayout(m *mesh.Mesh, o Options) (*layout, error) {
	for _, list := range [][]float32{m.Positions, m.Normals} {
		for _, x := range list {
			if math.Float32bits(x)&infinite == infinite {
				return nil, ErrNotFinite
			}
		}
	}
	for _, x := range append(m.Origin[:], m.Unit) {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, ErrNotFinite
		}
	}
	l := &layout{mesh: m, exact: o.Exact, half: 1, attributes: map[string]int{}}
	l.positions()
	if m.Normals != nil {
		if o.Exact {
			l.add("NORMAL", accessor{ComponentType: float32s, Type: "VEC3"}, 12, func(e *encoder) { e.floats(m.Normals) })
		} else {
			l.add("NORMAL", accessor{ComponentType: int8s, Normalized: true, Type: "VEC3"}, 4, func(e *encoder) { e.directions(m.Normals) })
		}
	}
	for c := m.Colors; len(c) >= 4; c = c[4:] {
		l.translucent = l.translucent || c[3] != math.MaxUint8
	}
	if m.Colors != nil {
		l.add("COLOR_0", accessor{ComponentType: uint16s, Normalized: true, Type: "VEC4"}, 8, func(e *encoder) { e.colors(m.Colors) })
	}
	if m.Indices != nil {
		l.corners()
	}
	return l, nil
}

// infinite are the exponent bits of infinity and NaN.
const infinite = 0x7F800000

// positions adds the positions.
func (l *layout) positions() {
	m := l.mesh
	box := (&mesh.Mesh{Positions: m.Positions}).Box() // as stored, without origin
	if l.exact {
		whole := accessor{ComponentType: float32s, Type: "VEC3", Min: box.Min[:], Max: box.Max[:]}
		l.add("POSITION", whole, 12, func(e *encoder) { e.floats(m.Positions) })
		return
	}
	sides := box.Size()
	if longest := max(sides[0], sides[1], sides[2]); longest > 0 {
		l.half = longest / 2
	}
	for i := range l.center {
		l.center[i] = (box.Min[i] + box.Max[i]) / 2
	}
	for i := range l.center {
		box.Min[i], box.Max[i] = float64(l.quantized(i, box.Min[i])), float64(l.quantized(i, box.Max[i]))
	}
	quantized := accessor{ComponentType: int16s, Normalized: true, Type: "VEC3", Min: box.Min[:], Max: box.Max[:]}
	l.add("POSITION", quantized, 8, func(e *encoder) {
		for v := range m.Vertices() {
			p := m.At(uint32(v))
			e.shorts(l.quantized(0, float64(p[0])), l.quantized(1, float64(p[1])), l.quantized(2, float64(p[2])))
		}
	})
}

// quantized converts a coordinate to an integer from -32767 to 32767.
func (l *layout) quantized(axis int, x float64) int16 {
	return int16(math.Round(max(-1, min(1, (x-l.center[axis])/l.half)) * math.MaxInt16))
}

// corners adds the indices.
func (l *layout) corners() {
	m := l.mesh
	i := len(l.accessors)
	l.indices = &i
	kind, size := uint32s, 4
	if m.Vertices() <= math.MaxUint16 { // the greatest 16-bit index is reserved
		kind, size = uint16s, 2
	}
	l.accessors = append(l.accessors, accessor{BufferView: i, ComponentType: kind, Count: len(m.Indices), Type: "SCALAR"})
	l.place(view{ByteLength: int64(size) * int64(len(m.Indices)), Target: corners}, func(e *encoder) { e.corners(m.Indices, size) })
}

// add adds an attribute of size bytes for each vertex.
func (l *layout) add(name string, a accessor, size int, write func(*encoder)) {
	a.BufferView, a.Count = len(l.views), l.mesh.Vertices()
	l.attributes[name] = len(l.accessors)
	l.accessors = append(l.accessors, a)
	l.place(view{ByteLength: int64(size) * int64(a.Count), ByteStride: size, Target: vertexData}, write)
}

func (l *layout) place(v view, write func(*encoder)) {
	v.ByteOffset = l.length
	l.length += (v.ByteLength + 3) &^ 3
	l.views = append(l.views, v)
	l.writers = append(l.writers, write)
}

func (l *layout) write(e *encoder) {
	for i, write := range l.writers {
		write(e)
		for n := l.views[i].ByteLength; n%4 != 0; n++ {
			e.bytes(0)
		}
	}
}
