package ply

import (
	"math"
	"strings"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode/geometry"
)

// columns maps the relevant properties of an element and holds their values for one row.
type columns struct {
	field      []int      // for each property its index in values, or -1
	list       int        // the property that lists the corners, or -1
	values     [7]float64 // x, y, z, red, green, blue, alpha
	colored    bool
	channelMax [4]float64 // the maximum of each channel; 0 for fractions from 0 to 1
	harmonics  bool       // the channels are spherical harmonics, as of Gaussian splats
}

// columnNames are the property names for each index in values: the standard name and variants.
var columnNames = [7][]string{
	{"x"}, {"y"}, {"z"}, {"red", "diffuse_red", "r", "f_dc_0"}, {"green", "diffuse_green", "g", "f_dc_1"},
	{"blue", "diffuse_blue", "b", "f_dc_2"},
	{"alpha", "diffuse_alpha", "a"},
}

func (e *element) columns() *columns {
	c := &columns{list: e.column(true, "vertex_indices", "vertex_index"), field: make([]int, len(e.properties)),
		colored: true}
	for i := range c.field {
		c.field[i] = -1
	}
	c.values[6] = math.NaN()
	for i, names := range columnNames {
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
		case strings.HasPrefix(e.properties[at].name, "f_dc_"):
			c.harmonics = true
		case of == uint16Type:
			c.channelMax[i-3] = 0xFFFF
		case of.isInteger():
			c.channelMax[i-3] = 0xFF
		}
	}
	return c
}

// color returns the color of the current row.
func (c *columns) color() uint32 {
	channels := [4]float64(c.values[3:])
	for i, bright := range c.channelMax {
		if bright > 0 {
			channels[i] /= bright
		}
	}
	if c.harmonics {
		// the color that is the same in all directions, without those that depend on it
		for i := range 3 {
			channels[i] = max(0, min(1, 0.5+channels[i]/math.Sqrt(4*math.Pi)))
		}
	}
	return geometry.NormalizeColor(channels)
}

// readVertices reads the vertices, in two passes if they are far from zero.
func (p *file) readVertices() error {
	i := p.header.find("vertex")
	if i < 0 {
		return mesh.Errorf(mesh.Malformed, "The PLY file has no element vertex.")
	}
	e := &p.header.elements[i]
	c := e.columns()
	for _, names := range columnNames[:3] {
		if e.column(false, names...) < 0 {
			return mesh.Errorf(mesh.Malformed, "The element vertex of the PLY file has no property %s.", names[0])
		}
	}
	return p.faces.ReadVertices(e.count, func(box *geometry.Bounds) error {
		if err := p.seek(i); err != nil {
			return err
		}
		for range e.count {
			if err := p.readRow(e, c); err != nil {
				return err
			}
			if err := p.faces.AddVertex([3]float64(c.values[:3]), box); err != nil {
				return err
			}
			if c.colored {
				p.faces.SetColor(c.color())
			}
		}
		p.current = i + 1
		return nil
	})
}

// readFaces reads the faces or strips of element i.
func (p *file) readFaces(i int, e *element) error {
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
	p.faces.Grow(min(e.count, p.bodySize/p.header.minTriangleSize(e.properties[c.list])))
	for range e.count {
		if err := p.readRow(e, c); err != nil {
			return err
		}
		color := uint32(geometry.NoColor)
		if c.colored {
			color = c.color()
		}
		end := p.faces.AddFace
		if e.name == "tristrips" {
			end = p.faces.AddStrips
		}
		if err := end(color); err != nil {
			return err
		}
	}
	p.current = i + 1
	return nil
}

// minTriangleSize returns the minimum number of bytes of a list of three corners.
func (h *header) minTriangleSize(list property) int64 {
	if h.order == nil {
		return int64(len("3 0 1 2 "))
	}
	return int64(list.list.size() + 3*list.of.size())
}

// readRow reads the relevant values of one row of an element.
func (p *file) readRow(e *element, c *columns) error {
	for i, property := range e.properties {
		var err error
		switch {
		case i == c.list:
			err = p.readCorners(property, e.name == "tristrips")
		case c.field[i] >= 0:
			c.values[c.field[i]], err = p.body.number(property.of)
		default:
			err = p.skip(property)
		}
		if err != nil {
			return err
		}
	}
	return p.body.endRow()
}

// readCorners reads the corners of a polygon, or of strips separated by -1.
func (p *file) readCorners(list property, strips bool) error {
	n, err := p.readLength(list)
	if err != nil {
		return err
	}
	f := p.faces
	f.Corners = f.Corners[:0]
	for range n {
		v, err := p.body.number(list.of)
		switch {
		case err != nil:
			return err
		case strips && v == -1:
		case !(v >= 0 && v < float64(f.Mesh.Vertices())) || v != float64(int64(v)):
			return mesh.Errorf(mesh.Malformed,
				"%s of the PLY file has a face with the vertex %v: there are %d vertices, counted from 0.",
				p.body.place(list.of), v, f.Mesh.Vertices())
		}
		f.Corners = append(f.Corners, int64(v))
	}
	return nil
}
