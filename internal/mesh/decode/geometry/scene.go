package geometry

import (
	"context"
	"math"

	"github.com/meshyard/meshyard/internal/mesh"
)

// object is what can be used several times in a file: a shape, or uses of other objects, or both.
type Object struct {
	Shape     *Shape
	Instances []Instance
	// What follows is known once it is counted.
	state              countState
	triangles, outputs int64 // each use counted
	placements         int64 // of shapes and of objects that have some, each use counted
	height             int   // of the tree below it
}

type countState uint8

const (
	uncounted countState = iota
	counting
	done
)

// use is an object at a place.
type Instance struct {
	Object    *Object
	Transform Transform
}

// scene is all that a file shows.
type Scene struct {
	Format    string // of the format
	Limits    mesh.Limits
	Instances []Instance
}

// count counts the triangles of an object before anything is made of them. Each object is looked at once, so that a few that use each other
// twice are counted and refused at once, however many their product is.
func (s *Scene) Count(o *Object, depth int) error {
	switch {
	case o.state == counting:
		return mesh.Errorf(mesh.Malformed, "An object of the %s file contains itself.", s.Format)
	case depth+o.height > s.Limits.Depth:
		return mesh.Errorf(mesh.TooLarge, "The objects of the %s file contain each other more than %d deep.", s.Format, s.Limits.Depth)
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

func AddSaturating(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// fill counts what the scene shows and puts it into m. It leaves m without a triangle where there is none.
func (s *Scene) Fill(ctx context.Context, m *mesh.Mesh) error {
	root := &Object{Instances: s.Instances}
	if err := s.Count(root, 0); err != nil {
		return err
	}
	if root.triangles > s.Limits.Triangles {
		return mesh.Errorf(mesh.TooLarge, "The %s file shows more than %d triangles, which is the most that is read.", s.Format, s.Limits.Triangles)
	}
	if placements := root.placements - 1; placements > s.Limits.Elements { // less the scene itself
		return mesh.Errorf(mesh.TooLarge, "The %s file places its objects more than %d times, counting each use inside an assembly.", s.Format, s.Limits.Elements)
	}
	return Assemble(ctx, s.Format, m, int(root.triangles), int(root.outputs), func(visit func(*Shape, Transform) error) error {
		return walk(root, Identity, visit)
	})
}

// walk visits each shape at each place where it has a triangle, in the order of the file.
func walk(o *Object, to Transform, visit func(*Shape, Transform) error) error {
	if o.triangles == 0 {
		return nil // else objects with nothing in them could keep us for ever
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
