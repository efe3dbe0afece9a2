package gltf

import (
	"math"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode/geometry"
)

// material is the relevant part of a material: its base color. Decode ignores the KHR_materials
// extensions, which add to it, except the one that replaces it.
type material struct {
	AlphaMode   string
	AlphaCutoff *float64
	PBR         struct {
		Factor  []float64   `json:"baseColorFactor"`
		Texture textureInfo `json:"baseColorTexture"`
	} `json:"pbrMetallicRoughness"`
	Extensions struct {
		SpecularGlossiness *struct {
			Factor  []float64   `json:"diffuseFactor"`
			Texture textureInfo `json:"diffuseTexture"`
		} `json:"KHR_materials_pbrSpecularGlossiness"`
	}
}

// textureInfo is the use of a texture by a material.
type textureInfo struct {
	Index      ref
	TexCoord   integer
	Extensions struct {
		Transform struct {
			Offset   []float64
			Rotation float64
			Scale    []float64
			TexCoord *integer
		} `json:"KHR_texture_transform"`
	}
}

// appearance computes the vertex colors of a primitive: the product of the base color factor, the
// texture and the vertex colors (specification, 3.9.2). The factor and the vertex colors are
// linear.
type appearance struct {
	factor       [4]float64
	opaque       bool // ignore alpha
	constant     uint32
	vertexColors elements // empty if there are none
	coords       elements // of the texture; empty if there is none
	textureInfo  textureInfo
	alpha        mesh.Alpha
	cutoff       uint8
	texture      *mesh.Texture // set by loadTextures; nil if there is none that can be decoded
}

// resolveAppearance resolves the material and the color attributes of a primitive.
func (f *file) resolveAppearance(p *primitive) (l appearance, err error) {
	l.factor, l.opaque = [4]float64{1, 1, 1, 1}, true
	if p.Attributes.Color != 0 {
		if l.vertexColors, err = f.attribute(p, p.Attributes.Color, "VEC3", "VEC4"); err == nil &&
			l.vertexColors.count < p.positions.count {
			err = mesh.Errorf(mesh.Malformed, "The %s file has %d colors for %d vertices in %s.", f.name, l.vertexColors.count,
				p.positions.count, p.location)
		}
		l.vertexColors.normalized = l.vertexColors.kind != float32s
	}
	if err != nil || p.Material == 0 {
		l.constant = l.blend([4]float64{1, 1, 1, 1})
		return l, err
	}
	i, ok := f.index(p.Material, len(f.materials))
	if !ok {
		return l, f.missingIndex("material", p.Material, len(f.materials))
	}
	m := &f.materials[i]
	l.opaque = m.AlphaMode != "BLEND" && m.AlphaMode != "MASK"
	factor, base := m.PBR.Factor, m.PBR.Texture
	if instead := m.Extensions.SpecularGlossiness; instead != nil {
		factor, base = instead.Factor, instead.Texture
	}
	if factor != nil {
		if len(factor) != 4 {
			return l, mesh.Errorf(mesh.Malformed, "Material %d of the %s file has a color of %d numbers.", i, f.name,
				len(factor))
		}
		l.factor = [4]float64(factor)
	}
	l.constant = l.blend([4]float64{1, 1, 1, 1})
	l.textureInfo = base
	if l.textureInfo.Index == 0 {
		return l, nil
	}
	coords, set := p.Attributes.Texture0, l.textureInfo.TexCoord
	if other := l.textureInfo.Extensions.Transform.TexCoord; other != nil {
		set = *other
	}
	if set != 0 {
		coords = p.Attributes.Texture1
	}
	if coords == 0 || set > 1 {
		return l, nil
	}
	if l.coords, err = f.attribute(p, coords, "VEC2"); err != nil {
		return l, err
	}
	if l.coords.count < p.positions.count {
		return l, mesh.Errorf(mesh.Malformed, "The %s file has %d texture coordinates for %d vertices in %s.", f.name,
			l.coords.count,
			p.positions.count, p.location)
	}
	switch m.AlphaMode {
	case "BLEND":
		l.alpha = mesh.AlphaBlend
	case "MASK":
		l.alpha, l.cutoff = mesh.AlphaMask, 128
		if m.AlphaCutoff != nil {
			l.cutoff = uint8(geometry.Channel(*m.AlphaCutoff))
		}
	}
	return l, nil
}

// tint returns the color of a vertex without the texture.
func (l *appearance) tint(v int) uint32 {
	if l.vertexColors.count == 0 {
		return l.constant
	}
	return l.blend(l.vertexColor(v))
}

func (l *appearance) vertexColor(v int) [4]float64 {
	c := [4]float64{1, 1, 1, 1}
	if l.vertexColors.count > 0 {
		own := l.vertexColors.vector(v)
		copy(c[:l.vertexColors.width], own[:])
	}
	return c
}

// color returns the color of a vertex.
func (l *appearance) color(v int) uint32 {
	if l.texture == nil {
		return l.tint(v)
	}
	c := l.vertexColor(v)
	at := l.coordinates(v)
	shown := l.texture.At(at[0], at[1])
	for i := range 3 {
		c[i] *= mesh.Linear[shown>>(8*i)&255]
	}
	c[3] *= float64(shown>>24) / 255
	return l.blend(c)
}

// coordinates returns the texture coordinates of a vertex.
func (l *appearance) coordinates(v int) [2]float64 { return l.textureInfo.apply(l.coords.vector(v)) }

// patch returns what the texture shows on a triangle with the given vertices.
func (l *appearance) patch(triangle int, vertices [3]uint32) mesh.Patch {
	p := mesh.Patch{Triangle: triangle, Texture: l.texture}
	for k, v := range vertices {
		at := l.coordinates(int(v))
		p.UV[k], p.Tint[k] = [2]float32{float32(at[0]), float32(at[1])}, l.tint(int(v))
	}
	return p
}

// blend multiplies a linear color by the base color factor.
func (l *appearance) blend(c [4]float64) uint32 {
	for i := range c {
		c[i] *= l.factor[i]
	}
	if l.opaque || math.IsNaN(c[3]) {
		c[3] = 1
	}
	return geometry.RGBA(mesh.Encoded(c[0]), mesh.Encoded(c[1]), mesh.Encoded(c[2]), c[3])
}

// apply transforms a texture coordinate (KHR_texture_transform).
func (t *textureInfo) apply(at [4]float64) [2]float64 {
	move := &t.Extensions.Transform
	if len(move.Scale) == 2 {
		at[0], at[1] = at[0]*move.Scale[0], at[1]*move.Scale[1]
	}
	sin, cos := math.Sincos(move.Rotation)
	u, v := at[0]*cos+at[1]*sin, at[1]*cos-at[0]*sin
	if len(move.Offset) == 2 {
		u, v = u+move.Offset[0], v+move.Offset[1]
	}
	return [2]float64{u, v}
}
