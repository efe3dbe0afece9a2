package gltf

import (
	"cmp"

	"github.com/meshyard/meshyard/internal/mesh"
)

// Wrapping and filter modes (specification, 5.26). The third wrapping mode is clamp.
const wrapRepeat, wrapMirror, filterNearest = 10497, 33648, 9728

// texture returns a texture, or nil if its image is unsupported, damaged, too large or external:
// the geometry is valid without it.
func (f *file) texture(r ref) (*mesh.Texture, error) {
	i, ok := f.index(r, len(f.textures))
	if !ok {
		return nil, f.missingIndex("texture", r, len(f.textures))
	}
	if t, ok := f.textureCache[i]; ok {
		return t, nil
	}
	var t *mesh.Texture
	if img := f.decoder.Decode(f.ctx, f.imageBytes(cmp.Or(f.textures[i].Source, f.textures[i].Extensions.WebP.Source))); img != nil {
		t = &mesh.Texture{Image: img}
		if s, ok := f.index(f.textures[i].Sampler, len(f.samplers)); ok {
			s := &f.samplers[s]
			t.WrapU, t.WrapV, t.Nearest = wrapOf(s.WrapS), wrapOf(s.WrapT), s.MagFilter == filterNearest
		}
	}
	f.textureCache[i] = t
	return t, f.ctx.Err()
}

// wrapOf converts a wrapping mode. The default is repeat.
func wrapOf(mode integer) mesh.Wrap {
	switch mode {
	case 0, wrapRepeat:
		return mesh.Repeat
	case wrapMirror:
		return mesh.Mirror
	}
	return mesh.Clamp
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
