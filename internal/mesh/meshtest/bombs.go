package meshtest

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"math"
	"strings"
)

// Bomb is a small file that is expensive to process.
type Bomb struct {
	Name    string
	Subject string // the extension, or image
	Content func() []byte
}

// Bombs returns files that attack decoders and the renderer: nesting, overlapping faces, huge
// coordinates, slivers, images and compression.
func Bombs() []Bomb {
	var bombs []Bomb
	add := func(name, subject string, content func() []byte) {
		bombs = append(bombs, Bomb{name, subject, content})
	}
	for _, n := range []struct{ wide, deep int }{{10, 3}, {10, 4}, {10, 6}, {2, 16}, {2, 62}, {1000, 2}, {300, 2},
		{1, 100}} {
		add(fmt.Sprintf("nesting of %d, %d deep", n.wide, n.deep), "3mf", func() []byte { return nested(n.wide, n.deep) })
	}
	add("an object that contains itself", "3mf", func() []byte {
		return model3MF(`<object id="1"><components><component objectid="1"/></components></object>`, "1")
	})
	for _, n := range []int{1000, 30_000, 200_000, 1_000_000} {
		add(fmt.Sprintf("%d squares on top of each other", n), "stl", func() []byte { return triangles(n, stacked) })
	}
	for _, n := range []int{100_000, 1_000_000} {
		add(fmt.Sprintf("%d crossing faces", n), "stl", func() []byte { return triangles(n, crossing) })
	}
	for _, size := range []float32{1e17, 3e38, 1e-38, float32(math.Inf(1)), float32(math.NaN())} {
		add(fmt.Sprintf("coordinates up to %g", size), "stl", func() []byte {
			return triangles(5000, func(i int) [9]float32 { return scaled(crossing(i), size) })
		})
	}
	add("a sphere and a far vertex", "stl", func() []byte {
		return triangles(20_000, func(i int) [9]float32 {
			if i == 0 {
				return [9]float32{1e17, 1e17, 1e17, 1e17, 1e17, 0, 0, 1e17, 0}
			}
			return crossing(i)
		})
	})
	for _, n := range []int{50_000, 500_000, 2_000_000} {
		add(fmt.Sprintf("%d slivers", n), "stl", func() []byte { return triangles(n, sliver) })
	}
	add("a fan around one vertex", "stl", func() []byte { return triangles(500_000, fan) })
	add("triangles in one place", "stl", func() []byte {
		return triangles(1_000_000, func(int) [9]float32 { return [9]float32{} })
	})
	add("points in one place", "ply", func() []byte { return points(1_000_000) })
	add("more triangles declared than present", "stl", func() []byte {
		b := triangles(10, stacked)
		binary.LittleEndian.PutUint32(b[80:], math.MaxUint32)
		return b
	})
	add("4 million triangles", "stl", func() []byte { return triangles(4_000_000, crossing) })
	add("one polygon of very many corners", "off", func() []byte { return polygon(200_000) })

	add("a PNG of 25 million pixels", "image", func() []byte { return imagePNG(5000, 5000) })
	add("a PNG that declares 60,000 by 60,000 pixels", "image", func() []byte {
		b := imagePNG(1, 1)
		binary.BigEndian.PutUint32(b[16:], 60_000)
		binary.BigEndian.PutUint32(b[20:], 60_000)
		binary.BigEndian.PutUint32(b[29:], crc32.ChecksumIEEE(b[12:29]))
		return b
	})
	add("a JPEG of 25 million pixels", "image", func() []byte {
		var b bytes.Buffer
		must(jpeg.Encode(&b, image.NewYCbCr(image.Rect(0, 0, 5000, 5000), image.YCbCrSubsampleRatio444), nil))
		return b.Bytes()
	})
	add("a GIF of 24 million pixels and many frames", "image", func() []byte {
		frame := image.NewPaletted(image.Rect(0, 0, 4900, 4900), color.Palette{color.Black, color.White})
		var b bytes.Buffer
		must(gif.EncodeAll(&b, &gif.GIF{Image: []*image.Paletted{frame, frame, frame}, Delay: []int{0, 0, 0}}))
		return b.Bytes()
	})
	for _, n := range []int{1, 40} {
		add(fmt.Sprintf("%d textures of 16 million pixels", n), "gltf",
			func() []byte { return textured(n, 1, "", imagePNG(4096, 4096)) })
	}

	add("a model of spaces", "3mf", func() []byte { return spaces(1<<30 - 1<<20) })
	add("a ZIP archive of 200,000 files", "3mf", func() []byte { return manyFiles(200_000) })
	add("an element with a very long attribute", "3mf", func() []byte {
		return model3MF(`<object id="1" name="`+strings.Repeat("a", 64<<20)+`"/>`, "1")
	})
	add("elements very deep in each other", "3mf",
		func() []byte { return model3MF(strings.Repeat("<a>", 5_000_000), "1") })
	add("millions of vertices without a triangle", "3mf", func() []byte {
		return package3MF(io.MultiReader(strings.NewReader(`<object id="1"><mesh><vertices>`),
			numbered(5_000_000, `<vertex x="%d" y="0" z="0"/>`), strings.NewReader(`</vertices></mesh></object>`)), "1")
	})
	add("millions of colors", "3mf", func() []byte {
		return package3MF(io.MultiReader(strings.NewReader(`<m:colorgroup id="1">`),
			numbered(5_000_000, `<m:color color="#%06d"/>`), strings.NewReader(`</m:colorgroup>`)), "1")
	})
	for _, n := range []int{7, 20} {
		add(fmt.Sprintf("%d noisy textures on 500,000 triangles", n), "gltf",
			func() []byte { return textured(n, 500_000/n, `"alphaMode":"BLEND",`, noisePNG(1024)) })
	}
	for _, n := range []int{39_000, 78_000} {
		add(fmt.Sprintf("%d vertices at zero, compressed by meshopt", 256*n), "gltf",
			func() []byte { return zerosMeshopt(256 * n) })
	}
	add("5,000 textures", "gltf", func() []byte { return textured(5000, 1, "", imagePNG(64, 64)) })
	add("millions of texture coordinates and of triangles with a texture", "3mf", func() []byte {
		return package3MF(io.MultiReader(
			strings.NewReader(`<m:texture2d id="1" path="/a.png"/><m:texture2dgroup id="2" texid="1">`),
			numbered(5_000_000, `<m:tex2coord u="%d" v="1e30"/>`), strings.NewReader(`</m:texture2dgroup><object id="1"><mesh><vertices>
<vertex x="0" y="0" z="0"/><vertex x="9" y="0" z="0"/><vertex x="9" y="9" z="0"/></vertices><triangles>`),
			numbered(3_000_000, `<triangle v1="0" v2="1" v3="2" pid="2" p1="0" p2="1" p3="%d"/>`),
			strings.NewReader(`</triangles></mesh></object>`)), "1", imagePNG(4096, 4096))
	})
	return bombs
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// nested returns a 3MF file in which an object contains a square wide times, the next object
// contains that object wide times, and so on.
func nested(wide, deep int) []byte {
	text := `<object id="1"><mesh><vertices><vertex x="0" y="0" z="0"/><vertex x="9" y="0" z="0"/><vertex x="9" y="9" z="0"/><vertex x="0" y="9" z="0"/></vertices>` +
		`<triangles><triangle v1="0" v2="1" v3="2"/><triangle v1="0" v2="2" v3="3"/></triangles></mesh></object>`
	for i := range deep {
		text += fmt.Sprintf(`<object id="%d"><components>%s</components></object>`, i+2,
			strings.Repeat(fmt.Sprintf(`<component objectid="%d"/>`, i+1), wide))
	}
	return model3MF(text, fmt.Sprint(deep+1))
}

const relations3MF = `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` +
	`<Relationship Type="http://schemas.microsoft.com/3dmanufacturing/2013/01/3dmodel" Target="/3D/3dmodel.model" Id="a"/></Relationships>`

// model3MF returns a 3MF file of resources that builds one object.
func model3MF(resources, object string) []byte {
	return package3MF(strings.NewReader(resources), object)
}

func package3MF(resources io.Reader, object string, textures ...[]byte) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create("_rels/.rels")
	must(err)
	_, err = io.WriteString(w, relations3MF)
	must(err)
	w, err = z.Create("3D/3dmodel.model")
	must(err)
	_, err = io.Copy(w, io.MultiReader(
		strings.NewReader(`<model unit="millimeter" xmlns="http://schemas.microsoft.com/3dmanufacturing/core/2015/02" xmlns:m="http://schemas.microsoft.com/3dmanufacturing/material/2015/02"><resources>`),
		resources, strings.NewReader(`</resources><build><item objectid="`+object+`"/></build></model>`)))
	must(err)
	for i, texture := range textures {
		w, err = z.Create(string(rune('a'+i)) + ".png")
		must(err)
		_, err = w.Write(texture)
		must(err)
	}
	must(z.Close())
	return b.Bytes()
}

// spaces returns a 3MF file whose model consists of n spaces.
func spaces(n int64) []byte { return package3MF(io.LimitReader(blank{}, n), "1") }

type blank struct{}

func (blank) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = ' '
	}
	return len(b), nil
}

// numbered returns a reader of a text that is repeated n times with an increasing number in it.
func numbered(n int, text string) io.Reader {
	const block = 10_000
	var b strings.Builder
	for i := range block {
		fmt.Fprintf(&b, text, i*7919%999_983)
	}
	blocks := make([]io.Reader, n/block)
	for i := range blocks {
		blocks[i] = strings.NewReader(b.String())
	}
	return io.MultiReader(blocks...)
}

func manyFiles(n int) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := range n {
		_, err := z.CreateHeader(&zip.FileHeader{Name: fmt.Sprint(i)})
		must(err)
	}
	must(z.Close())
	return b.Bytes()
}

// triangles returns a binary STL file.
func triangles(n int, corners func(i int) [9]float32) []byte {
	b := make([]byte, 84+50*n)
	binary.LittleEndian.PutUint32(b[80:], uint32(n))
	for i := range n {
		for k, x := range corners(i) {
			binary.LittleEndian.PutUint32(b[84+50*i+12+4*k:], math.Float32bits(x))
		}
	}
	return b
}

// stacked returns triangles that fill the image one behind the other.
func stacked(i int) [9]float32 {
	z := float32(i%1000) / 1000
	return [9]float32{0, 0, z, 1, 0, z, 1, 1, z}
}

// crossing returns large triangles through the center, each rotated differently.
func crossing(i int) [9]float32 {
	a, b := math.Sincos(float64(i) * 0.7)
	c, d := math.Sincos(float64(i) * 1.3)
	return [9]float32{float32(a), float32(b), float32(c), float32(-b), float32(a), float32(d), float32(-a), float32(-b),
		float32(-c)}
}

// scattered returns small triangles on a sphere.
func scattered(i int) [9]float32 {
	z := 1 - 2*math.Mod(float64(i)*0.618034, 1)
	s, c := math.Sincos(float64(i) * 0.7)
	x, y, size := float32(s*math.Sqrt(1-z*z)), float32(c*math.Sqrt(1-z*z)), float32(0.002)
	return [9]float32{x, y, float32(z), x + size, y, float32(z), x, y + size, float32(z) + size}
}

// sliver returns long and thin triangles.
func sliver(i int) [9]float32 {
	y := float32(i%997) / 997
	return [9]float32{0, y, 0, 1, y + 1e-6, 0, 1, y, float32(i%7) * 1e-6}
}

// fan returns triangles that share a vertex.
func fan(i int) [9]float32 {
	s, c := math.Sincos(float64(i) * 1e-4)
	t, d := math.Sincos(float64(i+1) * 1e-4)
	return [9]float32{0, 0, 1, float32(s), float32(c), 0, float32(t), float32(d), 0}
}

func scaled(corners [9]float32, by float32) [9]float32 {
	for i := range corners {
		corners[i] *= by
	}
	return corners
}

func points(n int) []byte {
	head := fmt.Sprintf(
		"ply\nformat binary_little_endian 1.0\nelement vertex %d\nproperty float x\nproperty float y\nproperty float z\nend_header\n", n)
	return append([]byte(head), make([]byte, 12*n)...)
}

// polygon returns an OFF file with one face that is a spiral.
func polygon(n int) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "OFF %d 1 0\n", n)
	for i := range n {
		s, c := math.Sincos(float64(i) * 0.1)
		r := float64(i%(n/2)) + 1
		fmt.Fprintf(&b, "%g %g 0\n", r*s, r*c)
	}
	fmt.Fprintf(&b, "%d", n)
	for i := range n {
		fmt.Fprintf(&b, " %d", i)
	}
	b.WriteByte('\n')
	return b.Bytes()
}

func imagePNG(width, height int) []byte {
	var b bytes.Buffer
	must((&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, image.NewNRGBA(image.Rect(0, 0, width, height))))
	return b.Bytes()
}

func noisePNG(side int) []byte {
	img := image.NewNRGBA(image.Rect(0, 0, side, side))
	state := uint32(1)
	for i := range img.Pix {
		state = state*1664525 + 1013904223
		img.Pix[i] = byte(state >> 24)
	}
	var b bytes.Buffer
	must((&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, img))
	return b.Bytes()
}

// textured returns a glTF file with a number of triangles for each of n textures. material are
// members of each material.
func textured(n, triangles int, material string, picture []byte) []byte {
	positions := 36 * triangles
	buffer := make([]byte, positions+24*triangles)
	for i := range triangles {
		corners := scattered(i)
		for k, x := range corners {
			binary.LittleEndian.PutUint32(buffer[36*i+4*k:], math.Float32bits(x))
		}
		for k, x := range [6]float32{0, 0, 0, 1, corners[0], 1} {
			binary.LittleEndian.PutUint32(buffer[positions+24*i+4*k:], math.Float32bits(x))
		}
	}
	list := func(one func(i int) string) string {
		all := make([]string, n)
		for i := range all {
			all[i] = one(i)
		}
		return strings.Join(all, ",")
	}
	uri := base64.StdEncoding.EncodeToString(picture)
	return fmt.Appendf(nil, `{"asset":{"version":"2.0"},"scene":0,"scenes":[{"nodes":[0]}],"nodes":[{"mesh":0}],
"buffers":[{"byteLength":%[6]d,"uri":"data:application/octet-stream;base64,%[1]s"}],
"bufferViews":[{"buffer":0,"byteLength":%[7]d},{"buffer":0,"byteOffset":%[7]d,"byteLength":%[8]d}],
"accessors":[{"bufferView":0,"componentType":5126,"count":%[9]d,"type":"VEC3"},{"bufferView":1,"componentType":5126,"count":%[9]d,"type":"VEC2"}],
"images":[%[2]s],"textures":[%[3]s],"materials":[%[4]s],"meshes":[{"primitives":[%[5]s]}]}`,
		base64.StdEncoding.EncodeToString(buffer),
		list(func(int) string { return `{"uri":"data:image/png;base64,` + uri + `"}` }),
		list(func(i int) string { return fmt.Sprintf(`{"source":%d}`, i) }),
		list(func(i int) string {
			return fmt.Sprintf(`{%s"pbrMetallicRoughness":{"baseColorTexture":{"index":%d}}}`, material, i)
		}),
		list(func(i int) string {
			return fmt.Sprintf(`{"attributes":{"POSITION":0,"TEXCOORD_0":1},"material":%d}`, i)
		}),
		len(buffer), positions, 24*triangles, 3*triangles)
}

// zerosMeshopt returns a glTF file with count vertices at zero. 3 bytes say that 256 of them are
// zero, so they are compressed to a 1024th.
func zerosMeshopt(count int) []byte {
	packed := append([]byte{0xA1}, bytes.Repeat([]byte{0xAA}, count/256*3)...)
	packed = append(packed, make([]byte, 24)...)
	return fmt.Appendf(nil, `{"asset":{"version":"2.0"},"extensionsRequired":["KHR_meshopt_compression"],"nodes":[{"mesh":0}],
"meshes":[{"primitives":[{"attributes":{"POSITION":0}}]}],
"accessors":[{"bufferView":0,"componentType":5126,"count":%[1]d,"type":"VEC3"}],
"bufferViews":[{"buffer":1,"byteLength":%[2]d,"byteStride":12,"extensions":{"KHR_meshopt_compression":
{"buffer":0,"byteLength":%[3]d,"byteStride":12,"count":%[1]d,"mode":"ATTRIBUTES"}}}],
"buffers":[{"byteLength":%[3]d,"uri":"data:;base64,%[4]s"},{"byteLength":%[2]d}]}`,
		count, 12*count, len(packed), base64.StdEncoding.EncodeToString(packed))
}
