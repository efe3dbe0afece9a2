package threemf

import (
	"errors"
	"path"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode/geometry"
	"github.com/meshyard/meshyard/internal/mesh/decode/textscan"
	"github.com/meshyard/meshyard/internal/mesh/decode/texture"
)

// maxTexture is the maximum size in bytes of the image of a texture.
const maxTexture = 32 << 20

// tileStyles are the tile styles of textures (materials and properties extension, chapter 5). The
// default is wrap. The style none shows no color outside of the image; its nearest pixel is close
// enough.
var tileStyles = map[string]texture.Wrap{"mirror": texture.Mirror, "clamp": texture.Clamp, "none": texture.Clamp}

// texture reads a texture. It skips one whose image is missing, unsupported or damaged: the mesh is
// valid without it.
func (m *modelPart) texture() error {
	id, err := m.number("id", -1)
	if err != nil {
		return err
	}
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
	if t := m.decoder.Decode(m.ctx, b); t != nil {
		t.WrapU, t.WrapV = wrapU, wrapV
		m.textures[id] = t
	}
	return m.ctx.Err()
}

// readTextureGroup reads texture coordinates, as a palette of the colors of the texture there.
func (m *modelPart) readTextureGroup() error {
	id, err := m.number("texid", -1)
	if err != nil {
		return err
	}
	t := m.textures[id]
	return m.readPalette("tex2coord", func() uint32 {
		u, known := textscan.ParseFloat(m.Attr("u"))
		v, too := textscan.ParseFloat(m.Attr("v"))
		if t == nil || !known || !too {
			return geometry.NoColor
		}
		c := t.At(u, 1-v) // 0, 0 is the lower left corner
		return uint32(c[0]) | uint32(c[1])<<8 | uint32(c[2])<<16 | 0xFF<<24
	})
}
