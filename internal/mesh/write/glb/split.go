package glb

import (
	"encoding/binary"
	"math"

	"github.com/meshyard/meshyard/internal/mesh"
)

const (
	// maxTextures is the maximum number of different textures of a file. Each takes a draw call.
	maxTextures = 1024
	// maxCoordinate is the maximum of texture coordinates. Graphics cards interpolate them in single
	// precision.
	maxCoordinate = 1024
	white         = math.MaxUint32
)

// part is a primitive: consecutive triangles of a mesh.
type part struct {
	texture  *mesh.Texture // nil if it has none
	image    int           // the index of its image
	corners  int           // the number of its indices
	vertices int           // the number of its vertices; only if it has no texture
}

// grouped is a mesh whose triangles are grouped by texture. Those without a texture come first.
type grouped struct {
	mesh        mesh.Mesh
	coordinates []float32 // of each vertex in its texture
	parts       []part
	images      []encoded

	source *mesh.Mesh
	newest []uint32 // for each vertex of source the newest vertex that is made of it + 1, or 0
}

// split groups the triangles of a mesh by texture. It duplicates vertices at which several textures
// or texture coordinates meet. It returns nil if the mesh has no textures or too many.
func split(m *mesh.Mesh) *grouped {
	if len(m.Patches) == 0 {
		return nil
	}
	// Different materials can have equal textures.
	known := map[mesh.Texture]int{}
	partOf := make([]int, len(m.Patches))
	var textured []part
	plain, tinted := m.Triangles()-len(m.Patches), false
	for i := range m.Patches {
		p := &m.Patches[i]
		at, ok := known[*p.Texture]
		if !ok {
			if at = len(textured); at == maxTextures {
				return nil
			}
			known[*p.Texture] = at
			textured = append(textured, part{texture: p.Texture})
		}
		partOf[i] = at
		textured[at].corners += 3
		tinted = tinted || p.Tint != [3]uint32{white, white, white}
	}
	images, ok := encodeImages(textured)
	if !ok {
		return nil
	}
	g := &grouped{mesh: *m, images: images, source: m, newest: make([]uint32, m.Vertices())}
	out := &g.mesh
	guess := m.Vertices() + m.Vertices()/8
	out.Patches, out.Normals, out.Colors = nil, nil, nil
	out.Positions = make([]float32, 0, 3*guess)
	if m.Normals != nil {
		out.Normals = make([]float32, 0, 3*guess)
	}
	if tinted || plain > 0 && m.Colors != nil {
		out.Colors = make([]uint8, 0, 4*guess)
	}
	out.Indices = make([]uint32, 0, 3*m.Triangles())
	g.coordinates = make([]float32, 0, 2*guess)
	if plain > 0 {
		g.addPlain()
		g.parts = []part{{corners: len(out.Indices), vertices: out.Vertices()}}
	}
	g.parts = append(g.parts, textured...)
	g.addTextured(partOf, textured)
	return g
}

// addPlain adds the triangles without a texture.
func (g *grouped) addPlain() {
	m := g.source
	patches := m.Patches
	for t := range m.Triangles() {
		if len(patches) > 0 && patches[0].Triangle == t {
			patches = patches[1:]
			continue
		}
		a, b, c := m.Corners(t)
		for _, v := range [3]uint32{a, b, c} {
			color := uint32(gray | gray<<8 | gray<<16 | 255<<24)
			if m.Colors != nil {
				color = binary.LittleEndian.Uint32(m.Colors[4*v:])
			}
			g.add(v, 0, [2]float32{}, color)
		}
	}
}

// addTextured adds the triangles with a texture, part by part. partOf is the part of each patch.
func (g *grouped) addTextured(partOf []int, parts []part) {
	next := make([]int, len(parts))
	for i := range parts[1:] {
		next[i+1] = next[i] + parts[i].corners/3
	}
	order := make([]uint32, len(partOf))
	for i, part := range partOf {
		order[next[part]] = uint32(i)
		next[part]++
	}
	for i, part := range parts {
		first := uint32(g.mesh.Vertices())
		for _, at := range order[next[i]-part.corners/3 : next[i]] {
			p := &g.source.Patches[at]
			coordinates := folded(p)
			a, b, c := g.source.Corners(p.Triangle)
			for k, v := range [3]uint32{a, b, c} {
				g.add(v, first, coordinates[k], p.Tint[k])
			}
		}
	}
}

// add adds a corner. It shares the vertex with an earlier corner of the same part, whose first
// vertex is first, if that is the newest at this place and equal.
func (g *grouped) add(v, first uint32, at [2]float32, color uint32) {
	out, m := &g.mesh, g.source
	if w := g.newest[v]; w > first && [2]float32(g.coordinates[2*w-2:]) == at &&
		(out.Colors == nil || binary.LittleEndian.Uint32(out.Colors[4*w-4:]) == color) {
		out.Indices = append(out.Indices, w-1)
		return
	}
	out.Indices = append(out.Indices, uint32(out.Vertices()))
	out.Positions = append(out.Positions, m.Positions[3*v:3*v+3]...)
	if m.Normals != nil {
		out.Normals = append(out.Normals, m.Normals[3*v:3*v+3]...)
	}
	if out.Colors != nil {
		out.Colors = binary.LittleEndian.AppendUint32(out.Colors, color)
	}
	g.coordinates = append(g.coordinates, at[:]...)
	g.newest[v] = uint32(out.Vertices())
}

// folded returns the texture coordinates of a patch as small, finite numbers.
func folded(p *mesh.Patch) (at [3][2]float32) {
	for axis, wrap := range [2]mesh.Wrap{p.Texture.WrapU, p.Texture.WrapV} {
		least, most := math.Inf(1), math.Inf(-1)
		for k := range at {
			x := float64(p.UV[k][axis])
			if math.IsNaN(x) || math.IsInf(x, 0) {
				x = 0
			}
			at[k][axis] = float32(x)
			least, most = min(least, x), max(most, x)
		}
		shift := 0.0
		if wrap != mesh.Clamp && max(-least, most) > maxCoordinate {
			shift = 2 * math.Floor(least/2) // even, because every second copy of a mirrored image is equal
		}
		for k := range at {
			at[k][axis] = float32(max(-maxCoordinate, min(maxCoordinate, float64(at[k][axis])-shift)))
		}
	}
	return at
}
