package geometry

import (
	"context"
	"math"

	"github.com/meshyard/meshyard/internal/mesh"
)

// Object is a part of a file that can be used several times: a shape, instances of other objects,
// or both.
type Object struct {
	Shape     *Shape
	Instances []Instance
	// Set by Scene.Count:
	state              countState
	triangles, outputs int64 // totals over all instances
	// number of placed shapes and objects with triangles, counting each instance
	placements int64
	height     int // of the tree of instances below this object
}

type countState uint8

const (
	uncounted countState = iota
	counting
	done
)

// Instance is an object placed by a transform.
type Instance struct {
	Object    *Object
	Transform Transform
}

// Scene is everything that a file shows.
type Scene struct {
	Format    string // names the file format in error messages
	Limits    mesh.Limits
	Instances []Instance
}

// Count counts the triangles of o before memory is allocated for them, and rejects cycles and
// instances nested deeper than Limits.Depth. It visits each object once, so a small file whose
// instances multiply is rejected fast.
func (s *Scene) Count(o *Object, depth int) error {
	switch {
	case o.state == counting:
		return mesh.Errorf(mesh.Malformed, "An object of the %s file contains itself.", s.Format)
	case depth+o.height > s.Limits.Depth:
		return mesh.Errorf(mesh.TooLarge, "The objects of the %s file contain each other more than %d deep.", s.Format,
			s.Limits.Depth)
	case o.state == done:
		return nil
	}
	o.state = counting
	if o.Shape != nil {
		o.triangles, o.outputs = int64(o.Shape.Triangles()), int64(len(o.Shape.Sources))
	}
	o.placements = 1
	for _, u := range o.Instances {
		if err := s.Count(u.Object, depth+1); err != nil {
			return err
		}
		o.triangles = AddSaturating(o.triangles, u.Object.triangles)
		o.outputs = AddSaturating(o.outputs, u.Object.outputs)
		if u.Object.triangles > 0 {
			o.placements = AddSaturating(o.placements, u.Object.placements)
		}
		o.height = max(o.height, u.Object.height+1)
	}
	o.state = done
	return nil
}

// AddSaturating returns a + b, or math.MaxInt64 if the sum overflows. Both must be non-negative.
func AddSaturating(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// Triangles returns the number of triangles that the scene shows, counting each instance. It is at
// most Limits.Triangles, or Triangles returns an error.
func (s *Scene) Triangles() (int64, error) {
	root, err := s.root()
	return root.triangles, err
}

// root returns an object with the whole scene, after checking the counts against the limits.
func (s *Scene) root() (*Object, error) {
	root := &Object{Instances: s.Instances}
	if err := s.Count(root, 0); err != nil {
		return root, err
	}
	if root.triangles > s.Limits.Triangles {
		return root, mesh.Errorf(mesh.TooLarge, "The %s file shows too many triangles: at most %d are supported.", s.Format,
			s.Limits.Triangles)
	}
	// the scene itself does not count
	if placements := root.placements - 1; placements > s.Limits.Elements {
		return root, mesh.Errorf(mesh.TooLarge,
			"The %s file places its objects more than %d times, counting each use inside an assembly.", s.Format,
			s.Limits.Elements)
	}
	return root, nil
}

// Fill adds the triangles of the scene to m, after checking their number against the limits. A
// scene without triangles is not an error.
func (s *Scene) Fill(ctx context.Context, m *mesh.Mesh) error {
	root, err := s.root()
	if err != nil {
		return err
	}
	return Assemble(ctx, s.Format, m, int(root.triangles), int(root.outputs),
		func(visit func(*Shape, Transform) error) error {
			return walk(root, Identity, visit)
		})
}

// walk visits each instance of each shape in file order. It skips objects without triangles.
func walk(o *Object, to Transform, visit func(*Shape, Transform) error) error {
	if o.triangles == 0 {
		return nil // a tree of empty objects could have an unbounded number of instances
	}
	if o.Shape != nil {
		if err := visit(o.Shape, to); err != nil {
			return err
		}
	}
	for _, u := range o.Instances {
		if err := walk(u.Object, u.Transform.Then(to), visit); err != nil {
			return err
		}
	}
	return nil
}
