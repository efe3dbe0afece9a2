package decode

import (
	"github.com/meshyard/meshyard/internal/mesh"
)

// triangles3MF is the mesh of an object while it is read.
type triangles3MF struct {
	*modelPart
	shape *solid
	group int64  // of properties, of the object
	color uint32 // of what is given no other
	// The group that was asked for last: triangles of one group follow each other.
	palette []uint32
	of      int64
}

func (t *triangles3MF) mesh() error {
	t.of = -1
	return t.children(func() error {
		switch t.element() {
		case "vertices":
			return t.children(t.vertex)
		case "triangles":
			return t.children(t.triangle)
		}
		if string(t.local()) == "beamlattice" {
			t.beams = true
		}
		return nil
	})
}

func (t *triangles3MF) vertex() error {
	if string(t.local()) != "vertex" {
		return nil
	}
	if t.vertices++; t.vertices > 3*t.limits.Triangles {
		return mesh.Errorf(mesh.TooLarge, "The 3MF file has more than %d vertices, which is the most that is read.", 3*t.limits.Triangles)
	}
	var p [3]float64
	seen := 0
	for _, a := range t.tag.attrs {
		if len(a.name) != 1 {
			continue
		}
		axis := a.name[0] - 'x'
		if axis > 2 {
			continue
		}
		x, ok := parseFloat(a.value)
		if !ok {
			return t.errorf(mesh.Malformed, "has the coordinate %s, which is not a number", quote(a.value))
		}
		p[axis] = x
		seen |= 1 << axis
	}
	if seen != 7 {
		return t.errorf(mesh.Malformed, "has a vertex without x, y or z")
	}
	t.shape.vertices = append(t.shape.vertices, p[0], p[1], p[2])
	return nil
}

func (t *triangles3MF) triangle() error {
	if string(t.local()) != "triangle" {
		return nil
	}
	if t.triangles++; t.triangles > t.limits.Triangles {
		return mesh.Errorf(mesh.TooLarge, "The 3MF file has more than %d triangles, which is the most that is read.", t.limits.Triangles)
	}
	corners, properties := [3]int64{-1, -1, -1}, [3]int64{-1, -1, -1}
	group := t.group
	for _, a := range t.tag.attrs {
		var n *int64
		switch string(a.name) {
		case "v1":
			n = &corners[0]
		case "v2":
			n = &corners[1]
		case "v3":
			n = &corners[2]
		case "p1":
			n = &properties[0]
		case "p2":
			n = &properties[1]
		case "p3":
			n = &properties[2]
		case "pid":
			n = &group
		default:
			continue
		}
		x, ok := parseIndex(a.value)
		if !ok || x < 0 {
			return t.errorf(mesh.Malformed, "has a triangle with the %s %s where a number is expected", a.name, quote(a.value))
		}
		*n = x
	}
	known := int64(len(t.shape.vertices) / 3)
	for i, v := range corners {
		if v < 0 || v >= known {
			return t.errorf(mesh.Malformed, "has a triangle with vertex v%d=%d, where the mesh has %d vertices, counted from 0", i+1, v, known)
		}
	}
	colors := [3]uint32{t.color, t.color, t.color}
	if properties[0] >= 0 && group >= 0 {
		if group != t.of {
			t.palette, t.of = t.palettes[group], group
		}
		for i, n := range properties {
			if n < 0 {
				n = properties[0]
			}
			colors[i] = plain
			if n < int64(len(t.palette)) {
				colors[i] = t.palette[n]
			}
		}
	}
	for i, v := range corners {
		t.shape.corners = append(t.shape.corners, t.shape.at(uint32(v), colors[i]))
	}
	return nil
}

// palette reads the colours of a group of properties. One that is not understood is plain.
func (m *modelPart) palette(element, attribute string) error {
	id, err := m.number("id", -1)
	if err != nil {
		return err
	}
	var colors []uint32
	err = m.children(func() error {
		if string(m.local()) != element {
			return nil
		}
		if int64(len(colors)) >= 3*m.limits.Triangles {
			return m.errorf(mesh.TooLarge, "has more than %d colours in a group", 3*m.limits.Triangles)
		}
		colors = append(colors, hexColor(m.attr(attribute)))
		return nil
	})
	m.palettes[id] = colors
	return err
}

// color gives a colour of a group. What is in no group that is known, as a texture is, is plain.
func (m *modelPart) color(group, index int64) uint32 {
	if palette := m.palettes[group]; index < int64(len(palette)) {
		return palette[index]
	}
	return plain
}

// hexColor reads #RRGGBB or #RRGGBBAA (sRGB). Nothing is meant to be invisible: some programs write an alpha of zero for opaque.
func hexColor(b []byte) uint32 {
	if len(b) != 7 && len(b) != 9 || b[0] != '#' {
		return plain
	}
	color := uint32(plain)
	for i := 1; i < len(b); i += 2 {
		high, low := hexDigit(b[i]), hexDigit(b[i+1])
		if high > 15 || low > 15 {
			return plain
		}
		shift := (i - 1) * 4
		color = color&^(0xFF<<shift) | (high<<4|low)<<shift
	}
	if color>>24 == 0 {
		color |= 0xFF << 24
	}
	return color
}

func hexDigit(c byte) uint32 {
	switch {
	case c-'0' <= 9:
		return uint32(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return uint32(c|0x20-'a') + 10
	}
	return 16
}
