package texture

import (
	"bytes"
	"image"
	"image/jpeg"
	"testing"
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
	black := [4]uint8{0, 0, 0, 255}
	if got := d.Decode(t.Context(), picture(1500, 3)); got == nil || got.width != 500 || got.height != 1 || len(got.pixels) != 500 || got.pixels[499] != black {
		t.Errorf("got %v", got)
	}
	bomb := picture(16, 16)
	at := bytes.Index(bomb, []byte{0xFF, 0xC0}) + 5
	copy(bomb[at:], []byte{0x4E, 0x20, 0x4E, 0x20}) // 20,000 by 20,000
	if got, before := d.Decode(t.Context(), bomb), d.pixels; got != nil || d.pixels != before || before != 4500 {
		t.Errorf("a picture of 400 megapixels: %v, %d decoded", got, d.pixels)
	}
	d.pixels = maxTotalPixels - 255
	if got := d.Decode(t.Context(), picture(16, 16)); got != nil {
		t.Errorf("after %d pixels: %v", d.pixels, got)
	}
}
