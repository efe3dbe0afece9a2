package mesh

import (
	"math"
	"testing"
)

// TestTextureSample checks colors of a texture of two by two pixels: between pixels, and outside of
// the image. Pixels have their index as red and ten times that as alpha.
func TestTextureSample(t *testing.T) {
	img := NewImage(2, 2, []uint32{0 | 0<<24, 1<<4 | 10<<24, 2<<4 | 20<<24, 3<<4 | 30<<24})
	inf, nan := math.Inf(1), math.NaN()
	for name, c := range map[string]struct {
		texture Texture
		u, v    float64
		level   int
		want    uint32 // red
	}{
		"first pixel":            {Texture{}, 0.25, 0.25, 0, 0},
		"last pixel":             {Texture{}, 0.75, 0.75, 0, 48},
		"between columns":        {Texture{}, 0.5, 0.25, 0, 8},
		"between all":            {Texture{}, 0.5, 0.5, 0, 24},
		"not interpolated":       {Texture{Nearest: true}, 0.45, 0.55, 0, 32},
		"repeated":               {Texture{}, -1.25, 3.25, 0, 16},
		"repeated edge":          {Texture{}, 1, 0.25, 0, 8},
		"mirrored":               {Texture{WrapU: Mirror, WrapV: Mirror}, 1.25, -0.75, 0, 48},
		"mirrored edge":          {Texture{WrapU: Mirror}, 1, 0.25, 0, 16},
		"clamped":                {Texture{WrapU: Clamp, WrapV: Clamp}, 7, -inf, 0, 16},
		"no number":              {Texture{}, nan, 0.25, 0, 8},
		"infinite":               {Texture{WrapU: Mirror}, inf, 0.75, 0, 32},
		"far":                    {Texture{}, 1e300, -1e300, 0, 24},
		"mean, by alpha":         {Texture{}, 0.1, 0.9, 1, (16*2561 + 32*5121 + 48*7681) / (1 + 2561 + 5121 + 7681)},
		"mean, not interpolated": {Texture{Nearest: true}, 0.1, 0.9, 1, 37},
	} {
		c.texture.Image = img
		if got := c.texture.Sample(c.u, c.v, c.level) & 255; got != c.want {
			t.Errorf("%s: got %d at %v, %v, want %d", name, got, c.u, c.v, c.want)
		}
	}
}

func TestTextureLevels(t *testing.T) {
	img := NewImage(5, 3, make([]uint32, 15))
	for _, size := range [][2]int{{5, 3}, {3, 2}, {2, 1}, {1, 1}} {
		l := img.levels[0]
		if img.levels = img.levels[1:]; l.width != size[0] || l.height != size[1] || len(l.pixels) != size[0]*size[1] {
			t.Errorf("got %d by %d, want %v", l.width, l.height, size)
		}
	}
	if len(img.levels) != 0 {
		t.Errorf("got %d more levels", len(img.levels))
	}
	img = NewImage(16, 16, make([]uint32, 256))
	for _, c := range []struct {
		pixels, samples float64
		want            int
	}{
		{100, 100, 0}, {100, 1000, 0}, {100, 20, 1}, {256, 16, 2}, {1e300, 1, 4}, {math.Inf(1), 1, 4}, {math.NaN(), 1, 0},
		{1, 0, 4}, {0, 0, 0},
	} {
		if got := img.Level(c.pixels, c.samples); got != c.want {
			t.Errorf("%v pixels on %v samples: got level %d, want %d", c.pixels, c.samples, got, c.want)
		}
	}
}

// TestWithin checks which copy of an image is the largest with sides of at most a number of pixels.
func TestWithin(t *testing.T) {
	img := NewImage(5, 3, make([]uint32, 15))
	for side, want := range map[int][2]int{6: {5, 3}, 5: {5, 3}, 4: {3, 2}, 2: {2, 1}, 1: {1, 1}, 0: {1, 1}} {
		if width, height := img.Within(side).Size(); [2]int{width, height} != want {
			t.Errorf("within %d: got %d by %d, want %v", side, width, height, want)
		}
	}
	if whole, half := img.Memory(), img.Within(4).Memory(); whole != 4*(15+6+2+1) || half != 4*(6+2+1) {
		t.Errorf("got %d and %d bytes, want 96 and 36", whole, half)
	}
}

// TestMean checks that the colors of transparent pixels count only if all are transparent.
func TestMean(t *testing.T) {
	const black, red, white = 0, 0xFF0000FF, 0xFFFFFFFF
	for _, c := range []struct {
		colors []uint32
		want   uint32
	}{
		{[]uint32{red, red}, red},
		{[]uint32{red, white}, 0xFF8080FF},
		{[]uint32{red, black}, 0x800000FF},
		{[]uint32{0x00203040, 0x00203040}, 0x00203040},
		{[]uint32{white, white, white, white, white, white, white, white, white}, white},
	} {
		if got := Mean(c.colors...); got != c.want {
			t.Errorf("got %08x of %08x, want %08x", got, c.colors, c.want)
		}
	}
}
