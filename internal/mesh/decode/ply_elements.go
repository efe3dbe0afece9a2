package decode

import (
	"math"

	"github.com/meshyard/meshyard/internal/mesh"
)

// columnsPLY says which properties of an element are of interest, and holds them for one thing.
type columnsPLY struct {
	field   []int      // of each property its place in values, or -1
	list    int        // the property that lists the corners, -1 where there is none
	values  [7]float64 // x, y, z, red, green, blue, alpha
	colored bool
	brights [4]float64 // what the channels are where they are brightest; 0 of fractions
}

// namesPLY are the names of the properties in values: those that the format has, and what some programs write.
var namesPLY = [7][]string{
	{"x"}, {"y"}, {"z"}, {"red", "diffuse_red", "r"}, {"green", "diffuse_green", "g"}, {"blue", "diffuse_blue", "b"}, {"alpha", "diffuse_alpha", "a"},
}

func (e *elementPLY) columns() *columnsPLY {
	c := &columnsPLY{list: e.column(true, "vertex_indices", "vertex_index"), field: make([]int, len(e.properties)), colored: true}
	for i := range c.field {
		c.field[i] = -1
	}
	c.values[6] = math.NaN()
	for i, names := range namesPLY {
		at := e.column(false, names...)
		if at < 0 {
			c.colored = c.colored && (i < 3 || i == 6)
			continue
		}
		c.field[at] = i
		if i < 3 {
			continue
		}
		switch of := e.properties[at].of; {
		case of == uint16PLY:
			c.brights[i-3] = 0xFFFF
		case of.whole():
			c.brights[i-3] = 0xFF
		}
	}
	return c
}

// color gives the colour of the thing that was read last.
func (c *columnsPLY) color() uint32 {
	channels := [4]float64(c.values[3:])
	for i, bright := range c.brights {
		if bright > 0 {
			channels[i] /= bright
		}
	}
	return guessColor(channels)
}

// vertices reads the vertices: again, when it is known where they are, if they are far from zero.
func (p *plyFile) vertices() error {
	i := p.header.find("vertex")
	if i < 0 {
		return mesh.Errorf(mesh.Malformed, "The PLY file has no element vertex.")
	}
	e := &p.header.elements[i]
	c := e.columns()
	for _, names := range namesPLY[:3] {
		if e.column(false, names...) < 0 {
			return mesh.Errorf(mesh.Malformed, "The element vertex of the PLY file has no property %s.", names[0])
		}
	}
	return p.faces.vertices(e.count, func(box *extent) error {
		if err := p.seek(i); err != nil {
			return err
		}
		for range e.count {
			if err := p.thing(e, c); err != nil {
				return err
			}
			if err := p.faces.vertex([3]float64(c.values[:3]), box); err != nil {
				return err
			}
			if c.colored {
				p.faces.color(c.color())
			}
		}
		p.at = i + 1
		return nil
	})
}

// polygons reads the faces or strips of element i.
func (p *plyFile) polygons(i int, e *elementPLY) error {
	c := e.columns()
	switch {
	case e.count == 0:
		return nil
	case c.list < 0:
		return mesh.Errorf(mesh.Malformed, "The element %s of the PLY file has no list vertex_indices.", e.name)
	}
	if err := p.seek(i); err != nil {
		return err
	}
	p.faces.expect(min(e.count, p.there/p.header.leastTriangle(e.properties[c.list])))
	for range e.count {
		if err := p.thing(e, c); err != nil {
			return err
		}
		color := uint32(plain)
		if c.colored {
			color = c.color()
		}
		end := p.faces.face
		if e.name == "tristrips" {
			end = p.faces.strips
		}
		if err := end(color); err != nil {
			return err
		}
	}
	p.at = i + 1
	return nil
}

// leastTriangle gives the bytes that a list of three corners takes at least.
func (h *headerPLY) leastTriangle(list propertyPLY) int64 {
	if h.order == nil {
		return int64(len("3 0 1 2 "))
	}
	return int64(list.list.size() + 3*list.of.size())
}

// thing reads what is of interest of a thing of an element.
func (p *plyFile) thing(e *elementPLY, c *columnsPLY) error {
	for i, property := range e.properties {
		var err error
		switch {
		case i == c.list:
			err = p.corners(property, e.name == "tristrips")
		case c.field[i] >= 0:
			c.values[c.field[i]], err = p.body.number(property.of)
		default:
			err = p.pass(property)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// corners reads the corners of a polygon, or of strips, between which there is -1.
func (p *plyFile) corners(list propertyPLY, strips bool) error {
	n, err := p.length(list)
	if err != nil {
		return err
	}
	f := p.faces
	f.corners = f.corners[:0]
	for range n {
		v, err := p.body.number(list.of)
		switch {
		case err != nil:
			return err
		case strips && v == -1:
		case !(v >= 0 && v < float64(f.m.Vertices())) || v != float64(int64(v)):
			return mesh.Errorf(mesh.Malformed, "The PLY file has a face with the vertex %v after %d triangles: there are %d vertices, counted from 0.",
				v, len(f.m.Indices)/3, f.m.Vertices())
		}
		f.corners = append(f.corners, int64(v))
	}
	return nil
}
