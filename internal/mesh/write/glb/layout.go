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
	parts       []part
	indices     []*int // accessors of the parts, nil if the mesh has no indices
	pictures    []picture
	length      int64
	translucent bool             // something without a texture is
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
	l := &layout{exact: o.Exact, half: 1, attributes: map[string]int{},
		parts: []part{{corners: len(m.Indices), vertices: m.Vertices()}}}
	s := split(m)
	if s != nil {
		m, l.parts = &s.mesh, s.parts
	}
	l.mesh = m
	l.positions()
	if m.Normals != nil {
		if o.Exact {
			l.add("NORMAL", accessor{ComponentType: float32s, Type: "VEC3"}, 12, func(e *encoder) { e.floats(m.Normals) })
		} else {
			l.add("NORMAL", accessor{ComponentType: int8s, Normalized: true, Type: "VEC3"}, 4,
				func(e *encoder) { e.directions(m.Normals) })
		}
	}
	if m.Colors != nil {
		if l.parts[0].texture == nil {
			for c := m.Colors[:4*l.parts[0].vertices]; len(c) >= 4; c = c[4:] {
				l.translucent = l.translucent || c[3] != math.MaxUint8
			}
		}
		l.add("COLOR_0", accessor{ComponentType: uint16s, Normalized: true, Type: "VEC4"}, 8,
			func(e *encoder) { e.colors(m.Colors) })
	}
	if s != nil {
		l.add("TEXCOORD_0", accessor{ComponentType: float32s, Type: "VEC2"}, 8, func(e *encoder) { e.floats(s.coordinates) })
	}
	l.indices = make([]*int, len(l.parts))
	if m.Indices != nil {
		l.corners()
	}
	if s != nil {
		for _, img := range s.images {
			l.pictures = append(l.pictures, picture{len(l.views), img.kind})
			l.place(view{ByteLength: int64(len(img.content))}, func(e *encoder) { e.blob(img.content) })
		}
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

// corners adds the indices of each part.
func (l *layout) corners() {
	m := l.mesh
	kind, size := uint32s, 4
	if m.Vertices() <= math.MaxUint16 { // the greatest 16-bit index is reserved
		kind, size = uint16s, 2
	}
	left := m.Indices
	for i, p := range l.parts {
		own := left[:p.corners]
		left = left[p.corners:]
		at := len(l.accessors)
		l.indices[i] = &at
		l.accessors = append(l.accessors, accessor{BufferView: len(l.views), ComponentType: kind, Count: len(own),
			Type: "SCALAR"})
		l.place(view{ByteLength: int64(size) * int64(len(own)), Target: corners}, func(e *encoder) { e.corners(own, size) })
	}
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
