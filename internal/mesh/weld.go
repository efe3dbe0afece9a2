package mesh

import (
	"encoding/binary"
	"math"
	"math/bits"
	"math/rand/v2"
)

// Weld returns the same triangles with equal vertices merged. Vertices are equal if their positions
// are equal as numbers and their colors are equal; no vertex is moved. Vertices are numbered in
// order of first use, and unused ones are dropped. Weld returns a point cloud unchanged. It does
// not modify m. It uses 4 bytes for each corner and up to 24 bytes for each vertex.
func (m *Mesh) Weld() *Mesh {
	if m.Cloud {
		return m
	}
	corners := 3 * m.Triangles()
	out := *m
	out.Normals = nil
	out.Indices = make([]uint32, corners)
	guess := m.Vertices() + 16
	if m.Indices == nil {
		// in a closed surface about six corners meet at a vertex; more vertices grow the table
		guess = corners/5 + 16
	}
	out.Positions = make([]float32, 0, 3*guess)
	if m.Colors != nil {
		out.Colors = make([]uint8, 0, 4*guess)
	}
	w := welder{out: &out, slots: make([]uint32, 1<<bits.Len(uint(guess*3/2)))}
	none := float32(math.NaN()) // equals no position
	a := corner{at: &[3]float32{none}}
	b, c := a, a
	for i := 0; i < corners; i += 3 {
		// Most triangles share two corners with the one before, which need no search.
		a0, b0, c0 := a, b, c
		for k := range 3 {
			v := uint32(i + k)
			if m.Indices != nil {
				v = m.Indices[i+k]
			}
			n := corner{at: (*[3]float32)(m.Positions[3*v:]), color: m.color(v)}
			switch {
			case n.equals(b0):
				n.vertex = b0.vertex
			case n.equals(c0):
				n.vertex = c0.vertex
			case n.equals(a0):
				n.vertex = a0.vertex
			default:
				n.vertex = w.find(n)
			}
			out.Indices[i+k] = n.vertex
			a, b, c = b, c, n
		}
	}
	return &out
}

// corner is a corner of a triangle and its vertex in the welded mesh.
type corner struct {
	at     *[3]float32
	color  uint32
	vertex uint32
}

func (c corner) equals(d corner) bool {
	return c.at[0] == d.at[0] && c.at[1] == d.at[1] && c.at[2] == d.at[2] && c.color == d.color
}

// welder finds vertices by their positions and colors.
type welder struct {
	out   *Mesh
	slots []uint32 // vertex + 1, or 0; open addressing
	count uint32   // of vertices
}

// find returns the vertex of a corner, and adds it to the mesh if it is new.
func (w *welder) find(c corner) (vertex uint32) {
	x, y, z := c.at[0]+0, c.at[1]+0, c.at[2]+0 // turns -0 into 0
	if int(w.count) >= len(w.slots)*2/3 {
		w.slots = w.out.rehash(2 * len(w.slots))
	}
	mask := uint32(len(w.slots) - 1)
	for at := hash(x, y, z, c.color) & mask; ; at = (at + 1) & mask {
		v := w.slots[at]
		if v == 0 {
			w.count++
			w.slots[at] = w.count
			w.out.Positions = append(w.out.Positions, x, y, z)
			if w.out.Colors != nil {
				w.out.Colors = binary.LittleEndian.AppendUint32(w.out.Colors, c.color)
			}
			return w.count - 1
		}
		v--
		p := w.out.Positions[3*v : 3*v+3 : 3*v+3]
		if p[0] == x && p[1] == y && p[2] == z && w.out.color(v) == c.color {
			return v
		}
	}
}

func (m *Mesh) rehash(size int) []uint32 {
	slots := make([]uint32, size)
	mask := uint32(size - 1)
	for v := range uint32(m.Vertices()) {
		at := hash(m.Positions[3*v], m.Positions[3*v+1], m.Positions[3*v+2], m.color(v)) & mask
		for slots[at] != 0 {
			at = (at + 1) & mask
		}
		slots[at] = v + 1
	}
	return slots
}

func (m *Mesh) color(v uint32) uint32 {
	if m.Colors == nil {
		return 0
	}
	c := m.Colors[4*v : 4*v+4]
	return uint32(c[0]) | uint32(c[1])<<8 | uint32(c[2])<<16 | uint32(c[3])<<24
}

// multipliers are random in each process, so that nobody can make a file whose vertices all collide
// in the hash table. The result does not depend on them.
var multipliers = [4]uint64{rand.Uint64() | 1, rand.Uint64() | 1, rand.Uint64() | 1, rand.Uint64() | 1}

func hash(x, y, z float32, color uint32) uint32 {
	h := uint64(math.Float32bits(x))*multipliers[0] ^ uint64(math.Float32bits(y))*multipliers[1] ^
		uint64(math.Float32bits(z))*multipliers[2] ^ uint64(color)*multipliers[3]
	h ^= h >> 29
	h *= 0xBF58476D1CE4E5B9
	return uint32(h >> 32)
}
