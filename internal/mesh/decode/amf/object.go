package amf

import (
	"math"
	"strings"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode/geometry"
	"github.com/meshyard/meshyard/internal/mesh/decode/textscan"
)

// countElement counts an element towards Limits.Elements.
func (a *file) countElement() error {
	if a.elements++; a.elements > a.limits.Elements {
		return mesh.Errorf(mesh.TooLarge, "The AMF file has more than %d objects, volumes, instances and materials.",
			a.limits.Elements)
	}
	return nil
}

// object reads an object or a constellation.
func (a *file) object() error {
	if err := a.countElement(); err != nil {
		return err
	}
	known := a.objects
	if string(a.LocalName()) == "constellation" {
		known = a.constellations
	}
	o := &object{}
	if id := a.Attr("id"); id != nil { // without it, no constellation can use the object
		if known[string(id)] != nil {
			return a.Errorf(mesh.Malformed, "has a second object with the id %s", textscan.Quote(id))
		}
		known[string(id)] = o
	}
	a.order = append(a.order, o)
	return a.EachChild(func() (err error) {
		switch string(a.LocalName()) {
		case "mesh":
			if o.Shape == nil {
				o.Shape = &geometry.Shape{}
			}
			return a.EachChild(func() error { return a.shape(o) })
		case "instance":
			return a.instance(o)
		case "color":
			o.color, err = a.color()
		}
		return err
	})
}

// shape reads the vertices or a volume of an object.
func (a *file) shape(o *object) error {
	switch string(a.LocalName()) {
	case "vertices":
		return a.EachChild(func() error {
			if string(a.LocalName()) != "vertex" {
				return nil
			}
			return a.vertex(o)
		})
	case "volume":
		if err := a.countElement(); err != nil {
			return err
		}
		at := len(o.volumes)
		o.volumes = append(o.volumes, volume{first: o.Shape.Triangles(), material: string(a.Attr("materialid"))})
		return a.EachChild(func() (err error) {
			switch string(a.LocalName()) {
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

func (a *file) vertex(o *object) error {
	if a.vertices++; a.vertices > 3*a.limits.Triangles {
		return mesh.Errorf(mesh.TooLarge, "The AMF file has too many vertices: at most %d are supported.",
			3*a.limits.Triangles)
	}
	vertex := len(o.Shape.Vertices) / 3
	var p [3]float64
	seen := 0
	err := a.EachChild(func() error {
		switch string(a.LocalName()) {
		case "coordinates":
			return a.EachChild(func() error {
				axis := axisIndex(a.LocalName(), "")
				if axis < 0 {
					return nil
				}
				seen |= 1 << axis
				return a.number(&p[axis])
			})
		case "color":
			c, err := a.color()
			o.vertexColors = setColor(o.vertexColors, vertex, c)
			return err
		}
		return nil
	})
	if err != nil {
		return err
	}
	if seen != 7 {
		return a.Errorf(mesh.Malformed, "has a vertex without x, y or z")
	}
	o.Shape.Vertices = append(o.Shape.Vertices, p[0], p[1], p[2])
	return nil
}

// setColor sets colors[i] and extends the slice as needed.
func setColor(colors []optionalColor, i int, c optionalColor) []optionalColor {
	if !c.valid {
		return colors
	}
	for len(colors) <= i {
		colors = append(colors, optionalColor{})
	}
	colors[i] = c
	return colors
}

// axisIndex returns 0, 1 or 2 for x, y or z after a prefix, and -1 for other names.
func axisIndex(name []byte, prefix string) int {
	if len(name) != len(prefix)+1 || string(name[:len(prefix)]) != prefix {
		return -1
	}
	if axis := name[len(prefix)] - 'x'; axis <= 2 {
		return int(axis)
	}
	return -1
}

func (a *file) triangle(o *object) error {
	if a.triangles++; a.triangles > a.limits.Triangles {
		return mesh.Errorf(mesh.TooLarge, "The AMF file has too many triangles: at most %d are supported.",
			a.limits.Triangles)
	}
	corners := [3]int64{-1, -1, -1}
	index := o.Shape.Triangles()
	err := a.EachChild(func() error {
		name := a.LocalName()
		switch {
		case len(name) == 2 && name[0] == 'v' && name[1] >= '1' && name[1] <= '3':
			i := name[1] - '1'
			text, err := a.Text()
			if err != nil {
				return err
			}
			v, ok := textscan.ParseInt(text)
			if !ok {
				return a.Errorf(mesh.Malformed, "has the vertex %s where a number is expected", textscan.Quote(text))
			}
			corners[i] = v
		case string(name) == "color":
			c, err := a.color()
			o.triangleColors = setColor(o.triangleColors, index, c)
			return err
		}
		return nil
	})
	if err != nil {
		return err
	}
	known := int64(len(o.Shape.Vertices) / 3)
	for i, v := range corners {
		if v < 0 || v >= known {
			return a.Errorf(mesh.Malformed, "has a triangle with vertex v%d=%d, where the mesh has %d vertices, counted from 0",
				i+1, v, known)
		}
		o.Shape.Corners = append(o.Shape.Corners, uint32(v))
	}
	return nil
}

// instance reads a use of an object in a constellation.
func (a *file) instance(o *object) error {
	if err := a.countElement(); err != nil {
		return err
	}
	id := string(a.Attr("objectid"))
	// Slic3r and PrusaSlicer add factors, which the specification does not have, and write the angles
	// in radians.
	var angles, delta [3]float64
	factors, scaled := [3]float64{1, 1, 1}, false
	err := a.EachChild(func() error {
		name := a.LocalName()
		if axis := axisIndex(name, "delta"); axis >= 0 {
			return a.number(&delta[axis])
		}
		if axis := axisIndex(name, "r"); axis >= 0 {
			return a.number(&angles[axis])
		}
		axis := max(axisIndex(name, "scale"), axisIndex(name, "mirror"))
		if axis < 0 && string(name) != "scale" {
			return nil
		}
		var factor float64
		err := a.number(&factor)
		for i := range factors {
			if axis < 0 || i == axis {
				factors[i] *= factor
			}
		}
		scaled = true
		return err
	})
	if !scaled {
		for i := range angles {
			angles[i] *= math.Pi / 180
		}
	}
	o.references = append(o.references, reference{id, instanceTransform(factors, angles, delta)})
	return err
}

func (a *file) material() error {
	if err := a.countElement(); err != nil {
		return err
	}
	id := string(a.Attr("id"))
	if id == "" {
		return nil
	}
	return a.EachChild(func() (err error) {
		if string(a.LocalName()) == "color" {
			a.materials[id], err = a.color()
		}
		return err
	})
}

// color reads red, green, blue and alpha from 0 to 1. A color formula counts as missing.
func (a *file) color() (optionalColor, error) {
	c := [4]float64{3: 1}
	numbers := 0
	err := a.EachChild(func() error {
		name := a.LocalName()
		if len(name) != 1 {
			return nil
		}
		i := strings.IndexByte("rgba", name[0])
		if i < 0 {
			return nil
		}
		text, err := a.Text()
		if x, ok := textscan.ParseFloat(text); ok {
			c[i] = x
			numbers |= 1 << i
		}
		return err
	})
	return optionalColor{geometry.RGBA(c[0], c[1], c[2], c[3]), numbers&7 == 7}, err
}

// number reads the content of the current element as a number.
func (a *file) number(x *float64) error {
	text, err := a.Text()
	if err != nil {
		return err
	}
	n, ok := textscan.ParseFloat(text)
	if !ok {
		return a.Errorf(mesh.Malformed, "has %s where a number is expected", textscan.Quote(text))
	}
	*x = n
	return nil
}
