package gltf

import (
	"cmp"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode/texture"
)

// Wrapping and filter modes (specification, 5.26). The third wrapping mode is clamp.
const wrapRepeat, wrapMirror, filterNearest = 10497, 33648, 9728

// imageSource is where the bytes of an image are.
type imageSource struct {
	view ref
	uri  string
}

// loadTextures decodes the textures of the primitives. triangles is the number of triangles in the
// scene, none of which is in memory yet.
func (s *sceneBuilder) loadTextures(triangles int64) error {
	s.decoder = texture.NewDecoder(s.limits.Textures-s.cached, s.limits.TexturesBeside(triangles))
	done := map[int]bool{}
	for _, u := range s.uses {
		if done[u.mesh] {
			continue
		}
		done[u.mesh] = true
		for _, p := range s.meshes[u.mesh].primitives {
			if err := s.loadTexture(&p.appearance); err != nil {
				return err
			}
		}
	}
	return nil
}

// loadTexture decodes the texture of an appearance, if it has one.
func (f *file) loadTexture(l *appearance) error {
	if l.coords.count == 0 {
		return nil
	}
	shared, err := f.texture(l.textureInfo.Index)
	if shared == nil {
		return err
	}
	l.texture = &mesh.Texture{}
	*l.texture = *shared
	l.texture.Alpha, l.texture.Cutoff = l.alpha, l.cutoff
	return nil
}

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
	if img := f.image(cmp.Or(f.textures[i].Source, f.textures[i].Extensions.WebP.Source)); img != nil {
		t = &mesh.Texture{Image: img}
		if s, ok := f.index(f.textures[i].Sampler, len(f.samplers)); ok {
			s := &f.samplers[s]
			t.WrapU, t.WrapV, t.Nearest = wrapOf(s.WrapS), wrapOf(s.WrapT), s.MagFilter == filterNearest
		}
	}
	f.textureCache[i] = t
	return t, f.ctx.Err()
}

// image returns a decoded image, or nil if it cannot be decoded. Images of the same bytes are one.
func (f *file) image(r ref) *mesh.Image {
	i, ok := f.index(r, len(f.images))
	if !ok {
		return nil
	}
	source := imageSource{f.images[i].BufferView, f.images[i].URI}
	img, known := f.imageCache[source]
	if !known {
		img = f.decoder.Decode(f.ctx, f.imageBytes(source))
		f.imageCache[source] = img
	}
	return img
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

// imageBytes returns the bytes of an image, or nil if it is external or too large.
func (f *file) imageBytes(source imageSource) []byte {
	if source.view == 0 {
		in, most, err := f.openURI(source.uri, "an image")
		if err != nil || most > f.decoder.Left() {
			return nil
		}
		b, _ := f.readUpTo(in, most)
		return b
	}
	at, ok := f.index(source.view, len(f.bufferViews))
	if !ok || int64(f.bufferViews[at].ByteLength) > f.decoder.Left() {
		return nil
	}
	b, _ := f.readView(at)
	return b
}
