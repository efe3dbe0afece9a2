package threemf

import (
	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode/geometry"
	"github.com/meshyard/meshyard/internal/mesh/decode/textscan"
)

// meshReader is the state of reading the mesh of an object.
type meshReader struct {
	*modelPart
	shape     *geometry.Shape
	group     int64  // the property group of the object
	color     uint32 // the color of triangles without a property
	count     int64  // number of triangles that have been read
	unprinted []span // of the remaining triangles
	// The palette of the last group, because triangles of one group usually follow each other.
	palette      []uint32
	textures     *textureGroup
	paletteGroup int64
}

func (t *meshReader) mesh() error {
	t.paletteGroup = -1
	return t.EachChild(func() error {
		switch t.coreName() {
		case "vertices":
			return t.EachChild(t.vertex)
		case "triangles":
			return t.EachChild(t.triangle)
		}
		if string(t.LocalName()) == "beamlattice" {
			t.beams = true
		}
		return nil
	})
}

func (t *meshReader) vertex() error {
	if string(t.LocalName()) != "vertex" {
		return nil
	}
	if t.vertices++; t.vertices > 3*t.limits.Triangles {
		return mesh.Errorf(mesh.TooLarge, "The 3MF file has too many vertices: at most %d are supported.",
			3*t.limits.Triangles)
	}
	var p [3]float64
	seen := 0
	for _, a := range t.Tag.Attrs {
		if len(a.Name) != 1 {
			continue
		}
		axis := a.Name[0] - 'x'
		if axis > 2 {
			continue
		}
		x, ok := textscan.ParseFloat(a.Value)
		if !ok {
			return t.Errorf(mesh.Malformed, "has the coordinate %s, which is not a number", textscan.Quote(a.Value))
		}
		p[axis] = x
		seen |= 1 << axis
	}
	if seen != 7 {
		return t.Errorf(mesh.Malformed, "has a vertex without x, y or z")
	}
	t.shape.Vertices = append(t.shape.Vertices, p[0], p[1], p[2])
	return nil
}

func (t *meshReader) triangle() error {
	if string(t.LocalName()) != "triangle" {
		return nil
	}
	if t.triangles++; t.triangles > t.limits.Triangles {
		return mesh.Errorf(mesh.TooLarge, "The 3MF file has too many triangles: at most %d are supported.",
			t.limits.Triangles)
	}
	corners, properties := [3]int64{-1, -1, -1}, [3]int64{-1, -1, -1}
	group, paint := t.group, -1
	for _, a := range t.Tag.Attrs {
		var n *int64
		switch string(a.Name) {
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
		case "paint_color", "slic3rpe:mmu_segmentation":
			paint = paintedExtruder(a.Value)
			continue
		default:
			continue
		}
		x, ok := textscan.ParseInt(a.Value)
		if !ok || x < 0 {
			return t.Errorf(mesh.Malformed, "has a triangle with the %s %s where a number is expected", a.Name,
				textscan.Quote(a.Value))
		}
		*n = x
	}
	known := int64(len(t.shape.Vertices) / 3)
	for i, v := range corners {
		if v < 0 || v >= known {
			return t.Errorf(mesh.Malformed, "has a triangle with vertex v%d=%d, where the mesh has %d vertices, counted from 0",
				i+1, v, known)
		}
	}
	if t.isUnprinted() {
		return nil
	}
	colors := [3]uint32{t.color, t.color, t.color}
	if color := t.filaments.painted(paint); color != unpainted {
		colors = [3]uint32{color, color, color}
	} else if properties[0] >= 0 && group >= 0 {
		if group != t.paletteGroup {
			t.palette, t.textures, t.paletteGroup = t.palettes[group], t.groups[group], group
		}
		for i, n := range properties {
			if n < 0 {
				properties[i] = properties[0]
			}
			colors[i] = t.missing()
			if n := properties[i]; n < int64(len(t.palette)) {
				colors[i] = t.palette[n]
			}
		}
		if t.textures != nil {
			t.patch(properties)
		}
	}
	for i, v := range corners {
		t.shape.Corners = append(t.shape.Corners, t.shape.Output(uint32(v), colors[i]))
	}
	return nil
}

// patch adds a patch with the given texture coordinates to the next triangle.
func (t *meshReader) patch(coords [3]int64) {
	p := mesh.Patch{Triangle: t.shape.Triangles(), Texture: t.textures.texture,
		Tint: [3]uint32{geometry.NoColor, geometry.NoColor, geometry.NoColor}}
	for i, n := range coords {
		if n >= int64(len(t.textures.coords)) || t.textures.coords[n] != t.textures.coords[n] {
			return // unknown or not a number
		}
		p.UV[i] = t.textures.coords[n]
		if t.textures.tints != nil {
			p.Tint[i] = t.textures.tints[n]
		}
	}
	if t.patches < mesh.MaxPatches {
		t.patches++
		t.shape.Patches = append(t.shape.Patches, p)
	}
}

// readPalette reads the colors of a property group. color returns that of the current element, or
// NoColor if it is unsupported.
func (m *modelPart) readPalette(element string, color func() uint32) error {
	id, err := m.number("id", -1)
	if err != nil {
		return err
	}
	var colors []uint32
	err = m.EachChild(func() error {
		if string(m.LocalName()) != element {
			return nil
		}
		if int64(len(colors)) >= 3*m.limits.Triangles {
			return m.Errorf(mesh.TooLarge, "has more than %d colors in a group", 3*m.limits.Triangles)
		}
		colors = append(colors, color())
		return nil
	})
	m.palettes[id] = colors
	return err
}

// color returns a color of a group, or the missing one if the group is unknown, such as one of
// composites.
func (m *modelPart) color(group, index int64) uint32 {
	if palette := m.palettes[group]; index < int64(len(palette)) {
		return palette[index]
	}
	return m.missing()
}

// hexColor parses #RRGGBB or #RRGGBBAA (sRGB). It treats alpha 0 as opaque, because some programs
// write it for opaque colors.
func hexColor(b []byte) uint32 {
	if len(b) != 7 && len(b) != 9 || b[0] != '#' {
		return geometry.NoColor
	}
	color := uint32(geometry.NoColor)
	for i := 1; i < len(b); i += 2 {
		high, low := hexDigit(b[i]), hexDigit(b[i+1])
		if high > 15 || low > 15 {
			return geometry.NoColor
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
