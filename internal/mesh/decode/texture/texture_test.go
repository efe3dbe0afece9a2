package texture

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"testing"

	"github.com/meshyard/meshyard/internal/mesh"
)

// TestTexturePixels checks that textures are downscaled, and that a texture with too many pixels is
// not decoded.
func TestTexturePixels(t *testing.T) {
	picture := func(width, height int) []byte {
		var b bytes.Buffer
		if err := jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, width, height)), nil); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	d := new(Decoder)
	black := uint32(0xFF000000)
	if got := d.Decode(t.Context(), picture(3000, 3)); got == nil {
		t.Error("got no picture")
	} else if w, h := got.Size(); w != 1000 || h != 1 || (&mesh.Texture{Image: got}).At(0.9999, 0) != black {
		t.Errorf("got %d by %d pixels", w, h)
	}
	bomb := picture(16, 16)
	at := bytes.Index(bomb, []byte{0xFF, 0xC0}) + 5
	copy(bomb[at:], []byte{0x4E, 0x20, 0x4E, 0x20}) // 20,000 by 20,000
	if got, before := d.Decode(t.Context(), bomb), d.pixels; got != nil || d.pixels != before || before != 9000 {
		t.Errorf("a picture of 400 megapixels: %v, %d decoded", got, d.pixels)
	}
	d.pixels = maxTotalPixels - 255
	if got := d.Decode(t.Context(), picture(16, 16)); got != nil {
		t.Errorf("after %d pixels: %v", d.pixels, got)
	}
}

// TestManyTextures checks that textures together have a limited number of pixels, and that each of
// them has at least one.
func TestManyTextures(t *testing.T) {
	d, total := new(Decoder), 0
	pixels := image.NewGray(image.Rect(0, 0, 1024, 1024))
	for i := range 25 {
		width, height := downscale(pixels, d.side()).Size()
		if d.kept += width * height; width < 1 || i == 0 && width != 1024 || i == 24 && width < 500 {
			t.Errorf("texture %d is %d pixels wide", i, width)
		}
		total += width * height
	}
	if total > maxKept {
		t.Errorf("got %d pixels, want at most %d", total, maxKept)
	}
	if d.kept = maxKept; d.side() != 1 {
		t.Errorf("got a side of %d pixels, want 1", d.side())
	}
}

// TestTransparentPixels checks that the colors of transparent pixels are kept, because a material
// can ignore alpha.
func TestTransparentPixels(t *testing.T) {
	img := image.NewNRGBA(image.Rect(0, 0, 1, 1))
	img.SetNRGBA(0, 0, color.NRGBA{1, 2, 3, 0})
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	if got := (&mesh.Texture{Image: new(Decoder).Decode(t.Context(), b.Bytes())}).At(0, 0); got != 0x00030201 {
		t.Errorf("got %08x, want 00030201", got)
	}
}
