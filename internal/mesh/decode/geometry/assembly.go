package geometry

import (
	"context"
	"encoding/binary"
	"math"

	"github.com/meshyard/meshyard/internal/mesh"
)

// indexable gives limits under which 32 bits count the corners of all triangles.
func IndexableLimits(limits mesh.Limits) mesh.Limits {
	limits.Triangles = min(limits.Triangles, math.MaxUint32/3)
	return limits
}

// fill puts what walk visits into the mesh: so many triangles and places, counted before. It walks twice, first to find an origin, so that
// full precision is held for no more than what the file holds.
func Assemble(ctx context.Context, format string, m *mesh.Mesh, triangles, places int, walk func(visit func(*Shape, Transform) error) error) error {
	var box Bounds
	painted := false
	err := walk(func(s *Shape, to Transform) error {
		painted = painted || s.Colors != nil
		for i := range s.Sources {
			if !box.Add(to.apply(s.point(i))) {
				return mesh.Errorf(mesh.Malformed, "The %s file has a vertex farther than %g from zero.", format, MaxCoordinate)
			}
			if i&0xFFF == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	m.Origin = box.Origin()
	m.Positions = make([]float32, 0, 3*places)
	m.Indices = make([]uint32, 0, 3*triangles)
	if painted {
		m.Colors = make([]uint8, 0, 4*places)
	}
	return walk(func(s *Shape, to Transform) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		appendShape(m, s, to)
		return nil
	})
}

func appendShape(m *mesh.Mesh, s *Shape, to Transform) {
	base := uint32(m.Vertices())
	for i := range s.Sources {
		p := to.apply(s.point(i))
		m.Positions = append(m.Positions, float32(p[0]-m.Origin[0]), float32(p[1]-m.Origin[1]), float32(p[2]-m.Origin[2]))
		if m.Colors != nil {
			color := uint32(NoColor)
			if s.Colors != nil {
				color = s.Colors[i]
			}
			m.Colors = binary.LittleEndian.AppendUint32(m.Colors, color)
		}
	}
	first, last := 0, 2
	if to.mirrors() {
		first, last = last, first
	}
	for c := s.Corners; len(c) >= 3; c = c[3:] {
		m.Indices = append(m.Indices, base+c[first], base+c[1], base+c[last])
	}
}
