package glb_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/meshtest/decoded"
	"github.com/meshyard/meshyard/internal/mesh/write/glb"
)

const white = 0xFFFFFFFF

// palette returns an image of four pixels.
func palette() *mesh.Image {
	return mesh.NewImage(2, 2, []uint32{0xFF0000FF, 0xFF00FF00, 0xFFFF0000, 0xFF102030})
}

// textures returns a mesh of one triangle for each patch, whose Triangle it sets. A patch without a
// texture is a triangle without one.
func textures(patches ...mesh.Patch) *mesh.Mesh {
	m := &mesh.Mesh{Format: mesh.GLB, Unit: 1000, Up: mesh.UpY}
	for i, p := range patches {
		x := float32(i)
		m.Positions = append(m.Positions, x, 0, 0, x+1, 0, 0, x, 1, 0)
		m.Normals = append(m.Normals, 0, 0, 1, 0, 0, 1, 0, 0, 1)
		m.Colors = append(m.Colors, 10, 20, 30, 255, 10, 20, 30, 255, 10, 20, 30, 255)
		m.Indices = append(m.Indices, uint32(3*i), uint32(3*i+1), uint32(3*i+2))
		if p.Triangle = i; p.Texture != nil {
			m.Patches = append(m.Patches, p)
		}
	}
	return m
}

// content is what tests read of a file.
type content struct {
	Meshes []struct {
		Primitives []struct{ Attributes map[string]int }
	}
	Accessors []struct{ Count int }
	Images    []struct{ MimeType string }
}

// written writes a mesh and returns the document of the file.
func written(t *testing.T, m *mesh.Mesh) (c content, file []byte) {
	t.Helper()
	var b bytes.Buffer
	textured, err := glb.Write(&b, m, glb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	text := b.Bytes()[20:][:binary.LittleEndian.Uint32(b.Bytes()[12:])]
	if err := json.Unmarshal(text, &c); err != nil {
		t.Fatal(err)
	}
	if textured != (len(c.Images) > 0) {
		t.Errorf("Write reports textures: %v, and the file has %d images", textured, len(c.Images))
	}
	return c, b.Bytes()
}

// TestTextures writes textures and decodes them again.
func TestTextures(t *testing.T) {
	clear := mesh.NewImage(2, 1, []uint32{0x400000FF, 0x0000FF00})
	shared := palette()
	plain := &mesh.Texture{Image: shared}
	uv := [3][2]float32{{0, 0}, {1.5, 0.25}, {-0.5, 3}}
	opaque := [3]uint32{white, white, white}
	patches := []mesh.Patch{
		{Texture: plain, UV: uv, Tint: opaque},
		{},
		{Texture: &mesh.Texture{Image: shared, WrapU: mesh.Mirror, WrapV: mesh.Clamp, Nearest: true}, UV: uv, Tint: opaque},
		{Texture: &mesh.Texture{Image: clear, Alpha: mesh.AlphaMask, Cutoff: 100}, UV: uv,
			Tint: [3]uint32{0xFF0000FF, 0xFF8090A0, white}},
		{Texture: &mesh.Texture{Image: clear, Alpha: mesh.AlphaBlend}, UV: uv, Tint: [3]uint32{0x80FFFFFF, 0, white}},
		{Texture: &mesh.Texture{Image: shared}, UV: [3][2]float32{{7, 8}, {9, 10}, {11, 12}}, Tint: opaque},
	}
	m := textures(patches...)
	c, file := written(t, m)
	if primitives := len(c.Meshes[0].Primitives); primitives != 5 || len(c.Images) != 2 {
		t.Errorf("got %d primitives and %d images, want 5 and 2", primitives, len(c.Images))
	}
	if _, again := written(t, m); !bytes.Equal(file, again) {
		t.Error("the second file is different")
	}
	got, err := decoded.File(t, "", file)
	if err != nil {
		t.Fatal(err)
	}
	order := []int{1, 0, 5, 2, 3, 4} // the triangle without a texture, then those of each texture
	if got.Triangles() != len(order) || len(got.Patches) != len(order)-1 {
		t.Fatalf("got %d triangles and %d patches, want %d and %d", got.Triangles(), len(got.Patches), len(order),
			len(order)-1)
	}
	for i, from := range order {
		a, _, _ := got.Corners(i)
		if x := float64(got.At(a)[0]) + got.Origin[0]; math.Abs(x-float64(from)) > 1e-3 {
			t.Errorf("triangle %d is at %v, want %d", i, x, from)
		}
		if i == 0 {
			if color := got.Colors[4*a:][:4]; !bytes.Equal(color, m.Colors[:4]) {
				t.Errorf("without a texture, the color is %v", color)
			}
			continue
		}
		is, want := got.Patches[i-1], patches[from]
		if is.Triangle != i || is.UV != want.UV || slices.ContainsFunc([]int{0, 1, 2},
			func(k int) bool { return !similar(is.Tint[k], want.Tint[k]) }) {
			t.Errorf("triangle %d: got %+v, want %+v", from, is, want)
		}
		if !slices.Equal(is.Texture.Pixels(), want.Texture.Pixels()) {
			t.Errorf("triangle %d: got the pixels %x, want %x", from, is.Texture.Pixels(), want.Texture.Pixels())
		}
		kind, wanted := *is.Texture, *want.Texture
		if kind.Image, wanted.Image = nil, nil; kind != wanted {
			t.Errorf("triangle %d: got the texture %+v, want %+v", from, kind, wanted)
		}
	}
}

// similar reports whether two colors differ by at most 1 in each channel.
func similar(a, b uint32) bool {
	for shift := 0; shift < 32; shift += 8 {
		if d := int(a>>shift&255) - int(b>>shift&255); d < -1 || d > 1 {
			return false
		}
	}
	return true
}

// TestSharedVertices checks that triangles share vertices, except where their texture coordinates
// differ, and that a mesh whose textures have no tint has no colors.
func TestSharedVertices(t *testing.T) {
	texture := &mesh.Texture{Image: palette()}
	patch := func(triangle int, uv [3][2]float32) mesh.Patch {
		return mesh.Patch{Triangle: triangle, Texture: texture, UV: uv, Tint: [3]uint32{white, white, white}}
	}
	m := &mesh.Mesh{
		Unit: 1, Positions: []float32{0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0}, Indices: []uint32{0, 1, 2, 0, 2, 3},
		Colors: make([]uint8, 16),
		Patches: []mesh.Patch{patch(0, [3][2]float32{{0, 1}, {1, 1}, {1, 0}}),
			patch(1, [3][2]float32{{0, 1}, {1, 0}, {0, 0}})},
	}
	check := func(doing string, vertices int) {
		t.Helper()
		c, _ := written(t, m)
		attributes := c.Meshes[0].Primitives[0].Attributes
		if n := c.Accessors[attributes["POSITION"]].Count; n != vertices || len(c.Meshes[0].Primitives) != 1 {
			t.Errorf("%s: got %d vertices in %d primitives, want %d in 1", doing, n, len(c.Meshes[0].Primitives), vertices)
		}
		if _, ok := attributes["COLOR_0"]; ok {
			t.Errorf("%s: got colors, want none", doing)
		}
	}
	check("a square", 4)
	m.Patches[1].UV[1] = [2]float32{3, 3}
	check("with a seam at a corner", 5)
	m.Indices, m.Colors = nil, nil
	m.Positions = append(m.Positions, 5, 5, 5, 6, 6, 6)
	check("without indices", 6)
}

// TestTextureCoordinates checks that coordinates that are not finite are zero, and that large ones
// become small but show the same.
func TestTextureCoordinates(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, c := range []struct {
		name     string
		wrap     mesh.Wrap
		uv, want [3][2]float32
	}{
		{"not finite", mesh.Repeat, [3][2]float32{{nan, inf}, {-inf, 0.5}, {1, nan}},
			[3][2]float32{{0, 0}, {0, 0.5}, {1, 0}}},
		{"far", mesh.Repeat, [3][2]float32{{5001.25, -7000}, {5002.5, -7001}, {5003, -6999.75}},
			[3][2]float32{{1.25, 2}, {2.5, 1}, {3, 2.25}}},
		{"far, mirrored", mesh.Mirror, [3][2]float32{{5001.25, 0}, {5002.5, 0}, {5003, 0}},
			[3][2]float32{{1.25, 0}, {2.5, 0}, {3, 0}}},
		{"far, clamped", mesh.Clamp, [3][2]float32{{5001.25, 0}, {-5002.5, 0}, {3e38, 0}},
			[3][2]float32{{1024, 0}, {-1024, 0}, {1024, 0}}},
		{"very large", mesh.Repeat, [3][2]float32{{-3e38, 0}, {3e38, 0}, {0, 0}},
			[3][2]float32{{0, 0}, {1024, 0}, {1024, 0}}},
	} {
		m := textures(mesh.Patch{Texture: &mesh.Texture{Image: palette(), WrapU: c.wrap, WrapV: c.wrap}, UV: c.uv,
			Tint: [3]uint32{white, white, white}})
		if got := again(t, m, glb.Options{}).Patches; len(got) != 1 || got[0].UV != c.want {
			t.Errorf("%s: got %+v, want %v", c.name, got, c.want)
		}
	}
}

// TestImages checks that photographs become JPEG, and drawings and what has alpha PNG.
func TestImages(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	photo := make([]uint32, 256*256)
	for i := range photo {
		x, y := i%256, i/256
		photo[i] = uint32(x) | uint32(y)<<8 | uint32(random.IntN(32))<<16 | 0x80<<24
	}
	image := mesh.NewImage(256, 256, photo)
	for want, texture := range map[string]*mesh.Texture{
		"image/jpeg": {Image: image},
		"image/png":  {Image: image, Alpha: mesh.AlphaBlend},
	} {
		m := textures(mesh.Patch{Texture: texture, Tint: [3]uint32{white, white, white}})
		if c, _ := written(t, m); len(c.Images) != 1 || c.Images[0].MimeType != want {
			t.Errorf("got %+v, want %s", c.Images, want)
		}
		pixels := again(t, m, glb.Options{}).Patches[0].Texture.Pixels()
		for i, got := range pixels {
			for shift := 0; shift < 16; shift += 8 {
				if d := int(got>>shift&255) - int(photo[i]>>shift&255); d < -48 || d > 48 {
					t.Fatalf("%s: pixel %d is %x, want about %x", want, i, got, photo[i])
				}
			}
		}
	}
}

// TestTooManyTextures checks that textures are downscaled if they are too large, and that there are
// none if they are too many. The triangles then have the colors of their vertices.
func TestTooManyTextures(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	noise := func(side int) *mesh.Texture {
		pixels := make([]uint32, side*side)
		for i := range pixels {
			pixels[i] = random.Uint32()
		}
		return &mesh.Texture{Image: mesh.NewImage(side, side, pixels), Alpha: mesh.AlphaBlend}
	}
	for _, c := range []struct{ n, side, images, written int }{{1024, 1, 1024, 1}, {1025, 1, 0, 0}, {8, 1024, 8, 512}} {
		patches := make([]mesh.Patch, c.n)
		for i := range patches {
			patches[i] = mesh.Patch{Texture: noise(c.side), Tint: [3]uint32{white, white, white}}
		}
		m := textures(patches...)
		doc, file := written(t, m)
		if len(doc.Images) != c.images || len(doc.Meshes[0].Primitives) != max(1, c.images) {
			t.Errorf("%d textures of %d pixels a side: got %d images in %d primitives, want %d", c.n, c.side, len(doc.Images),
				len(doc.Meshes[0].Primitives), c.images)
		}
		got, err := decoded.File(t, "", file)
		if err != nil {
			t.Fatal(err)
		}
		if c.images == 0 {
			checkSame(t, m, got, 1./32768)
		}
		for _, p := range got.Patches {
			if width, _ := p.Texture.Size(); width != c.written {
				t.Fatalf("a texture of %d pixels a side has %d in the file, want %d", c.side, width, c.written)
			}
		}
	}
}
