package decode

import (
	"context"
	"encoding/binary"
	"math"

	"github.com/meshyard/meshyard/internal/mesh"
)

// indexable gives limits under which 32 bits count the corners of all triangles.
func indexable(limits mesh.Limits) mesh.Limits {
	limits.Triangles = min(limits.Triangles, math.MaxUint32/3)
	return limits
}

// assembly puts solids into a mesh.
type assembly struct {
	name string // of the format
	m    *mesh.Mesh
	ctx  context.Context
}

// fill puts what walk visits into the mesh: so many triangles and places, counted before. It walks twice, first to find an origin, so that
// full precision is held for no more than what the file holds.
func (a *assembly) fill(triangles, places int, walk func(visit func(*solid, transform) error) error) error {
	var box extent
	painted := false
	err := walk(func(s *solid, to transform) error {
		painted = painted || s.paint != nil
		for i := range s.from {
			if !box.add(to.apply(s.point(i))) {
				return mesh.Errorf(mesh.Malformed, "The %s file has a vertex farther than %g from zero.", a.name, farthest)
			}
			if i&0xFFF == 0 && a.ctx.Err() != nil {
				return a.ctx.Err()
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	m := a.m
	m.Origin = box.origin()
	m.Positions = make([]float32, 0, 3*places)
	m.Indices = make([]uint32, 0, 3*triangles)
	if painted {
		m.Colors = make([]uint8, 0, 4*places)
	}
	return walk(func(s *solid, to transform) error {
		if err := a.ctx.Err(); err != nil {
			return err
		}
		a.add(s, to)
		return nil
	})
}

func (a *assembly) add(s *solid, to transform) {
	m := a.m
	base := uint32(m.Vertices())
	for i := range s.from {
		p := to.apply(s.point(i))
		m.Positions = append(m.Positions, float32(p[0]-m.Origin[0]), float32(p[1]-m.Origin[1]), float32(p[2]-m.Origin[2]))
		if m.Colors != nil {
			color := uint32(plain)
			if s.paint != nil {
				color = s.paint[i]
			}
			m.Colors = binary.LittleEndian.AppendUint32(m.Colors, color)
		}
	}
	first, last := 0, 2
	if to.mirrors() {
		first, last = last, first
	}
	for c := s.corners; len(c) >= 3; c = c[3:] {
		m.Indices = append(m.Indices, base+c[first], base+c[1], base+c[last])
	}
}
