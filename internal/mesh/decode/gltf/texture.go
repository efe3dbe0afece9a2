package gltf

import (
	"bytes"
	"cmp"
	"context"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"math"

	"golang.org/x/image/webp"
)

const (
	// maxTexturePixels is the maximum number of pixels of one texture, maxTotalPixels of all
	// textures.
	maxTexturePixels, maxTotalPixels = 16 << 20, 64 << 20
	// maxTextureSide is the maximum side of a downscaled texture. Only its colours at vertices are
	// used.
	maxTextureSide = 512
	// wrapRepeat and wrapMirror are wrapping modes (specification, 5.26). The third mode is clamp.
	wrapRepeat, wrapMirror = 10497, 33648
)

// texture is a downscaled texture image.
type texture struct {
	width, height int
	pixels        [][4]uint8 // sRGB, straight alpha
	wrapU, wrapV  integer
}

// texture returns a texture, or nil if its image is unsupported, damaged, too large or external:
// the geometry is valid without it.
func (f *file) texture(r ref) (*texture, error) {
	i, ok := f.index(r, len(f.textures))
	if !ok {
		return nil, f.missingIndex("texture", r, len(f.textures))
	}
	if t, ok := f.textureCache[i]; ok {
		return t, nil
	}
	t := f.decodeImage(f.imageBytes(cmp.Or(f.textures[i].Source, f.textures[i].Extensions.WebP.Source)))
	f.textureCache[i] = t
	if t != nil {
		t.wrapU, t.wrapV = wrapRepeat, wrapRepeat
		if s, ok := f.index(f.textures[i].Sampler, len(f.samplers)); ok {
			if u := f.samplers[s].WrapS; u != 0 {
				t.wrapU = u
			}
			if v := f.samplers[s].WrapT; v != 0 {
				t.wrapV = v
			}
		}
	}
	return t, f.ctx.Err()
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

// decodeImage decodes a PNG, JPEG or WebP image.
func (f *file) decodeImage(b []byte) *texture {
	config, read := png.DecodeConfig, png.Decode
	switch {
	case bytes.HasPrefix(b, []byte("\xFF\xD8")):
		config, read = jpeg.DecodeConfig, jpeg.Decode
	case bytes.HasPrefix(b, []byte("RIFF")):
		config, read = webp.DecodeConfig, webp.Decode
	}
	c, err := config(bytes.NewReader(b))
	if err != nil || c.Width <= 0 || c.Height <= 0 || int64(c.Width)*int64(c.Height) > min(maxTexturePixels, maxTotalPixels-f.pixels) {
		return nil
	}
	f.pixels += int64(c.Width) * int64(c.Height)
	img, err := read(&contextReader{f.ctx, bytes.NewReader(b)})
	if err != nil {
		return nil
	}
	colors, ok := img.(image.RGBA64Image)
	if !ok {
		return nil
	}
	return downscale(colors)
}

// contextReader checks the context with each read, because even small images can take long to
// decode.
type contextReader struct {
	ctx context.Context
	io.Reader
}

func (a *contextReader) Read(p []byte) (int, error) {
	if err := a.ctx.Err(); err != nil {
		return 0, err
	}
	return a.Reader.Read(p[:min(len(p), 512)])
}

// downscale returns a texture of at most maxTextureSide pixels a side. Each pixel is the mean of at
// most nine samples of its area.
func downscale(img image.RGBA64Image) *texture {
	bounds := img.Bounds()
	step := (max(bounds.Dx(), bounds.Dy()) + maxTextureSide - 1) / maxTextureSide
	t := &texture{width: (bounds.Dx() + step - 1) / step, height: (bounds.Dy() + step - 1) / step}
	t.pixels = make([][4]uint8, 0, t.width*t.height)
	stride := max(1, step/3)
	for y := range t.height {
		for x := range t.width {
			var r, g, b, a, n uint32
			for dy := 0; dy < step && y*step+dy < bounds.Dy() && dy < 3*stride; dy += stride {
				for dx := 0; dx < step && x*step+dx < bounds.Dx() && dx < 3*stride; dx += stride {
					c := img.RGBA64At(bounds.Min.X+x*step+dx, bounds.Min.Y+y*step+dy)
					r, g, b, a, n = r+uint32(c.R), g+uint32(c.G), b+uint32(c.B), a+uint32(c.A), n+1
				}
			}
			straight := func(c uint32) uint8 { // c is premultiplied with alpha
				if a == 0 {
					return 0
				}
				return uint8((uint64(c)*255 + uint64(a)/2) / uint64(a))
			}
			t.pixels = append(t.pixels, [4]uint8{straight(r), straight(g), straight(b), uint8((a/n + 128) / 257)})
		}
	}
	return t
}

// at returns the pixel at texture coordinates u, v. 0, 0 is the upper left corner, 1, 1 the lower
// right.
func (t *texture) at(u, v float64) [4]uint8 {
	return t.pixels[wrap(v, t.wrapV, t.height)*t.width+wrap(u, t.wrapU, t.width)]
}

// wrap maps a texture coordinate to a pixel index.
func wrap(x float64, how integer, pixels int) int {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0):
		x = 0
	case how == wrapRepeat:
		x -= math.Floor(x)
	case how == wrapMirror:
		if x = math.Mod(math.Abs(x), 2); x > 1 {
			x = 2 - x
		}
	}
	return int(max(0, min(float64(pixels)-1, math.Floor(x*float64(pixels)))))
}
