package gltf

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode/decodetest"
)

// painted returns a file of one triangle with the given material and an optional second attribute.
func painted(material, attribute, accessor string, values any, more ...string) []byte {
	parts, accessors, attributes := []any{corner}, floats3, `"POSITION":0`
	if attribute != "" {
		parts = append(parts, values)
		accessors += `,{"bufferView":1,"count":3,` + accessor + `}`
		attributes += `,"` + attribute + `":1`
	}
	return gltfOf(append([]string{
		oneNode, `"meshes":[{"primitives":[{"attributes":{` + attributes + `},"material":0}]}]`, `"materials":[{` +
			material + `}]`,
		`"accessors":[` + accessors + `]`, gltfBytes(parts...),
	}, more...)...)
}

// textured returns the root members for a texture of four pixels: red, half-transparent blue, gray,
// transparent.
func textured(t *testing.T) string {
	img := image.NewNRGBA(image.Rect(0, 0, 4, 1))
	img.SetNRGBA(0, 0, color.NRGBA{255, 0, 0, 255})
	img.SetNRGBA(1, 0, color.NRGBA{0, 0, 255, 128})
	img.SetNRGBA(2, 0, color.NRGBA{100, 100, 100, 255})
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return `"textures":[{"source":0,"sampler":0}],"samplers":[{"wrapS":%d}],"images":[{"uri":"data:image/png;base64,` +
		base64.StdEncoding.EncodeToString(b.Bytes()) + `"}]`
}

// webpTexture is a lossless WebP image of four pixels: red, half-transparent blue, gray, gray.
const webpTexture = "UklGRjAAAABXRUJQVlA4TCMAAAAvAwAAEBcwZALZZHfNXyGBQJLs/ggLSJLp0vLC5haUNKL/AQA="

func TestGLTFColors(t *testing.T) {
	pbr := func(members string) string { return `"pbrMetallicRoughness":{` + members + `}` }
	specular := func(members string) string {
		return `,"extensions":{"KHR_materials_pbrSpecularGlossiness":{` + members + `}}`
	}
	const (
		blend   = `"alphaMode":"BLEND",`
		texture = `"baseColorTexture":{"index":0}`
		floats2 = `"componentType":5126,"type":"VEC2"`
	)
	repeat, mirror := fmt.Sprintf(textured(t), wrapRepeat), fmt.Sprintf(textured(t), wrapMirror)
	red, green, blue, gray := color.NRGBA{255, 0, 0, 255}, color.NRGBA{0, 255, 0, 255}, color.NRGBA{0, 0, 255, 255},
		color.NRGBA{100, 100, 100, 255}
	for name, c := range map[string]struct {
		file []byte
		want [3]color.NRGBA
	}{
		"factor, opaque": {
			painted(pbr(`"baseColorFactor":[0.2140411,0,1,0.5]`), "", "", nil),
			[3]color.NRGBA{{127, 0, 255, 255}, {127, 0, 255, 255}, {127, 0, 255, 255}},
		},
		"bytes with alpha": {
			painted(blend+pbr(`"baseColorFactor":[1,1,1,0.5]`), "COLOR_0",
				`"componentType":5121,"normalized":true,"type":"VEC4"`,
				[]uint8{255, 0, 0, 255, 55, 55, 55, 255, 0, 0, 0, 0}),
			[3]color.NRGBA{{255, 0, 0, 128}, {128, 128, 128, 128}, {0, 0, 0, 0}},
		},
		"shorts": {
			painted("", "COLOR_0", `"componentType":5123,"normalized":true,"type":"VEC3"`, []uint16{65535, 0, 0, 0, 65535, 0, 0,
				0, 14027}),
			[3]color.NRGBA{red, green, {0, 0, 127, 255}},
		},
		"floats, out of range": {
			painted(pbr(`"baseColorFactor":[1,0.5,1,1]`), "COLOR_0", `"componentType":5126,"type":"VEC3"`,
				[]float32{7, -1, 0, 0, 2, 0, 0, 0, 1}),
			[3]color.NRGBA{red, green, blue},
		},
		"texture": {
			painted(blend+pbr(texture), "TEXCOORD_0", floats2, []float32{0.1, 0, 0.3, 1, -1.4, 0.5}, repeat),
			[3]color.NRGBA{red, {0, 0, 255, 128}, gray},
		},
		"mirrored texture, second coordinates": {
			painted(pbr(`"baseColorTexture":{"index":0,"texCoord":1}`), "TEXCOORD_1", floats2,
				[]float32{-0.1, 0, 1.7, 1, 1.4, 0.5}, mirror),
			[3]color.NRGBA{red, blue, gray},
		},
		"bytes for coordinates": {
			painted(pbr(texture), "TEXCOORD_0", `"componentType":5121,"normalized":true,"type":"VEC2"`,
				[]uint8{20, 0, 80, 0, 150, 0}, repeat),
			[3]color.NRGBA{red, blue, gray},
		},
		"moved texture": {
			painted(pbr(`"baseColorTexture":{"index":0,"extensions":{"KHR_texture_transform":{"offset":[0.25,0],"scale":[0.5,1]}}}`), "TEXCOORD_0", floats2,
				[]float32{-0.4, 0, 0.1, 0, 0.6, 0}, repeat),
			[3]color.NRGBA{red, blue, gray},
		},
		"turned texture": {
			painted(pbr(`"baseColorTexture":{"index":0,"extensions":{"KHR_texture_transform":{"rotation":1.5707963}}}`),
				"TEXCOORD_0", floats2,
				[]float32{0, 0.1, 0, 0.3, 0, 0.6}, repeat),
			[3]color.NRGBA{red, blue, gray},
		},
		"WebP": {
			painted(blend+pbr(texture), "TEXCOORD_0", floats2, []float32{0.1, 0, 0.3, 1, -1.4, 0.5},
				`"extensionsRequired":["EXT_texture_webp"]`,
				`"textures":[{"extensions":{"EXT_texture_webp":{"source":0}}}]`,
				`"images":[{"uri":"data:image/webp;base64,`+webpTexture+`"}]`),
			[3]color.NRGBA{red, {0, 0, 255, 128}, gray},
		},
		"diffuse color": {
			painted(pbr(`"baseColorFactor":[0,1,0,1]`)+specular(`"diffuseFactor":[1,0,0,1]`), "", "", nil),
			[3]color.NRGBA{red, red, red},
		},
		"diffuse texture": {
			painted(blend[:len(blend)-1]+specular(`"diffuseTexture":{"index":0}`), "TEXCOORD_0", floats2,
				[]float32{0.1, 0, 0.3, 1, -1.4, 0.5}, repeat),
			[3]color.NRGBA{red, {0, 0, 255, 128}, gray},
		},
		"texture elsewhere": {
			painted(pbr(`"baseColorFactor":[0,1,0,1],`+texture), "TEXCOORD_0", floats2, make([]float32, 6),
				`"textures":[{"source":0}]`,
				`"images":[{"uri":"http://127.0.0.1:9/a.png"}]`),
			[3]color.NRGBA{green, green, green},
		},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := decodetest.Decode(t, Decode, c.file)
			if err != nil {
				t.Fatal(err)
			}
			for i, want := range c.want {
				c := m.Colors[4*i:]
				if got := (color.NRGBA{c[0], c[1], c[2], c[3]}); got != want {
					t.Errorf("vertex %d has the color %v, want %v", i, got, want)
				}
			}
		})
	}
	if m, err := decodetest.Decode(t, Decode, gltfOf(oneNode, oneMesh, `"accessors":[`+floats3+`]`,
		gltfBytes(corner))); err != nil || m.Colors != nil {
		t.Errorf("without a material there are the colors %v, %v", m.Colors, err)
	}
}

// TestGLTFPatches checks the textures on triangles: their coordinates, their tint and how alpha is
// used.
func TestGLTFPatches(t *testing.T) {
	const (
		texture = `"pbrMetallicRoughness":{"baseColorTexture":{"index":0,"extensions":{"KHR_texture_transform":{"scale":[2,3]}}},"baseColorFactor":[0,1,1,0.5]}`
		floats2 = `"componentType":5126,"type":"VEC2"`
		cyan    = 0xFFFFFF00
		half    = 0x80FFFF00
	)
	root := fmt.Sprintf(textured(t), wrapMirror)
	for name, c := range map[string]struct {
		material, sampler string
		want              mesh.Texture
		tint              uint32
	}{
		"opaque": {texture, `{}`, mesh.Texture{}, cyan},
		"mask": {`"alphaMode":"MASK",` + texture, `{"wrapS":33648}`,
			mesh.Texture{WrapU: mesh.Mirror, Alpha: mesh.AlphaMask, Cutoff: 128}, half},
		"mask at 0.2": {`"alphaMode":"MASK","alphaCutoff":0.2,` + texture, `{}`, mesh.Texture{Alpha: mesh.AlphaMask,
			Cutoff: 51}, half},
		"blend": {`"alphaMode":"BLEND",` + texture, `{"wrapT":33071,"magFilter":9728}`,
			mesh.Texture{WrapV: mesh.Clamp, Nearest: true, Alpha: mesh.AlphaBlend}, half},
	} {
		m, err := decodetest.Decode(t, Decode, painted(c.material, "TEXCOORD_0", floats2, []float32{0, 0.5, 1, 2, -1, 0},
			root, `"samplers":[`+c.sampler+`]`))
		if err != nil || len(m.Patches) != 1 {
			t.Errorf("%s: got %v, %v, want a patch", name, m, err)
			continue
		}
		got := m.Patches[0]
		if uv := [3][2]float32{{0, 1.5}, {2, 6}, {-2, 0}}; got.Triangle != 0 || got.UV != uv ||
			got.Tint != [3]uint32{c.tint, c.tint, c.tint} {
			t.Errorf("%s: got triangle %d, coordinates %v and tint %08x, want 0, %v and %08x", name, got.Triangle, got.UV,
				got.Tint, uv, c.tint)
		}
		if c.want.Image = got.Texture.Image; *got.Texture != c.want {
			t.Errorf("%s: got %+v, want %+v", name, *got.Texture, c.want)
		}
	}
	m, err := decodetest.Decode(t, Decode, painted(texture, "TEXCOORD_0", floats2, []float32{0, 1, 2, 3, 4, 5}, root,
		`"nodes":[{"children":[1,2]},{"mesh":0},{"mesh":0,"scale":[-1,1,1]}]`))
	if err != nil || len(m.Patches) != 2 {
		t.Fatalf("two instances: got %v, %v, want two patches", m, err)
	}
	if a, b := m.Patches[0], m.Patches[1]; b.Triangle != 1 || b.UV != [3][2]float32{a.UV[2], a.UV[1], a.UV[0]} {
		t.Errorf("a mirrored instance has %v on triangle %d, want the reverse of %v on 1", b.UV, b.Triangle, a.UV)
	}
}

// texturedTriangles returns a file with one triangle for each of the images, which are PNG files.
func texturedTriangles(images ...[]byte) []byte {
	list := func(format string) string {
		all := make([]string, len(images))
		for i := range all {
			all[i] = fmt.Sprintf(format, i)
		}
		return strings.Join(all, ",")
	}
	uris := make([]string, len(images))
	for i, img := range images {
		uris[i] = `{"uri":"data:image/png;base64,` + base64.StdEncoding.EncodeToString(img) + `"}`
	}
	return gltfOf(oneNode, `"images":[`+strings.Join(uris, ",")+`]`, `"textures":[`+list(`{"source":%d}`)+`]`,
		`"materials":[`+list(`{"pbrMetallicRoughness":{"baseColorTexture":{"index":%d}}}`)+`]`,
		`"meshes":[{"primitives":[`+list(`{"attributes":{"POSITION":0,"TEXCOORD_0":1},"material":%d}`)+`]}]`,
		`"accessors":[`+floats3+`,{"bufferView":1,"componentType":5126,"count":3,"type":"VEC2"}]`,
		gltfBytes(corner, make([]float32, 6)))
}

// TestGLTFTextureLimits checks that all textures have the same size if there is not enough memory
// for them, that less is left beside more triangles, and that those that need too much are left
// out.
func TestGLTFTextureLimits(t *testing.T) {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 2048, 2048))); err != nil {
		t.Fatal(err)
	}
	six := make([][]byte, 6)
	for i := range six {
		six[i] = b.Bytes()
	}
	file := texturedTriangles(six...)
	for _, c := range []struct {
		textures, triangles int64
		want                int // pixels a side; 0 without textures
	}{
		{400 << 20, 1_000_000, 2048},
		{300 << 20, 1_000_000, 1024},
		{300 << 20, 7, 512},
		{15 << 20, 1_000_000, 0},
	} {
		limits := mesh.DefaultLimits
		limits.Textures, limits.Triangles = c.textures, c.triangles
		m, err := decodetest.DecodeFile(t, mesh.GLTF, Decode, file, limits)
		if err != nil {
			t.Fatal(err)
		}
		if want := min(c.want, 1) * len(six); len(m.Patches) != want {
			t.Errorf("%+v: got %d textures, want %d", c, len(m.Patches), want)
		}
		for i, p := range m.Patches {
			if width, height := p.Texture.Size(); width != c.want || height != c.want {
				t.Errorf("%+v: texture %d has %d by %d pixels", c, i, width, height)
			}
		}
	}
}

// TestGLTFSharedImage checks that an image that several textures use is decoded once.
func TestGLTFSharedImage(t *testing.T) {
	root := strings.Replace(fmt.Sprintf(textured(t), wrapMirror), `"textures":[`, `"textures":[{"source":0},`, 1)
	both := `"materials":[{"pbrMetallicRoughness":{"baseColorTexture":{"index":0}}},{"pbrMetallicRoughness":{"baseColorTexture":{"index":1}}}]`
	m, err := decodetest.Decode(t, Decode, painted("", "TEXCOORD_0", `"componentType":5126,"type":"VEC2"`,
		make([]float32, 6), root, both,
		`"meshes":[{"primitives":[{"attributes":{"POSITION":0,"TEXCOORD_0":1},"material":0},{"attributes":{"POSITION":0,"TEXCOORD_0":1},"material":1}]}]`))
	if err != nil || len(m.Patches) != 2 {
		t.Fatalf("got %v, %v, want two patches", m, err)
	}
	if a, b := m.Patches[0].Texture, m.Patches[1].Texture; a.Image != b.Image || a.WrapU != mesh.Repeat ||
		b.WrapU != mesh.Mirror {
		t.Errorf("got the textures %+v and %+v, want one image that is repeated and mirrored", a, b)
	}
}
