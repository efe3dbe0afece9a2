package texture

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"runtime"
	"testing"

	"github.com/meshyard/meshyard/internal/mesh"
)

const mib = 1 << 20

// gray returns a JPEG image.
func gray(t *testing.T, width, height int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, width, height)), nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestTexturePixels checks that textures are downscaled, and that a texture with too many pixels is
// not decoded.
func TestTexturePixels(t *testing.T) {
	d := NewDecoder(300*mib, 300*mib)
	black := uint32(0xFF000000)
	if got := d.Decode(t.Context(), gray(t, 6000, 3)); got == nil {
		t.Error("got no image")
	} else if w, h := got.Size(); w != 2000 || h != 1 || (&mesh.Texture{Image: got}).At(0.9999, 0) != black {
		t.Errorf("got %d by %d pixels", w, h)
	}
	bomb := gray(t, 16, 16)
	at := bytes.Index(bomb, []byte{0xFF, 0xC0}) + 5
	copy(bomb[at:], []byte{0x4E, 0x20, 0x4E, 0x20}) // 20,000 by 20,000
	if got, before := d.Decode(t.Context(), bomb), d.pixels; got != nil || d.pixels != before || before != 18000 {
		t.Errorf("an image of 400 megapixels: %v, %d decoded", got, d.pixels)
	}
	d.pixels = maxPixels - 255
	if got := d.Decode(t.Context(), gray(t, 16, 16)); got != nil {
		t.Errorf("after %d pixels: %v", d.pixels, got)
	}
}

// TestEvenTextures checks that textures have the same size whatever their order, that this is the
// largest with which they fit into their memory, and that small ones are not downscaled.
func TestEvenTextures(t *testing.T) {
	large, small := gray(t, 2048, 2048), gray(t, 100, 50)
	for _, c := range []struct {
		large, small int
		later        int64
		want         int
	}{
		{1, 0, 300 * mib, 2048},
		{4, 1, 300 * mib, 2048},
		{5, 1, 300 * mib, 1024},
		{6, 3, 90 * mib, 512},
		{2, 1, 0, 512},
	} {
		d := NewDecoder(300*mib, 300*mib)
		var images []*mesh.Image
		for range c.large {
			images = append(images, d.Decode(t.Context(), large))
		}
		for range c.small {
			images = append(images, d.Decode(t.Context(), small))
		}
		d.Limit(300*mib, c.later)
		for i, img := range images {
			want := c.want
			if i >= c.large {
				want = 100
			}
			if img == nil {
				t.Fatalf("%+v: image %d is not decoded", c, i)
			}
			if width, height := img.Size(); width != want || height != want && height != 50 {
				t.Errorf("%+v: image %d has %d by %d pixels", c, i, width, height)
			}
		}
	}
}

// TestRoom checks that textures are downscaled if the next one needs their memory, but not for one
// that does not fit in any case.
func TestRoom(t *testing.T) {
	d := NewDecoder(100*mib, 300*mib)
	b := gray(t, 4096, 4096)
	// A progressive image takes 80 MiB. Decoding it fails.
	copy(b[bytes.Index(b, []byte{0xFF, 0xC0}):], []byte{0xFF, 0xC2})
	first := d.Decode(t.Context(), gray(t, 4096, 4096))
	if width, _ := first.Size(); width != 2048 {
		t.Errorf("the first texture is %d pixels wide, want 2048", width)
	}
	d.Decode(t.Context(), b)
	if width, _ := first.Size(); width != 1024 {
		t.Errorf("before a texture that takes 80 of 100 MiB, the first is %d pixels wide, want 1024", width)
	}
	d.memory = 70 * mib
	d.Decode(t.Context(), b)
	if width, _ := first.Size(); width != 1024 {
		t.Errorf("before a texture that does not fit, the first is %d pixels wide, want 1024", width)
	}
}

// TestManyTextures checks that the memory of textures is limited, and that each of very many has at
// least one pixel.
func TestManyTextures(t *testing.T) {
	d := NewDecoder(300*mib, 0)
	b, total := gray(t, 64, 64), int64(0)
	var images []*mesh.Image
	for range 5000 {
		images = append(images, d.Decode(t.Context(), b))
	}
	for i, img := range images {
		if img == nil {
			t.Fatalf("image %d is not decoded", i)
		}
		total += img.Memory()
	}
	if total > minKept || total != d.kept {
		t.Errorf("got %d bytes, counted as %d, want at most %d", total, d.kept, minKept)
	}
	d.kept = 100
	if d.shrink(0); d.side != 1 {
		t.Errorf("got a side of %d pixels, want 1", d.side)
	}
}

// TestMemory checks the memory that decoding images is expected to take against what it allocates.
func TestMemory(t *testing.T) {
	const side = 1024
	bounds := image.Rect(0, 0, side, side)
	asPNG := func(img image.Image) []byte {
		var b bytes.Buffer
		if err := png.Encode(&b, img); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	color420 := func() []byte {
		var b bytes.Buffer
		if err := jpeg.Encode(&b, image.NewYCbCr(bounds, image.YCbCrSubsampleRatio420), nil); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	sixteen := image.NewNRGBA64(bounds)
	for i, file := range [][]byte{gray(t, side, side), color420(), asPNG(image.NewNRGBA(bounds)), asPNG(sixteen)} {
		h, ok := inspect(file)
		if !ok {
			t.Fatalf("file %d is unsupported", i)
		}
		before := allocated()
		if _, err := h.read(bytes.NewReader(file)); err != nil {
			t.Fatal(err)
		}
		if took := allocated() - before; took > h.memory+mib/4 || took < h.memory/2 {
			t.Errorf("file %d: decoding took %d bytes, want about %d", i, took, h.memory)
		}
	}
}

func allocated() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.TotalAlloc)
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
	if got := (&mesh.Texture{Image: NewDecoder(mib, mib).Decode(t.Context(), b.Bytes())}).At(0, 0); got != 0x00030201 {
		t.Errorf("got %08x, want 00030201", got)
	}
}
