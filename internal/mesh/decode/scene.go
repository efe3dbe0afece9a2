package decode

import (
	"context"
	"math"

	"github.com/meshyard/meshyard/internal/mesh"
)

// transform takes points as row vectors: three rows of a matrix, then what is added.
type transform [12]float64

var identity = transform{1, 0, 0, 0, 1, 0, 0, 0, 1}

func (t *transform) apply(p [3]float64) [3]float64 {
	return [3]float64{
		p[0]*t[0] + p[1]*t[3] + p[2]*t[6] + t[9],
		p[0]*t[1] + p[1]*t[4] + p[2]*t[7] + t[10],
		p[0]*t[2] + p[1]*t[5] + p[2]*t[8] + t[11],
	}
}

// then gives the transform that takes a point through t and then through u.
func (t transform) then(u transform) transform {
	x, y, z := u.turn(t[0:3]), u.turn(t[3:6]), u.turn(t[6:9])
	at := u.apply([3]float64(t[9:12]))
	return transform{x[0], x[1], x[2], y[0], y[1], y[2], z[0], z[1], z[2], at[0], at[1], at[2]}
}

// turn takes a direction.
func (t transform) turn(row []float64) [3]float64 {
	t[9], t[10], t[11] = 0, 0, 0
	return t.apply([3]float64(row))
}

// mirrors tells whether a transform turns what is outside inside.
func (t *transform) mirrors() bool {
	return t[0]*(t[4]*t[8]-t[5]*t[7])-t[1]*(t[3]*t[8]-t[5]*t[6])+t[2]*(t[3]*t[7]-t[4]*t[6]) < 0
}

// object is what can be used several times in a file: a shape, or uses of other objects, or both.
type object struct {
	shape *solid
	uses  []use
	// What follows is known once it is counted.
	state             counted
	triangles, places int64 // each use counted
	placements        int64 // of shapes and of objects that have some, each use counted
	height            int   // of the tree below it
}

type counted uint8

const (
	uncounted counted = iota
	counting
	done
)

// use is an object at a place.
type use struct {
	object *object
	to     transform
}

// scene is all that a file shows.
type scene struct {
	name   string // of the format
	limits mesh.Limits
	uses   []use
}

// count counts the triangles of an object before anything is made of them. Each object is looked at once, so that a few that use each other
// twice are counted and refused at once, however many their product is.
func (s *scene) count(o *object, depth int) error {
	switch {
	case o.state == counting:
		return mesh.Errorf(mesh.Malformed, "An object of the %s file contains itself.", s.name)
	case depth+o.height > s.limits.Depth:
		return mesh.Errorf(mesh.TooLarge, "The objects of the %s file contain each other more than %d deep.", s.name, s.limits.Depth)
	case o.state == done:
		return nil
	}
	o.state = counting
	if o.shape != nil {
		o.triangles, o.places = int64(o.shape.triangles()), int64(len(o.shape.from))
	}
	o.placements = 1
	for _, u := range o.uses {
		if err := s.count(u.object, depth+1); err != nil {
			return err
		}
		o.triangles = saturated(o.triangles, u.object.triangles)
		o.places = saturated(o.places, u.object.places)
		if u.object.triangles > 0 {
			o.placements = saturated(o.placements, u.object.placements)
		}
		o.height = max(o.height, u.object.height+1)
	}
	o.state = done
	return nil
}

func saturated(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// fill counts what the scene shows and puts it into m. It leaves m without a triangle where there is none.
func (s *scene) fill(ctx context.Context, m *mesh.Mesh) error {
	root := &object{uses: s.uses}
	if err := s.count(root, 0); err != nil {
		return err
	}
	if root.triangles > s.limits.Triangles {
		return mesh.Errorf(mesh.TooLarge, "The %s file shows more than %d triangles, which is the most that is read.", s.name, s.limits.Triangles)
	}
	if placements := root.placements - 1; placements > s.limits.Elements { // less the scene itself
		return mesh.Errorf(mesh.TooLarge, "The %s file places its objects more than %d times, counting each use inside an assembly.", s.name, s.limits.Elements)
	}
	a := assembly{name: s.name, m: m, ctx: ctx}
	return a.fill(int(root.triangles), int(root.places), func(visit func(*solid, transform) error) error {
		return walk(root, identity, visit)
	})
}

// walk visits each shape at each place where it has a triangle, in the order of the file.
func walk(o *object, to transform, visit func(*solid, transform) error) error {
	if o.triangles == 0 {
		return nil // else objects with nothing in them could keep us for ever
	}
	if o.shape != nil {
		if err := visit(o.shape, to); err != nil {
			return err
		}
	}
	for _, u := range o.uses {
		if err := walk(u.object, u.to.then(to), visit); err != nil {
			return err
		}
	}
	return nil
}
