package gltf

import (
	"cmp"

	"github.com/meshyard/meshyard/internal/mesh/decode/texture"
)

// Wrapping modes (specification, 5.26). The third mode is clamp.
const wrapRepeat, wrapMirror = 10497, 33648

// texture returns a texture, or nil if its image is unsupported, damaged, too large or external:
// the geometry is valid without it.
func (f *file) texture(r ref) (*texture.Texture, error) {
	i, ok := f.index(r, len(f.textures))
	if !ok {
		return nil, f.missingIndex("texture", r, len(f.textures))
	}
	if t, ok := f.textureCache[i]; ok {
		return t, nil
	}
	t := f.decoder.Decode(f.ctx, f.imageBytes(cmp.Or(f.textures[i].Source, f.textures[i].Extensions.WebP.Source)))
	f.textureCache[i] = t
	if s, ok := f.index(f.textures[i].Sampler, len(f.samplers)); t != nil && ok {
		t.WrapU, t.WrapV = wrapOf(f.samplers[s].WrapS), wrapOf(f.samplers[s].WrapT)
	}
	return t, f.ctx.Err()
}

// wrapOf converts a wrapping mode. The default is repeat.
func wrapOf(mode integer) texture.Wrap {
	switch mode {
	case 0, wrapRepeat:
		return texture.Repeat
	case wrapMirror:
		return texture.Mirror
	}
	return texture.Clamp
}

// imageBytes returns the bytes of an image, or nil if it is external.
func (f *file) imageBytes(r ref) []byte {
	i, ok := f.index(r, len(f.images))
	if !ok {
		return nil
	}
	if f.images[i].BufferView == 0 {
		in, most, err := f.openURI(f.images[i].URI, "an image")
		if err != nil {
			return nil
		}
		b, _ := f.readUpTo(in, most)
		return b
	}
	at, ok := f.index(f.images[i].BufferView, len(f.bufferViews))
	if !ok {
		return nil
	}
	b, _ := f.viewBytes(at)
	return b
}
