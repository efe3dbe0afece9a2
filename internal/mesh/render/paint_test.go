package render

import (
	"bytes"
	"fmt"
	"image"
	"math"
	"testing"

	"github.com/meshyard/meshyard/internal/mesh"
)

// grid returns a mesh of two triangles for each of n by n squares of a square, with one texture.
func grid(n int, texture *mesh.Texture, tint uint32) *mesh.Mesh {
	m := &mesh.Mesh{Format: mesh.GLB, Unit: 1, Up: mesh.UpY}
	for i := range n * n {
		at := func(x, y int) {
			u, v := float32(i%n+x)/float32(n), float32(i/n+y)/float32(n)
			m.Indices = append(m.Indices, uint32(m.Vertices()))
			m.Positions = append(m.Positions, u, 1-v, -2*u)
			m.Colors = append(m.Colors, 255, 255, 255, 255)
			p := &m.Patches[len(m.Patches)-1]
			k := (m.Vertices() - 1) % 3
			p.UV[k], p.Tint[k] = [2]float32{u, v}, tint
		}
		for j, corners := range [2][3][2]int{{{0, 0}, {0, 1}, {1, 1}}, {{0, 0}, {1, 1}, {1, 0}}} {
			m.Patches = append(m.Patches, mesh.Patch{Triangle: 2*i + j, Texture: texture})
			for _, c := range corners {
				at(c[0], c[1])
			}
		}
	}
	return m
}

const (
	opaqueWhite = 0xFFFFFFFF
	opaqueRed   = 0xFF0000FF
	opaqueGreen = 0xFF00FF00
)

// checkered returns an image of 8 by 8 fields of 16 by 16 pixels.
func checkered(a, b uint32) *mesh.Image {
	pixels := make([]uint32, 128*128)
	for i := range pixels {
		pixels[i] = a
		if (i>>4^i>>11)&1 != 0 {
			pixels[i] = b
		}
	}
	return mesh.NewImage(128, 128, pixels)
}

// TestTextures checks that a texture looks the same on large and on small triangles, so it is
// interpolated in perspective, and that it is not the colors of the vertices that are seen.
func TestTextures(t *testing.T) {
	texture := &mesh.Texture{Image: checkered(opaqueRed, opaqueGreen)}
	coarse, _ := draw(t, grid(1, texture, opaqueWhite), 256, 256)
	fine, _ := draw(t, grid(32, texture, opaqueWhite), 256, 256)
	red, green, different := 0, 0, 0
	for y := range 256 {
		for x := range 256 {
			a, b := coarse.NRGBAAt(x, y), fine.NRGBAAt(x, y)
			switch {
			case a.R/2 > a.G:
				red++
			case a.G/2 > a.R:
				green++
			}
			if math.Abs(float64(a.R)-float64(b.R)) > 40 || math.Abs(float64(a.G)-float64(b.G)) > 40 {
				different++
			}
		}
	}
	if red < 5000 || green < 5000 || math.Abs(float64(red)/float64(green)-1) > 0.05 {
		t.Errorf("got %d red and %d green pixels, want the same large number", red, green)
	}
	if different > 50 {
		t.Errorf("%d pixels differ between large and small triangles", different)
	}
}

// TestTextureAlpha checks that transparent pixels show what is behind them, and that the other
// colors are multiplied by the tint.
func TestTextureAlpha(t *testing.T) {
	const half = 0x800000FF
	for name, c := range map[string]struct {
		texture mesh.Texture
		tint    uint32
		covered float64 // part of the square
		red     bool
	}{
		"ignored": {mesh.Texture{Image: checkered(opaqueRed, half)}, opaqueWhite, 1, true},
		"mask, below": {mesh.Texture{Image: checkered(opaqueRed, half), Alpha: mesh.AlphaMask, Cutoff: 192},
			opaqueWhite, 0.5, true},
		"mask, above": {mesh.Texture{Image: checkered(opaqueRed, half), Alpha: mesh.AlphaMask, Cutoff: 128},
			opaqueWhite, 1, true},
		"blend": {mesh.Texture{Image: checkered(opaqueRed, half), Alpha: mesh.AlphaBlend}, opaqueWhite,
			0.75, true},
		"blend by tint": {mesh.Texture{Image: checkered(opaqueRed, opaqueRed), Alpha: mesh.AlphaBlend}, 0x40FFFFFF,
			0.25, true},
		"transparent":        {mesh.Texture{Image: checkered(0, 0x00FFFFFF), Alpha: mesh.AlphaBlend}, opaqueWhite, 0, false},
		"green tint, opaque": {mesh.Texture{Image: checkered(opaqueRed, opaqueRed)}, opaqueGreen, 1, false},
		"red tint":           {mesh.Texture{Image: checkered(opaqueWhite, opaqueWhite)}, opaqueRed, 1, true},
	} {
		m := grid(1, &c.texture, c.tint)
		cam := look(m, 512, 512)
		r := newRaster(512, 512, true)
		if err := r.triangles(t.Context(), m, cam, newGround(cam), func(float64) {}); err != nil {
			t.Fatal(err)
		}
		var plain *raster
		{
			m := *m
			m.Patches = nil
			plain = newRaster(512, 512, true)
			if err := plain.triangles(t.Context(), &m, cam, newGround(cam), func(float64) {}); err != nil {
				t.Fatal(err)
			}
		}
		_, all := plain.covered()
		_, count := r.covered()
		if part := float64(count) / float64(all); math.Abs(part-c.covered) > 0.02 {
			t.Errorf("%s: %.2f is covered, want %.2f", name, part, c.covered)
		}
		for i, near := range r.near {
			if near > 0 && (r.color[i] == 0xFF) != c.red {
				t.Errorf("%s: got color %06x, want red %v", name, r.color[i], c.red)
				break
			}
		}
	}
}

// TestBehindTexture checks that what is behind a transparent texture is visible, whichever of the
// two is drawn first.
func TestBehindTexture(t *testing.T) {
	for _, first := range []int{0, 1} {
		m := grid(1, &mesh.Texture{Image: checkered(0, 0), Alpha: mesh.AlphaBlend}, opaqueWhite)
		front := len(m.Positions)
		m.Patches = m.Patches[:2]
		if first == 1 {
			for i := range m.Patches {
				m.Patches[i].Triangle += 2
			}
		}
		m.Positions = append(m.Positions, m.Positions...)
		m.Indices, m.Colors = nil, bytes.Repeat([]byte{0, 255, 0, 255}, m.Vertices())
		for i := range front {
			m.Positions[(1-first)*front+i] -= 0.1 // farther from the viewer
		}
		_, r := draw(t, m, 64, 64)
		_, count := r.covered()
		for i, near := range r.near {
			if near > 0 && r.color[i] != 0x00FF00 {
				t.Fatalf("first %d: got color %06x, want green", first, r.color[i])
			}
		}
		if count < 1000 {
			t.Errorf("first %d: got %d samples, want what is behind", first, count)
		}
	}
}

// TestTextureDetail checks that a texture with more pixels than are visible is averaged.
func TestTextureDetail(t *testing.T) {
	m := grid(1, &mesh.Texture{Image: checkered(opaqueRed, opaqueGreen)}, opaqueWhite)
	for i := range m.Patches {
		for k := range m.Patches[i].UV {
			m.Patches[i].UV[k][0] *= 100
			m.Patches[i].UV[k][1] *= 100
		}
	}
	_, r := draw(t, m, 64, 64)
	for i, near := range r.near {
		if c := r.color[i]; near > 0 && (c&255 < 100 || c&255 > 155 || c>>8&255 < 100 || c>>8&255 > 155) {
			t.Fatalf("got color %06x at sample %d, want the mean of red and green", c, i)
		}
	}
}

// TestHostileCoordinates draws textures whose coordinates are no numbers, infinite or huge.
func TestHostileCoordinates(t *testing.T) {
	nan, inf, huge := float32(math.NaN()), float32(math.Inf(1)), float32(math.MaxFloat32)
	for _, x := range []float32{nan, inf, -inf, huge, -huge, 1e-45} {
		for _, wrap := range []mesh.Wrap{mesh.Repeat, mesh.Mirror, mesh.Clamp} {
			for _, size := range []image.Point{{1, 1}, {1, 64}, {7, 3}} {
				img := mesh.NewImage(size.X, size.Y, make([]uint32, size.X*size.Y))
				m := grid(1, &mesh.Texture{Image: img, WrapU: wrap, WrapV: wrap}, opaqueWhite)
				m.Patches[0].UV[1] = [2]float32{x, -x}
				m.Patches[1].UV = [3][2]float32{{x, x}, {-x, x}, {0, x}}
				draw(t, m, 64, 64)
			}
		}
	}
}

// BenchmarkTexture reports the time for an image of textured triangles.
func BenchmarkTexture(b *testing.B) {
	for _, n := range []int{1, 100, 500} {
		b.Run(fmt.Sprint(2*n*n), func(b *testing.B) {
			m := grid(n, &mesh.Texture{Image: checkered(opaqueRed, opaqueGreen)}, opaqueWhite)
			for b.Loop() {
				if _, err := Render(b.Context(), m, Options{Width: 512, Height: 512}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
