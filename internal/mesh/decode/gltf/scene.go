package gltf

import (
	"slices"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode/geometry"
)

// sceneBuilder builds the mesh of the default scene.
type sceneBuilder struct {
	*file
	uses   []instance
	meshes map[int]*resolvedMesh
	poses  map[ref]*pose // of each skin
	shapes map[skinnedMesh][]*geometry.Shape
}

// fillMesh adds the instances to m. It counts all triangles before it allocates memory for them.
func (f *file) fillMesh(m *mesh.Mesh, uses []instance, progress func(float64)) error {
	s := sceneBuilder{f, uses, map[int]*resolvedMesh{}, map[ref]*pose{0: nil}, map[skinnedMesh][]*geometry.Shape{}}
	triangles, points, err := s.count()
	most := f.limits.Triangles
	switch {
	case err != nil:
		return err
	case triangles > most:
		return mesh.Errorf(mesh.TooLarge, "The %s file shows %d triangles, and at most %d are read.", f.name, triangles, most)
	case triangles == 0 && points > most:
		return mesh.Errorf(mesh.TooLarge, "The %s file shows %d points, and at most %d are read.", f.name, points, most)
	case triangles == 0 && points == 0:
		return mesh.Errorf(mesh.Empty, "The scene of the %s file shows neither triangles nor points.", f.name)
	}
	m.Cloud = triangles == 0
	if err := s.build(triangles, progress); err != nil {
		return err
	}
	places := 0
	for _, u := range uses {
		for _, shape := range s.shapes[u.skinnedMesh] {
			places += len(shape.Sources)
		}
	}
	err = geometry.Assemble(f.ctx, f.name, m, int(triangles), places,
		func(visit func(*geometry.Shape, geometry.Transform) error) error {
			for _, u := range uses {
				to := u.to
				if u.skin != 0 {
					to = geometry.Identity
				}
				for _, shape := range s.shapes[u.skinnedMesh] {
					if err := visit(shape, to); err != nil {
						return err
					}
				}
			}
			return nil
		})
	if m.Cloud {
		m.Indices = nil
	}
	if err == nil && (m.Vertices() == 0 || !m.Cloud && m.Triangles() == 0) {
		return mesh.Errorf(mesh.Malformed, "The %s file has no triangles or points whose coordinates are finite numbers.",
			f.name)
	}
	return err
}

// count returns the numbers of triangles and points, counting each instance. It removes skins that
// do not apply from the instances.
func (s *sceneBuilder) count() (triangles, points int64, err error) {
	primitives := int64(0)
	for i, u := range s.uses {
		m := s.meshes[u.mesh]
		if m == nil {
			if m, err = s.mesh(u.mesh, &primitives); err != nil {
				return 0, 0, err
			}
			s.meshes[u.mesh] = m
		}
		if u.skin != 0 {
			if applies, err := s.bind(m); err != nil {
				return 0, 0, err
			} else if !applies {
				s.uses[i].skin = 0
			}
		}
		triangles, points = geometry.AddSaturating(triangles, m.triangles), geometry.AddSaturating(points, m.points)
	}
	return triangles, points, nil
}

// build builds the shapes of the meshes with each of their skins: of points if there are no
// triangles. triangles is their number in the scene.
func (s *sceneBuilder) build(triangles int64, progress func(float64)) (err error) {
	total, done := int64(0), int64(0)
	for _, m := range s.meshes {
		m.primitives = slices.DeleteFunc(m.primitives, func(p *primitive) bool { return p.isHidden(triangles == 0) })
		total += m.triangles + m.points
	}
	if err := s.loadTextures(triangles); err != nil {
		return err
	}
	var slots []uint32
	for _, u := range s.uses {
		if _, built := s.shapes[u.skinnedMesh]; built {
			continue
		}
		pose, known := s.poses[u.skin]
		if !known {
			if pose, err = s.pose(u.skin); err != nil {
				return err
			}
			s.poses[u.skin] = pose
		}
		weights := s.file.meshes[u.mesh].Weights
		if u.weights != 0 {
			weights = s.nodes[u.weights-1].Weights
		}
		primitives := s.meshes[u.mesh].primitives
		shapes := make([]*geometry.Shape, len(primitives))
		for i, p := range primitives {
			if p.morphs, err = s.morphs(p, weights); err != nil {
				return err
			}
			if shapes[i], slots, err = s.buildShape(p, pose, slots); err != nil {
				return err
			}
			done += p.triangles() + p.points()
			progress(0.9 * float64(done) / float64(total))
		}
		s.shapes[u.skinnedMesh] = shapes
	}
	return nil
}
