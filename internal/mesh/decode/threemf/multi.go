package threemf

import (
	"bytes"
	"math"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode/geometry"
	"github.com/meshyard/meshyard/internal/mesh/decode/textscan"
)

// maxLayers is the maximum number of groups that multi-properties combine.
const maxLayers = 16

// layer is a group of properties that multi-properties combine with those before it.
type layer struct {
	palette  []uint32
	textures *textureGroup // nil: the palette is one of colors
	multiply bool          // otherwise mix
}

// readMultiProperties reads multi-properties (materials and properties extension, chapter 4.1) as a
// palette: each entry blends a property of several groups. If a texture is the last opaque layer,
// it is kept, tinted by the layers that are multiplied with it.
func (m *modelPart) readMultiProperties() error {
	id, err := m.number("id", -1)
	if err != nil {
		return err
	}
	var layers []layer
	methods := bytes.Fields(m.Attr("blendmethods"))
	for word := range bytes.FieldsSeq(m.Attr("pids")) {
		group, ok := textscan.ParseInt(word)
		if !ok || len(layers) == maxLayers {
			return m.Errorf(mesh.Malformed, "has multi-properties with the pids %s, where at most %d numbers are expected",
				textscan.Quote(m.Attr("pids")), maxLayers)
		}
		// The first group has no method.
		multiply := len(layers) > 0 && len(layers) <= len(methods) && string(methods[len(layers)-1]) == "multiply"
		layers = append(layers, layer{m.palettes[group], m.groups[group], multiply})
	}
	blended := &textureGroup{}
	err = m.readPalette("multi", func() uint32 {
		b := blend(layers, m.Attr("pindices"))
		if b.texture != nil && blended.texture == nil {
			blended.texture = b.texture
		}
		if b.texture == nil || b.texture != blended.texture {
			b.coord = [2]float32{nan, nan} // only the color: a group has one texture
		}
		if m.coords < 3*mesh.MaxPatches {
			m.coords++
			blended.coords, blended.tints = append(blended.coords, b.coord), append(blended.tints, b.tint)
		}
		return b.color
	})
	if blended.texture != nil {
		m.groups[id] = blended
	}
	return err
}

// blending is the result of blending layers: a color, and a texture if one is visible.
type blending struct {
	color   uint32 // including that of the texture
	texture *mesh.Texture
	coord   [2]float32
	tint    uint32
}

// blend blends the properties with the given indices, one for each layer. A missing index is 0.
func blend(layers []layer, indices []byte) blending {
	b := blending{color: geometry.NoColor, tint: geometry.NoColor}
	for i, l := range layers {
		var word []byte
		word, indices = textscan.CutWord(indices)
		n, ok := textscan.ParseInt(word)
		if len(word) > 0 && (!ok || n < 0) || n >= int64(len(l.palette)) {
			continue
		}
		color := l.palette[n]
		textured := l.textures != nil && n < int64(len(l.textures.coords))
		switch {
		case l.multiply && textured && b.texture == nil:
			b.texture, b.coord, b.tint = l.textures.texture, l.textures.coords[n], b.color
			b.color = multiplied(b.color, color)
		case l.multiply:
			b.color, b.tint = multiplied(b.color, color), multiplied(b.tint, color)
		case textured:
			b.texture, b.coord, b.tint, b.color = l.textures.texture, l.textures.coords[n], geometry.NoColor, color
		case i == 0:
			b.color = color
		default:
			if color>>24 == 0xFF {
				b.texture, b.tint = nil, geometry.NoColor
			}
			b.color = mixed(b.color, color)
		}
	}
	return b
}

// multiplied multiplies two colors.
func multiplied(a, b uint32) (c uint32) {
	for shift := 0; shift < 32; shift += 8 {
		c |= ((a>>shift&0xFF)*(b>>shift&0xFF) + 127) / 255 << shift
	}
	return c
}

// mixed puts a color over another one by its alpha. The result has the alpha of the lower one.
func mixed(lower, upper uint32) uint32 {
	c, alpha := lower&0xFF000000, upper>>24
	for shift := 0; shift < 24; shift += 8 {
		c |= ((lower>>shift&0xFF)*(255-alpha) + (upper>>shift&0xFF)*alpha + 127) / 255 << shift
	}
	return c
}

// nan is the coordinate of an entry without a texture.
var nan = float32(math.NaN())
