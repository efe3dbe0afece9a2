package threemf

import (
	"errors"
	"math"
	"path"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode/geometry"
	"github.com/meshyard/meshyard/internal/mesh/decode/textscan"
)

// maxTexture is the maximum size in bytes of the image of a texture.
const maxTexture = 32 << 20

// tileStyles are the tile styles of textures (materials and properties extension, chapter 5). The
// default is wrap. The style none shows no color outside of the image; its nearest pixel is close
// enough.
var tileStyles = map[string]mesh.Wrap{"mirror": mesh.Mirror, "clamp": mesh.Clamp, "none": mesh.Clamp}

// texture reads a texture. It skips one whose image is missing, unsupported or damaged: the mesh is
// valid without it.
func (m *modelPart) texture() error {
	id, err := m.number("id", -1)
	if err != nil {
		return err
	}
	nearest := string(m.Attr("filter")) == "nearest"
	wrapU, wrapV := tileStyles[string(m.Attr("tilestyleu"))], tileStyles[string(m.Attr("tilestylev"))]
	inside, ok := m.reference(path.Dir(m.name), string(m.Attr("path")))
	f := m.File(inside)
	if !ok || f == nil {
		return nil
	}
	b, err := m.ReadFile(f, maxTexture)
	var damaged *mesh.Error
	if err != nil && !errors.As(err, &damaged) {
		return err
	}
	m.limitTextures(m.triangles)
	if img := m.decoder.Decode(m.ctx, b); img != nil {
		m.textures[id] = &mesh.Texture{Image: img, WrapU: wrapU, WrapV: wrapV, Nearest: nearest}
	}
	return m.ctx.Err()
}

// textureGroup is a texture with texture coordinates.
type textureGroup struct {
	texture *mesh.Texture
	coords  [][2]float32
	tints   []uint32 // colors that the texture is multiplied with at each of coords; nil: none
}

// readTextureGroup reads texture coordinates, also as a palette of the colors of the texture there.
func (m *modelPart) readTextureGroup() error {
	id, err := m.number("id", -1)
	if err != nil {
		return err
	}
	from, err := m.number("texid", -1)
	if err != nil {
		return err
	}
	t := m.textures[from]
	if t == nil {
		return nil
	}
	g := &textureGroup{texture: t}
	m.groups[id] = g
	return m.readPalette("tex2coord", func() uint32 {
		u, known := textscan.ParseFloat(m.Attr("u"))
		v, too := textscan.ParseFloat(m.Attr("v"))
		v = 1 - v // 0, 0 is the lower left corner
		if !known || !too {
			u, v = math.NaN(), math.NaN()
		}
		if m.coords < 3*mesh.MaxPatches {
			m.coords++
			g.coords = append(g.coords, [2]float32{float32(u), float32(v)})
		}
		if !known || !too {
			return geometry.NoColor
		}
		return t.At(u, v) | 0xFF<<24
	})
}
