package threemf

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode/decodetest"
)

// Test3MFTextures checks the colors of vertices with texture coordinates. The texture is red above
// blue, each with green to its right.
func Test3MFTextures(t *testing.T) {
	const r, g, b = "\xFF\x00\x00\xFF", "\x00\xFF\x00\xFF", "\x00\x00\xFF\xFF"
	img := image.NewNRGBA(image.Rect(0, 0, 2, 2))
	img.SetNRGBA(0, 0, color.NRGBA{255, 0, 0, 255})
	img.SetNRGBA(0, 1, color.NRGBA{0, 0, 255, 255})
	img.SetNRGBA(1, 0, color.NRGBA{0, 255, 0, 255})
	img.SetNRGBA(1, 1, color.NRGBA{0, 255, 0, 255})
	var encoded bytes.Buffer
	if err := png.Encode(&encoded, img); err != nil {
		t.Fatal(err)
	}
	whole := encoded.String()
	for _, c := range []struct{ name, image, style, coordinates, want string }{
		{"inside", whole, ``, "0.2 0.8, 0.2 0.2, 0.8 0.8", r + b + g},
		{"wrapped", whole, ``, "1.2 0.8, -0.8 0.2, 0.2 -0.2", r + b + r},
		{"mirrored", whole, `tilestyleu="mirror" tilestylev="mirror"`, "1.8 0.8, -0.2 1.8, 1.2 0.8", r + b + g},
		{"clamped", whole, `tilestyleu="clamp" tilestylev="none"`, "-5 5, -5 -5, 5 0", r + b + g},
		{"not numbers", whole, ``, "x 0.8, 0.2 nan, 0.8 ", ""},
		{"damaged", whole[:40], ``, "0.2 0.8, 0.2 0.2, 0.8 0.8", ""},
		{"missing", "", ``, "0.2 0.8, 0.2 0.2, 0.8 0.8", ""},
	} {
		resources := `<m:texture2d id="5" path="/3D/Textures/a.png" contenttype="image/png" ` + c.style +
			`/><m:texture2dgroup id="6" texid="5">`
		for coordinate := range strings.SplitSeq(c.coordinates, ", ") {
			u, v, _ := strings.Cut(coordinate, " ")
			resources += fmt.Sprintf(`<m:tex2coord u="%s" v="%s"/>`, u, v)
		}
		resources += `</m:texture2dgroup><object id="1">` +
			strings.Replace(oneTriangle, `<triangle v1`, `<triangle pid="6" p1="0" p2="1" p3="2" v1`, 1) + `</object>`
		parts := map[string]string{"3D/3dmodel.model": modelText(resources, `<item objectid="1"/>`)}
		if c.image != "" {
			parts["3D/Textures/A.png"] = c.image
		}
		m := read3MFBytes(t, package3MF(t, parts))
		var got []byte
		for _, v := range m.Indices {
			if m.Colors != nil {
				got = append(got, m.Colors[4*v:4*v+4]...)
			}
		}
		if string(got) != c.want {
			t.Errorf("%s: got %x, want %x", c.name, got, c.want)
		}
		if c.want == "" {
			if m.Patches != nil {
				t.Errorf("%s: got patches %v, want none", c.name, m.Patches)
			}
			continue
		}
		if len(m.Patches) != 1 || m.Patches[0].Triangle != 0 {
			t.Errorf("%s: got patches %v, want one", c.name, m.Patches)
			continue
		}
		for k, at := range m.Patches[0].UV {
			color := binary.LittleEndian.Uint32([]byte(c.want[4*k:]))
			if got := m.Patches[0].Texture.At(float64(at[0]), float64(at[1])); got != color {
				t.Errorf("%s: the texture has at corner %d the color %x, want %x", c.name, k, got, color)
			}
		}
	}
}

// Test3MFTextureLimits checks that textures leave memory to triangles, counting each instance.
func Test3MFTextureLimits(t *testing.T) {
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 2048, 2048))); err != nil {
		t.Fatal(err)
	}
	resources := `<m:texture2d id="5" path="/a.png" contenttype="image/png"/><m:texture2dgroup id="6" texid="5"><m:tex2coord u="0" v="0"/></m:texture2dgroup>` +
		`<object id="1">` + strings.Replace(oneTriangle, `<triangle v1`, `<triangle pid="6" p1="0" v1`, 1) + `</object>`
	file := package3MF(t, map[string]string{
		"3D/3dmodel.model": modelText(resources, strings.Repeat(`<item objectid="1"/>`, 4)), "a.png": picture.String(),
	})
	for triangles, want := range map[int64]int{1_000_000: 2048, 4: 1024} {
		limits := mesh.DefaultLimits
		limits.Textures, limits.Triangles = 300<<20, triangles
		m, err := decodetest.DecodeFile(t, mesh.ThreeMF, Decode, file, limits)
		if err != nil || len(m.Patches) != 4 {
			t.Fatalf("got %v, %v, want four patches", m, err)
		}
		if width, _ := m.Patches[0].Texture.Size(); width != want {
			t.Errorf("beside 4 of %d triangles, the texture has %d pixels a side, want %d", triangles, width, want)
		}
	}
}
