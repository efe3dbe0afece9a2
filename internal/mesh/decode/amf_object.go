package decode

import (
	"strings"

	"github.com/meshyard/meshyard/internal/mesh"
)

// tally counts one of what a file may hold in any number.
func (a *amfFile) tally() error {
	if a.elements++; a.elements > a.limits.Elements {
		return mesh.Errorf(mesh.TooLarge, "The AMF file has more than %d objects, volumes, instances and materials.", a.limits.Elements)
	}
	return nil
}

// object reads an object or a constellation.
func (a *amfFile) object() error {
	if err := a.tally(); err != nil {
		return err
	}
	id, ok := parseIndex(a.attr("id"))
	if !ok || a.objects[id] != nil {
		return a.errorf(mesh.Malformed, "has an object whose id %s is no number, or that of another one", quote(a.attr("id")))
	}
	o := &amfObject{}
	a.objects[id] = o
	a.order = append(a.order, o)
	return a.children(func() (err error) {
		switch string(a.local()) {
		case "mesh":
			if o.shape == nil {
				o.shape = &solid{}
			}
			return a.children(func() error { return a.shape(o) })
		case "instance":
			return a.instance(o)
		case "color":
			o.color, err = a.color()
		}
		return err
	})
}

// shape reads the vertices or a volume of an object.
func (a *amfFile) shape(o *amfObject) error {
	switch string(a.local()) {
	case "vertices":
		return a.children(func() error {
			if string(a.local()) != "vertex" {
				return nil
			}
			return a.vertex(o)
		})
	case "volume":
		if err := a.tally(); err != nil {
			return err
		}
		v := amfVolume{first: o.shape.triangles(), material: -1}
		if id, ok := parseIndex(a.attr("materialid")); ok {
			v.material = id
		}
		at := len(o.volumes)
		o.volumes = append(o.volumes, v)
		return a.children(func() (err error) {
			switch string(a.local()) {
			case "triangle":
				return a.triangle(o)
			case "color":
				o.volumes[at].color, err = a.color()
			}
			return err
		})
	}
	return nil
}

func (a *amfFile) vertex(o *amfObject) error {
	if a.vertices++; a.vertices > 3*a.limits.Triangles {
		return mesh.Errorf(mesh.TooLarge, "The AMF file has more than %d vertices, which is the most that is read.", 3*a.limits.Triangles)
	}
	vertex := len(o.shape.vertices) / 3
	var p [3]float64
	seen := 0
	err := a.children(func() error {
		switch string(a.local()) {
		case "coordinates":
			return a.children(func() error {
				axis := axisOf(a.local(), "")
				if axis < 0 {
					return nil
				}
				seen |= 1 << axis
				return a.number(&p[axis])
			})
		case "color":
			c, err := a.color()
			o.colors = colored(o.colors, vertex, c)
			return err
		}
		return nil
	})
	if err != nil {
		return err
	}
	if seen != 7 {
		return a.errorf(mesh.Malformed, "has a vertex without x, y or z")
	}
	o.shape.vertices = append(o.shape.vertices, p[0], p[1], p[2])
	return nil
}

// colored gives colors with the one at i set. It is only as long as what has a colour.
func colored(colors []amfColor, i int, c amfColor) []amfColor {
	if !c.some {
		return colors
	}
	for len(colors) <= i {
		colors = append(colors, amfColor{})
	}
	colors[i] = c
	return colors
}

// axisOf gives 0, 1, 2 for x, y, z behind a prefix, and -1 for what is none.
func axisOf(name []byte, prefix string) int {
	if len(name) != len(prefix)+1 || string(name[:len(prefix)]) != prefix {
		return -1
	}
	if axis := name[len(prefix)] - 'x'; axis <= 2 {
		return int(axis)
	}
	return -1
}

func (a *amfFile) triangle(o *amfObject) error {
	if a.triangles++; a.triangles > a.limits.Triangles {
		return mesh.Errorf(mesh.TooLarge, "The AMF file has more than %d triangles, which is the most that is read.", a.limits.Triangles)
	}
	corners := [3]int64{-1, -1, -1}
	index := o.shape.triangles()
	err := a.children(func() error {
		name := a.local()
		switch {
		case len(name) == 2 && name[0] == 'v' && name[1] >= '1' && name[1] <= '3':
			i := name[1] - '1'
			text, err := a.content()
			if err != nil {
				return err
			}
			v, ok := parseIndex(text)
			if !ok {
				return a.errorf(mesh.Malformed, "has the vertex %s where a number is expected", quote(text))
			}
			corners[i] = v
		case string(name) == "color":
			c, err := a.color()
			o.painted = colored(o.painted, index, c)
			return err
		}
		return nil
	})
	if err != nil {
		return err
	}
	known := int64(len(o.shape.vertices) / 3)
	for i, v := range corners {
		if v < 0 || v >= known {
			return a.errorf(mesh.Malformed, "has a triangle with vertex v%d=%d, where the mesh has %d vertices, counted from 0", i+1, v, known)
		}
		o.shape.corners = append(o.shape.corners, uint32(v))
	}
	return nil
}

// instance reads a use of an object in a constellation.
func (a *amfFile) instance(o *amfObject) error {
	if err := a.tally(); err != nil {
		return err
	}
	id, ok := parseIndex(a.attr("objectid"))
	if !ok {
		return a.errorf(mesh.Malformed, "has an instance of object %s, which is no number", quote(a.attr("objectid")))
	}
	var degrees, delta [3]float64
	err := a.children(func() error {
		if axis := axisOf(a.local(), "delta"); axis >= 0 {
			return a.number(&delta[axis])
		}
		if axis := axisOf(a.local(), "r"); axis >= 0 {
			return a.number(&degrees[axis])
		}
		return nil
	})
	o.links = append(o.links, amfLink{id, turned(degrees, delta)})
	return err
}

func (a *amfFile) material() error {
	if err := a.tally(); err != nil {
		return err
	}
	id, ok := parseIndex(a.attr("id"))
	if !ok {
		return nil
	}
	return a.children(func() (err error) {
		if string(a.local()) == "color" {
			a.materials[id], err = a.color()
		}
		return err
	})
}

// color reads red, green, blue and alpha, from 0 to 1. One that is a formula is missing.
func (a *amfFile) color() (amfColor, error) {
	c := [4]float64{3: 1}
	numbers := 0
	err := a.children(func() error {
		name := a.local()
		if len(name) != 1 {
			return nil
		}
		i := strings.IndexByte("rgba", name[0])
		if i < 0 {
			return nil
		}
		text, err := a.content()
		if x, ok := parseFloat(text); ok {
			c[i] = x
			numbers |= 1 << i
		}
		return err
	})
	return amfColor{rgba(c[0], c[1], c[2], c[3]), numbers&7 == 7}, err
}

// number reads the element that starts at the tag as a number.
func (a *amfFile) number(x *float64) error {
	text, err := a.content()
	if err != nil {
		return err
	}
	n, ok := parseFloat(text)
	if !ok {
		return a.errorf(mesh.Malformed, "has %s where a number is expected", quote(text))
	}
	*x = n
	return nil
}
