// Package geometry builds meshes from what the decoders parse: instances of shared objects,
// polygons of any number of corners, colors of faces and materials.
package geometry

import (
	"context"
	"encoding/binary"
	"math"

	"github.com/meshyard/meshyard/internal/mesh"
)

// IndexableLimits returns limits that are small enough for the corners of all triangles to be
// counted in 32 bits.
func IndexableLimits(limits mesh.Limits) mesh.Limits {
	limits.Triangles = min(limits.Triangles, math.MaxUint32/3)
	return limits
}

// Assemble adds the shapes that walk visits to m. triangles and outputs are their total numbers of
// triangles and output vertices. format names the file format in error messages. Assemble calls
// walk twice: first to find the bounding box and choose m.Origin, then to convert the coordinates.
// In this way the transformed coordinates are never held in double precision.
func Assemble(ctx context.Context, format string, m *mesh.Mesh, triangles, outputs int,
	walk func(visit func(*Shape, Transform) error) error) error {
	var box Bounds
	painted, patches := false, 0
	err := walk(func(s *Shape, to Transform) error {
		painted, patches = painted || s.Colors != nil || len(s.Patches) > 0, min(patches+len(s.Patches), mesh.MaxPatches)
		for i := range s.Sources {
			if !box.Add(to.Apply(s.point(i))) {
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
	m.Positions = make([]float32, 0, 3*outputs)
	m.Indices = make([]uint32, 0, 3*triangles)
	if painted {
		m.Colors = make([]uint8, 0, 4*outputs)
	}
	if patches > 0 {
		m.Patches = make([]mesh.Patch, 0, patches)
	}
	return walk(func(s *Shape, to Transform) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		appendShape(m, s, to)
		return nil
	})
}

// appendShape appends one transformed shape to m.
func appendShape(m *mesh.Mesh, s *Shape, to Transform) {
	base := uint32(m.Vertices())
	for i := range s.Sources {
		p := to.Apply(s.point(i))
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
	for _, p := range s.Patches[:min(len(s.Patches), cap(m.Patches)-len(m.Patches))] {
		p.Triangle += m.Triangles()
		p.UV[0], p.UV[2], p.Tint[0], p.Tint[2] = p.UV[first], p.UV[last], p.Tint[first], p.Tint[last]
		m.Patches = append(m.Patches, p)
	}
	for c := s.Corners; len(c) >= 3; c = c[3:] {
		m.Indices = append(m.Indices, base+c[first], base+c[1], base+c[last])
	}
}
