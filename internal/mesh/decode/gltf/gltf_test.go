package gltf

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode/decodetest"
	"github.com/meshyard/meshyard/internal/mesh/meshtest"
)

// gltfOf returns a file with the given root members, each as "name": value.
func gltfOf(members ...string) []byte {
	return []byte(`{"asset":{"version":"2.0"},` + strings.Join(members, ",") + `}`)
}

// gltfBytes returns the root members for a buffer with the given parts, each in a buffer view of
// its own.
func gltfBytes(parts ...any) string {
	var b bytes.Buffer
	var views []string
	for _, p := range parts {
		from := b.Len()
		if err := binary.Write(&b, binary.LittleEndian, p); err != nil {
			panic(err)
		}
		views = append(views, fmt.Sprintf(`{"buffer":0,"byteOffset":%d,"byteLength":%d}`, from, b.Len()-from))
	}
	return fmt.Sprintf(`"bufferViews":[%s],"buffers":[{"byteLength":%d,"uri":"data:application/octet-stream;base64,%s"}]`,
		strings.Join(views, ","), b.Len(), base64.StdEncoding.EncodeToString(b.Bytes()))
}

// glbOf returns a GLB file.
func glbOf(text, bin []byte, more ...[]byte) []byte {
	chunk := func(b []byte, kind uint32, pad byte) []byte {
		b = append(slices.Clone(b), bytes.Repeat([]byte{pad}, (4-len(b)%4)%4)...)
		return append(binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, uint32(len(b))), kind), b...)
	}
	body := chunk(text, chunkJSON, ' ')
	if bin != nil {
		body = append(body, chunk(bin, chunkBIN, 0)...)
	}
	for _, b := range more {
		body = append(body, chunk(b, 0x12345678, 0)...)
	}
	head := binary.LittleEndian.AppendUint32([]byte(magicGLB), 2)
	return append(binary.LittleEndian.AppendUint32(head, uint32(12+len(body))), body...)
}

const (
	// Members of a file with one mesh of one triangle and one accessor.
	oneNode = `"nodes":[{"mesh":0}]`
	oneMesh = `"meshes":[{"primitives":[{"attributes":{"POSITION":0}}]}]`
	floats3 = `{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3"}`
)

// instancing returns a node at z = 9 that shows a mesh as often as the attributes say.
func instancing(attributes string) string {
	return `"nodes":[{"mesh":0,"translation":[0,0,9],"extensions":{"EXT_mesh_gpu_instancing":{"attributes":{` +
		attributes + `}}}}]`
}

var corner = []float32{0, 0, 0, 1, 0, 0, 0, 1, 0}

// companions embeds the external buffers of a test file.
func companions(t *testing.T, name string, b []byte) []byte {
	t.Helper()
	var doc map[string]any
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	buffers, _ := doc["buffers"].([]any)
	for _, entry := range buffers {
		buffer := entry.(map[string]any)
		if uri, _ := buffer["uri"].(string); !strings.HasPrefix(uri, dataScheme) {
			bin, err := os.ReadFile(filepath.Join(filepath.Dir(name), uri))
			if err != nil {
				t.Fatal(err)
			}
			buffer["uri"] = "data:;base64," + base64.StdEncoding.EncodeToString(bin)
		}
	}
	b, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestGLTFManifest(t *testing.T) {
	for _, row := range meshtest.Meshes(t) {
		if row.Format != "gltf" && row.Format != "glb" {
			continue
		}
		t.Run(row.Name, func(t *testing.T) {
			b := row.Bytes(t)
			// These are compressed boxes. The manifest allows them to be unsupported.
			if row.Kind == "unsupported-extension" {
				row.Triangles = 12
				row.Box = mesh.Box{Min: [3]float64{-0.5, -0.5, -0.5}, Max: [3]float64{0.5, 0.5, 0.5}}
				if row.Format == "gltf" {
					b = companions(t, row.Path, b)
				}
			}
			m, err := decodetest.Decode(t, Decode, b)
			if strings.Contains(row.Notes, "external buffer") || strings.Contains(row.Name, "many-cubes") {
				decodetest.CheckError(t, err, mesh.Unsupported, "pack it as GLB")
				m, err = decodetest.Decode(t, Decode, companions(t, row.Path, b))
			}
			if err != nil {
				t.Fatal(err)
			}
			if m.Triangles() != row.Triangles {
				t.Errorf("got %d triangles, want %d", m.Triangles(), row.Triangles)
			}
			if m.Unit != 1000 || m.Up != mesh.UpY || string(m.Format) != row.Format {
				t.Errorf("got a unit of %v mm, %v up, the format %s", m.Unit, m.Up, m.Format)
			}
			meshtest.CheckBox(t, m.Box(), row.Box)
		})
	}
}

// TestGLTFShapes checks the triangles of all kinds of primitives and transforms.
func TestGLTFShapes(t *testing.T) {
	square := []float32{0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0}
	const positions4 = `{"bufferView":0,"componentType":5126,"count":4,"type":"VEC3"}`
	indices := func(kind, count int) string {
		return fmt.Sprintf(`"accessors":[%s,{"bufferView":1,"componentType":%d,"count":%d,"type":"SCALAR"}]`, positions4,
			kind, count)
	}
	primitive := func(more string) string {
		return `"meshes":[{"primitives":[{"attributes":{"POSITION":0}` + more + `}]}]`
	}
	turned := `"nodes":[{"children":[1],"translation":[10,0,0],"scale":[2,2,2]},{"mesh":0,"rotation":[0,0,0.7071067811865476,0.7071067811865476]}]`
	one := `"accessors":[` + floats3 + `]`
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	chain := ""
	for i := range 1000 {
		chain += fmt.Sprintf(`{"children":[%d]},`, i+1)
	}
	for name, c := range map[string]struct {
		file []byte
		want string // corners of each triangle
	}{
		"no indices": {gltfOf(oneNode, oneMesh, one, gltfBytes(corner)), "000 100 010"},
		"strip": {gltfOf(oneNode, primitive(`,"mode":5`), `"accessors":[`+positions4+`]`, gltfBytes(square)),
			"000 100 010, 100 110 010"},
		"fan of bytes": {gltfOf(oneNode, primitive(`,"mode":6,"indices":1`), indices(5121, 4),
			gltfBytes(square, []uint8{0, 1, 3, 2})),
			"100 110 000, 110 010 000"},
		"shorts, one left over": {
			gltfOf(oneNode, primitive(`,"indices":1`), indices(5123, 4), gltfBytes(square, []uint16{3, 2, 1, 0})),
			"110 010 100",
		},
		"ints": {
			gltfOf(oneNode, primitive(`,"indices":1`), indices(5125, 3), gltfBytes(square, []uint32{3, 2, 1})),
			"110 010 100",
		},
		"mirrored": {gltfOf(`"nodes":[{"mesh":0,"scale":[-1,1,1]}]`, oneMesh, one, gltfBytes(corner)), "010 -100 000"},
		"nested":   {gltfOf(turned, oneMesh, one, gltfBytes(corner)), "1000 1020 800"},
		"deep": {
			gltfOf(`"nodes":[`+chain+`{"children":[1001,1002]},{"mesh":0},{"mesh":0,"translation":[0,0,1]}]`, oneMesh, one,
				gltfBytes(corner)),
			"000 100 010, 001 101 011",
		},
		"matrix": {
			gltfOf(`"nodes":[{"mesh":0,"matrix":[0,1,0,0, -1,0,0,0, 0,0,1,0, 5,6,7,1]}]`, oneMesh, one, gltfBytes(corner)),
			"567 577 467",
		},
		"reused": {
			gltfOf(`"nodes":[{"mesh":0},{"mesh":0,"translation":[0,0,1]}]`, oneMesh, one, gltfBytes(corner)),
			"000 100 010, 001 101 011",
		},
		"instanced": {
			gltfOf(`"extensionsRequired":["EXT_mesh_gpu_instancing"]`,
				instancing(`"TRANSLATION":1,"ROTATION":2,"SCALE":3,"_ID":4`), oneMesh,
				`"accessors":[`+floats3+`,{"bufferView":1,"componentType":5126,"count":2,"type":"VEC3"},`+
					`{"bufferView":2,"componentType":5122,"normalized":true,"count":2,"type":"VEC4"},{"bufferView":3,"componentType":5126,"count":2,"type":"VEC3"}]`,
				gltfBytes(corner, []float32{0, 0, 0, 5, 0, 0}, shorts(0, 0, 0, 32767, 0, 0, 23170, 23170),
					[]float32{1, 1, 1, 2, 3, 4})),
			"009 109 019, 509 529 209",
		},
		"instanced without attributes": {gltfOf(instancing(``), oneMesh, one, gltfBytes(corner)), "009 109 019"},
		"skinned": {skinnedFile(`"joints":[1,2],"inverseBindMatrices":3`,
			[12]uint8{0, 9, 9, 9, 0, 1, 0, 0, 0, 1}), "002 202 122"},
		"skinned, bound to the origin": {skinnedFile(`"joints":[1,2]`, [12]uint8{5: 1, 9: 1}), "002 302 322"},
		"joints of one primitive": {bytes.Replace(skinnedFile(`"joints":[1,2]`, [12]uint8{}), []byte(`[{"attributes"`),
			[]byte(`[{"attributes":{"POSITION":0}},{"attributes"`), 1), "999 1099 9109, 999 1099 9109"},
		"GLB with more behind its end": {append(glbOf(gltfOf(oneNode, oneMesh, one, gltfBytes(corner)), nil),
			"0123456789abcdef"...), "000 100 010"},
		"version 2": {bytes.Replace(gltfOf(oneNode, oneMesh, one, gltfBytes(corner)), []byte(`"2.0"`), []byte(`"2"`), 1),
			"000 100 010"},
		"extensions without effect": {gltfOf(`"extensionsRequired":["KHR_techniques_webgl","EXT_mesh_features"]`, oneNode,
			oneMesh, one, gltfBytes(corner)),
			"000 100 010"},
		"all nodes in the scene": {
			gltfOf(`"scenes":[{"nodes":[0,1,2,2]}],"nodes":[{"mesh":0,"translation":[0,0,1]},{"children":[0],"translation":[0,0,2]},{"mesh":0}]`,
				oneMesh, one, gltfBytes(corner)), "003 103 013, 000 100 010",
		},
		"a child in the scene": {
			gltfOf(`"scenes":[{"nodes":[0]}],"nodes":[{"mesh":0,"translation":[0,0,1]},{"children":[0],"translation":[0,0,2]}]`,
				oneMesh, one, gltfBytes(corner)), "001 101 011",
		},
		"the scene that is said": {gltfOf(
			`"scene":1,"scenes":[{"nodes":[0]},{"nodes":[1]}],"nodes":[{"mesh":0},{"mesh":0,"translation":[0,0,1]}]`,
			oneMesh, one, gltfBytes(corner)), "001 101 011"},
		"the first scene": {gltfOf(
			`"scenes":[{"nodes":[1]},{"nodes":[0]}],"nodes":[{"mesh":0},{"mesh":0,"translation":[0,0,1]}]`,
			oneMesh, one, gltfBytes(corner)), "001 101 011"},
		"sparse on nothing": {gltfOf(oneNode, oneMesh,
			`"accessors":[{"componentType":5126,"count":3,"type":"VEC3","sparse":{"count":2,`+
				`"indices":{"bufferView":0,"componentType":5121},"values":{"bufferView":1}}}]`,
			gltfBytes([]uint8{1, 2}, []float32{1, 0, 0, 0, 1, 0})), "000 100 010"},
		"quantized, interleaved": {gltfOf(`"extensionsRequired":["KHR_mesh_quantization"]`,
			`"nodes":[{"mesh":0,"scale":[2,2,2]}]`, oneMesh,
			`"accessors":[{"bufferView":0,"byteOffset":2,"componentType":5122,"normalized":true,"count":3,"type":"VEC3"}],`+
				`"bufferViews":[{"buffer":0,"byteLength":32,"byteStride":12}]`, `"buffers":[{"byteLength":32,"uri":"data:;base64,`+
				base64.RawStdEncoding.EncodeToString(shorts(9, 0, 0, 0, 9, 9, 9, 32767, 0, 0, 9, 9, 9, 0, 32767, 0))+`"}]`),
			"000 200 020"},
		"numbers of floats, escapes": {bytes.ReplaceAll(bytes.ReplaceAll(gltfOf(oneNode, oneMesh, one, gltfBytes(corner)),
			[]byte(`"count":3`), []byte(`"count":3.0`)),
			[]byte("/octet"), []byte(`\/octet`)), "000 100 010"},
		"escapes in base64": {bytes.Replace(gltfOf(oneNode, oneMesh, one,
			gltfBytes([]float32{0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0})), []byte("=="),
			[]byte(`\u003d\u003D`), 1), "000 100 010"},
		"line breaks in base64": {bytes.Replace(gltfOf(oneNode, oneMesh, one, gltfBytes(corner)), []byte("base64,AAAA"),
			[]byte(`base64,AA\r\nAA`), 1),
			"000 100 010"},
		"a chunk of another kind": {glbOf(append(gltfOf(oneNode, oneMesh, one,
			`"bufferViews":[{"buffer":0,"byteLength":36}],"buffers":[{"byteLength":36}]`),
			"  "...), floatBytes(corner), []byte("later")), "000 100 010"},
		"two of the same vertices": {gltfOf(oneNode,
			`"meshes":[{"primitives":[{"attributes":{"POSITION":0}},{"attributes":{"POSITION":0}}]}]`, one,
			gltfBytes(corner)), "000 100 010, 000 100 010"},
		"morph targets": {morphed(`{"mesh":0}`, `"weights":[1,0.5,0,0.25]`), "003 203 033"},
		"morph targets of a node": {morphed(`{"mesh":0},{"mesh":0,"weights":[2]},{"mesh":0,"weights":[0,0,0]}`,
			`"weights":[1]`),
			"001 101 011, 002 102 012, 000 100 010"},
		"morph targets without weights": {morphed(`{"mesh":0}`, `"extras":{}`), "000 100 010"},
		"two parents": {
			gltfOf(`"nodes":[{"children":[2]},{"children":[2],"translation":[0,0,1]},{"children":[3]},{"mesh":0}]`, oneMesh, one,
				gltfBytes(corner)),
			"000 100 010, 001 101 011",
		},
		"two parents, one in the scene": {
			gltfOf(`"scenes":[{"nodes":[1,2]}],"nodes":[{"children":[2]},{"children":[2],"translation":[0,0,1]},{"mesh":0}]`,
				oneMesh, one,
				gltfBytes(corner)), "001 101 011",
		},
		"a vertex that is not a number": {gltfOf(oneNode, oneMesh, strings.Replace(one, `"count":3`, `"count":12`, 1),
			gltfBytes(slices.Concat(corner, []float32{0, 0, 0, 1, 0, 0, 0, 1, nan, 0, 0, 0, inf, 0, 0, 0, 0, 1}, corner))),
			"000 100 010, 000 100 010"},
		"byte-order mark": {append([]byte("\xEF\xBB\xBF"), gltfOf(oneNode, oneMesh, one, gltfBytes(corner))...),
			"000 100 010"},
		"glb": {glbOf(gltfOf(oneNode, oneMesh, one,
			`"bufferViews":[{"buffer":0,"byteLength":36}],"buffers":[{"byteLength":36}]`), floatBytes(corner)),
			"000 100 010"},
		"lines beside": {gltfOf(oneNode,
			`"meshes":[{"primitives":[{"attributes":{"POSITION":0},"mode":1},{"attributes":{"POSITION":0}},`+
				`{"attributes":{"POSITION":0},"mode":0}]}]`, one, gltfBytes(corner)), "000 100 010"},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := decodetest.Decode(t, Decode, c.file)
			if err != nil {
				t.Fatal(err)
			}
			if m.Vertices() != 3*m.Triangles() && m.Triangles() < 2 {
				t.Errorf("got %d vertices", m.Vertices())
			}
			var got []string
			for i := range m.Triangles() {
				var corners []string
				a, b, c := m.Corners(i)
				for _, v := range []uint32{a, b, c} {
					p := m.At(v)
					corners = append(corners, fmt.Sprintf("%.0f%.0f%.0f", p[0]+0, p[1]+0, p[2]+0))
				}
				got = append(got, strings.Join(corners, " "))
			}
			if got := strings.ReplaceAll(strings.Join(got, ", "), "-0", "0"); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// morphed returns a file with a triangle and three morph targets, which move it by 1 along z, by 4
// along z with each corner twice as far from the first, and to an accessor that does not exist.
func morphed(nodes, weights string) []byte {
	return gltfOf(`"nodes":[`+nodes+`]`,
		`"meshes":[{`+weights+`,"primitives":[{"attributes":{"POSITION":0},"targets":[{"POSITION":1},{"POSITION":2},{"POSITION":9}]}]}]`,
		`"accessors":[`+floats3+`,`+strings.Replace(floats3, `View":0`, `View":1`, 1)+`,`+strings.Replace(floats3, `View":0`,
			`View":2`, 1)+`]`,
		gltfBytes(corner, []float32{0, 0, 1, 0, 0, 1, 0, 0, 1}, []float32{0, 0, 4, 2, 0, 4, 0, 4, 4}))
}

// skinnedFile returns a file with a triangle and a skin. Its second corner is halfway between the
// joints, and its first has no weights.
func skinnedFile(skin string, joints [12]uint8) []byte {
	accessor := func(view, kind, count int, of string) string {
		return fmt.Sprintf(`{"bufferView":%d,"componentType":%d,"count":%d,"type":%q}`, view, kind, count, of)
	}
	weights := [12]uint8{4: 127, 5: 127, 9: 255}
	inverse := [32]float32{0: 1, 5: 1, 10: 1, 15: 1, 16: 1, 21: 1, 26: 1, 28: -1, 31: 1}
	return gltfOf(`"nodes":[{"mesh":0,"skin":0,"translation":[9,9,9]},{"translation":[0,0,2],"children":[2]},{"translation":[3,0,0],"scale":[2,2,2]}]`,
		`"meshes":[{"primitives":[{"attributes":{"POSITION":0,"JOINTS_0":1,"WEIGHTS_0":2}}]}]`, `"skins":[{`+skin+`}]`,
		`"accessors":[`+floats3+`,`+accessor(1, 5121, 3, "VEC4")+`,`+accessor(2, 5121, 3, "VEC4")+`,`+accessor(3, 5126, 2,
			"MAT4")+`]`,
		gltfBytes(corner, joints, weights, inverse))
}

func shorts(n ...int16) []byte {
	var b []byte
	for _, x := range n {
		b = binary.LittleEndian.AppendUint16(b, uint16(x))
	}
	return b
}

func floatBytes(n []float32) []byte {
	var b []byte
	for _, x := range n {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

func TestGLTFCloud(t *testing.T) {
	m, err := decodetest.Decode(t, Decode, gltfOf(`"nodes":[{"mesh":0},{"mesh":0,"translation":[0,0,1]}]`,
		`"meshes":[{"primitives":[{"attributes":{"POSITION":0},"mode":0}]}]`, `"accessors":[`+floats3+`]`, gltfBytes(corner)))
	if err != nil {
		t.Fatal(err)
	}
	if want := append(slices.Clone(corner), 0, 0, 1, 1, 0, 1, 0, 1, 1); !m.Cloud || !slices.Equal(m.Positions, want) ||
		m.Indices != nil {
		t.Errorf("got %v, cloud: %v, want %v", m.Positions, m.Cloud, want)
	}
	m, err = decodetest.Decode(t, Decode,
		gltfOf(oneNode, `"meshes":[{"primitives":[{"attributes":{"POSITION":0},"mode":0}]}]`, `"accessors":[`+floats3+`]`,
			gltfBytes([]float32{1, 2, 3, float32(math.NaN()), 5, 6, 7, 8, 9})))
	if err != nil || !slices.Equal(m.Positions, []float32{1, 2, 3, 7, 8, 9}) {
		t.Errorf("got %v, %v, want the points that are numbers", m, err)
	}
}

func TestGLTFFar(t *testing.T) {
	m, err := decodetest.Decode(t, Decode, gltfOf(`"nodes":[{"mesh":0,"translation":[1e9,0,0.5]}]`, oneMesh,
		`"accessors":[`+floats3+`]`, gltfBytes(corner)))
	if err != nil {
		t.Fatal(err)
	}
	if b := m.Box(); b.Min != [3]float64{1e9, 0, 0.5} || b.Max != [3]float64{1e9 + 1, 1, 0.5} {
		t.Errorf("got the box %v", b)
	}
}

// TestGLTFLong decodes a buffer that is longer than one read.
func TestGLTFLong(t *testing.T) {
	many := slices.Repeat(corner, 20_000)
	m, err := decodetest.Decode(t, Decode, gltfOf(oneNode, oneMesh, strings.Replace(`"accessors":[`+floats3+`]`, ":3,",
		":60000,", 1), gltfBytes(many)))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(m.Positions, many) {
		t.Errorf("got %d positions, not the same as the %d that were written", len(m.Positions), len(many))
	}
}

func TestGLTFCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	file := gltfOf(oneNode, oneMesh, `"accessors":[`+floats3+`]`, gltfBytes(corner))
	if _, err := Decode(ctx, decodetest.Source(file), mesh.DefaultLimits, nil); err != context.Canceled {
		t.Errorf("got the error %v, want that of the context", err)
	}
}

func FuzzGLTF(f *testing.F) {
	one := `"accessors":[` + floats3 + `,{"bufferView":1,"componentType":5121,"count":4,"type":"SCALAR"}]`
	f.Add(gltfOf(`"scene":0,"scenes":[{"nodes":[0]}],"nodes":[{"mesh":0,"children":[1],"scale":[1,2,-1]},{"mesh":0,"matrix":[0,1,0,0,-1,0,0,0,0,0,1,0,5,6,7,1]}]`,
		`"meshes":[{"primitives":[{"attributes":{"POSITION":0,"COLOR_0":0,"TEXCOORD_0":0},"indices":1,"material":0,"mode":5}]}]`,
		`"materials":[{"alphaMode":"BLEND","pbrMetallicRoughness":{"baseColorFactor":[1,0,0,1],"baseColorTexture":{"index":0}}}]`,
		`"textures":[{"source":0}],"images":[{"bufferView":1}]`, one, gltfBytes(corner, []uint8{0, 1, 2, 0})))
	f.Add(gltfOf(oneNode, oneMesh, `"accessors":[{"componentType":5126,"count":3,"type":"VEC3","sparse":{"count":2,`+
		`"indices":{"bufferView":0,"componentType":5121},"values":{"bufferView":1}}}]`,
		gltfBytes([]uint8{1, 2}, []float32{1, 0, 0, 0, 1, 0})))
	f.Add(glbOf(gltfOf(oneNode, oneMesh, `"accessors":[`+floats3+`]`,
		`"bufferViews":[{"buffer":0,"byteLength":36}],"buffers":[{"byteLength":36}]`), floatBytes(corner)))
	f.Add(skinnedFile(`"joints":[1,2],"inverseBindMatrices":3`, [12]uint8{5: 1, 9: 1}))
	f.Add(dracoFile(f, "standard_attributes.drc", `{"mesh":0}`, ""))
	f.Add(dracoFile(f, "sequential.drc", `{"mesh":0}`, ""))
	f.Add(meshoptFile(`"count":3,"byteStride":12,"mode":"ATTRIBUTES"`))
	decodetest.Fuzz(f, "gltf", Decode)
}

// BenchmarkGLTF decodes a GLB file of a million triangles with half as many vertices.
func BenchmarkGLTF(b *testing.B) {
	const side = 707
	var positions []float32
	var indices []uint32
	for y := range uint32(side + 1) {
		for x := range uint32(side + 1) {
			positions = append(positions, float32(x)/7, float32(y)/7, float32(math.Sin(float64(x*y)/1000)))
			if a := y*(side+1) + x; x < side && y < side {
				indices = append(indices, a, a+1, a+side+2, a, a+side+2, a+side+1)
			}
		}
	}
	bin := floatBytes(positions)
	at := len(bin)
	for _, i := range indices {
		bin = binary.LittleEndian.AppendUint32(bin, i)
	}
	file := glbOf(gltfOf(oneNode, `"meshes":[{"primitives":[{"attributes":{"POSITION":0},"indices":1}]}]`,
		fmt.Sprintf(`"accessors":[{"bufferView":0,"componentType":5126,"count":%d,"type":"VEC3"},`+
			`{"bufferView":1,"componentType":5125,"count":%d,"type":"SCALAR"}]`, len(positions)/3, len(indices)),
		fmt.Sprintf(`"bufferViews":[{"buffer":0,"byteLength":%d},{"buffer":0,"byteOffset":%d,"byteLength":%d}],"buffers":[{"byteLength":%d}]`,
			at, at, len(bin)-at, len(bin))), bin)
	decodetest.Benchmark(b, Decode, file, len(file))
}
