package mesh

import (
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
	slots := make([]uint32, 1<<bits.Len(uint(guess*3/2))) // vertex + 1; open addressing
	count := uint32(0)
	for i := range out.Indices {
		v := uint32(i)
		if m.Indices != nil {
			v = m.Indices[i]
		}
		p := m.Positions[3*v : 3*v+3 : 3*v+3]
		x, y, z := p[0]+0, p[1]+0, p[2]+0 // turns -0 into 0
		color := m.color(v)
		// Most triangles share two corners with the one before, which need no search.
		if first := i - i%3 - 3; first >= 0 {
			if w, ok := out.among(out.Indices[first:first+3:first+3], x, y, z, color); ok {
				out.Indices[i] = w
				continue
			}
		}
		if int(count) >= len(slots)*2/3 {
			slots = out.rehash(2 * len(slots))
		}
		mask := uint32(len(slots) - 1)
		at := hash(x, y, z, color) & mask
		for {
			w := slots[at]
			if w == 0 {
				count++
				slots[at] = count
				out.Positions = append(out.Positions, x, y, z)
				if m.Colors != nil {
					out.Colors = append(out.Colors, m.Colors[4*v:4*v+4]...)
				}
				out.Indices[i] = count - 1
				break
			}
			w--
			q := out.Positions[3*w : 3*w+3 : 3*w+3]
			if q[0] == x && q[1] == y && q[2] == z && out.color(w) == color {
				out.Indices[i] = w
				break
			}
			at = (at + 1) & mask
		}
	}
	return &out
}

// among returns the vertex of three that has a position and a color, if there is one.
func (m *Mesh) among(vertices []uint32, x, y, z float32, color uint32) (vertex uint32, ok bool) {
	for _, v := range vertices {
		if p := m.Positions[3*v : 3*v+3 : 3*v+3]; p[0] == x && p[1] == y && p[2] == z && m.color(v) == color {
			return v, true
		}
	}
	return 0, false
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
