package gltf

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode/decodetest"
)

func TestGLTFRefused(t *testing.T) {
	one := `"accessors":[` + floats3 + `]`
	oneOf := func(buffers string) []byte { return gltfOf(oneNode, oneMesh, one, buffers) }
	accessors := func(second string) string { return `"accessors":[` + floats3 + `,{"bufferView":1,` + second + `}]` }
	const view = `"bufferViews":[{"buffer":0,"byteLength":36}],"buffers":[{"byteLength":36`
	good := oneOf(gltfBytes(corner))
	many := make([]string, 90_000)
	for i := range many {
		many[i] = `{"mesh":0}`
	}
	long := make([]float32, 9*1000)
	doubled := ""
	for i := range 30 {
		doubled += fmt.Sprintf(`{"children":[%d,%d]},`, i+1, i+1)
	}
	indexed := `"meshes":[{"primitives":[{"attributes":{"POSITION":0},"indices":1}]}]`
	for name, c := range map[string]struct {
		file   []byte
		reason mesh.Reason
		part   string
	}{
		"nothing":    {nil, mesh.Malformed, "ends"},
		"no JSON":    {[]byte("solid a"), mesh.Malformed, "broken"},
		"no object":  {[]byte("[]"), mesh.Malformed, "start"},
		"cut":        {good[:len(good)-9], mesh.Malformed, "ends in the middle of buffers 0"},
		"no version": {[]byte("{}"), mesh.Malformed, "has no glTF version"},
		"version 1":  {[]byte(`{"nodes":{}}`), mesh.Unsupported, "glTF 1.0"},
		"version 3":  {[]byte(`{"asset":{"version":"3.0"}}`), mesh.Unsupported, `"3.0"`},
		"extension": {gltfOf(`"extensionsRequired":["KHR_gaussian_splatting"]`), mesh.Unsupported,
			`"KHR_gaussian_splatting"`},
		"instances of two counts": {
			gltfOf(instancing(`"TRANSLATION":0,"SCALE":1`), oneMesh, accessors(`"componentType":5126,"count":2,"type":"VEC3"`),
				gltfBytes(corner, corner)),
			mesh.Malformed, "Node 0 of the glTF file has instances with 3 and with 2 elements",
		},
		"instances of another type": {
			gltfOf(instancing(`"ROTATION":0`), oneMesh, one, gltfBytes(corner)), mesh.Malformed, "Accessor 0",
		},
		"instances that are lost": {
			gltfOf(instancing(`"SCALE":5`), oneMesh, one, gltfBytes(corner)), mesh.Malformed, "accessor 5",
		},
		"instances elsewhere": {
			gltfOf(instancing(`"TRANSLATION":1`), oneMesh, accessors(`"componentType":5126,"count":1,"type":"VEC3"`),
				gltfBytes(corner, []float32{0, float32(math.NaN()), 0})), mesh.Malformed, "farther than",
		},
		"a joint that is lost": {skinnedFile(`"joints":[1]`, [12]uint8{5: 1}), mesh.Malformed,
			"has the joint 1 in primitive 0 of mesh 0, where the skin has 1"},
		"a joint without a node": {skinnedFile(`"joints":[1,3]`, [12]uint8{}), mesh.Malformed,
			"refers to node 3, where there are 3"},
		"matrices of two of three joints": {
			skinnedFile(`"joints":[0,1,2],"inverseBindMatrices":3`, [12]uint8{}), mesh.Malformed,
			"has 2 matrices for the 3 joints of skin 0",
		},
		"matrices of bytes": {
			bytes.Replace(skinnedFile(`"joints":[1,2],"inverseBindMatrices":3`, [12]uint8{}),
				[]byte(`"bufferView":3,"componentType":5126`),
				[]byte(`"bufferView":3,"componentType":5121`), 1), mesh.Malformed,
			"has matrices with components of the type 5121 for skin 0, where floats (5126) are required",
		},
		"joints as matrices": {skinnedFile(`"joints":[1,2],"inverseBindMatrices":1`, [12]uint8{}), mesh.Malformed,
			"Accessor 1"},
		"positions as joints": {
			bytes.Replace(skinnedFile(`"joints":[1,2]`, [12]uint8{}), []byte(`"JOINTS_0":1`), []byte(`"JOINTS_0":0`), 1),
			mesh.Malformed, "Accessor 0",
		},
		"joints of two of three vertices": {
			bytes.Replace(skinnedFile(`"joints":[1,2]`, [12]uint8{}), []byte(`"bufferView":1,"componentType":5121,"count":3`),
				[]byte(`"bufferView":1,"componentType":5121,"count":2`), 1), mesh.Malformed,
			"has 2 joints and 3 weights for 3 vertices",
		},
		"a skin that is lost": {
			bytes.Replace(skinnedFile(`"joints":[1,2]`, [12]uint8{}), []byte(`"skin":0`), []byte(`"skin":1`), 1), mesh.Malformed,
			"refers to skin 1",
		},
		"too many instances": {
			gltfOf(instancing(`"SCALE":1`), oneMesh,
				`"accessors":[`+floats3+`,{"componentType":5121,"count":100001,"type":"VEC3"}]`,
				gltfBytes(corner)), mesh.TooLarge, "shows its meshes more than 100000 times",
		},
		"children": {gltfOf(`"nodes":[{"children":[1` + strings.Repeat(",1", 100_000) + `]},{}]`), mesh.TooLarge,
			"more than 100000 children"},
		"missing target": {morphed(`{"mesh":0}`, `"weights":[0,0,1]`), mesh.Malformed,
			"refers to accessor 9, where there are 3"},
		"short target": {
			bytes.Replace(morphed(`{"mesh":0}`, `"weights":[1]`), []byte(`View":1,"componentType":5126,"count":3`),
				[]byte(`View":1,"componentType":5126,"count":2`), 1), mesh.Malformed,
			"has a morph target with 2 positions for 3 vertices in primitive 0 of mesh 0",
		},
		"two parents each": {gltfOf(`"nodes":[` + doubled + `{}]`), mesh.TooLarge, "shows its nodes more than 100000 times"},
		"circle aside": {
			gltfOf(`"scenes":[{"nodes":[3]}],"nodes":[{"children":[1]},{"children":[2]},{"children":[1]},{}]`),
			mesh.Malformed, "",
		},
		"a circle": {gltfOf(`"nodes":[{"children":[1]},{"children":[2]},{"children":[0]}]`), mesh.Malformed,
			"Node 0 of the glTF file is part of a node that contains itself"},
		"instances": {
			gltfOf(`"nodes":[`+strings.Join(many, ",")+`]`, oneMesh,
				`"accessors":[{"bufferView":0,"componentType":5126,"count":3000,"type":"VEC3"}]`, gltfBytes(long)),
			mesh.TooLarge, "shows 90000000 triangles",
		},
		"nodes": {gltfOf(`"nodes":[` + strings.Repeat("{},", 100_001) + `{}]`), mesh.TooLarge, "100000 nodes"},
		"primitives": {
			gltfOf(oneNode, `"meshes":[{"primitives":[`+strings.Repeat("{},", 100_001)+`{}]}]`),
			mesh.TooLarge, "primitives",
		},
		"a long name": {[]byte(`{"` + strings.Repeat("x", 1<<20) + `":[}`), mesh.Malformed,
			`broken in "xxxxxxxxxxxxxxxxxxxxxxxx"…: invalid`},
		"no buffer": {oneOf(`"bufferViews":[{"byteLength":36}]`), mesh.Malformed,
			"names no buffer where one is needed"},
		"no mesh":          {gltfOf(oneNode), mesh.Malformed, "mesh 0, where there are 0"},
		"an index below 0": {gltfOf(`"nodes":[{"mesh":-1}]`), mesh.Malformed, `in nodes 0 "-1" where`},
		"half a scene":     {gltfOf(`"scene":0.5`), mesh.Malformed, `in scene "0.5" where a whole number`},
		"a wrong kind": {gltfOf(`"nodes":[{"scale":"large"}]`), mesh.Malformed,
			`in nodes 0 a value of the wrong kind, at "Scale"`},
		"a short matrix": {gltfOf(`"nodes":[{"matrix":[1,0,0]}]`), mesh.Malformed,
			"Node 0 of the glTF file has a transform of the wrong length"},
		"meshopt without data": {oneOf(
			`"bufferViews":[{"buffer":0,"byteLength":36,"extensions":{"EXT_meshopt_compression":{}}}],"buffers":[{"byteLength":36}]`),
			mesh.Malformed, "names no buffer where one is needed"},
		"meshopt elsewhere": {oneOf(
			`"bufferViews":[{"buffer":0,"byteLength":36,"extensions":{"EXT_meshopt_compression":{"buffer":0,"byteLength":8}}}],` +
				`"buffers":[{"byteLength":36,"uri":"a.bin"}]`), mesh.Unsupported, "keeps buffer 0 in another file"},
		"meshopt of no mode": {meshoptFile(`"count":3,"byteStride":12`), mesh.Malformed,
			"has meshopt data in buffer view 0 that has a mode, a filter"},
		"short meshopt": {meshoptFile(`"count":3,"byteStride":12,"mode":"ATTRIBUTES"`), mesh.Malformed,
			"in buffer view 0 that ends too early"},
		"large meshopt": {meshoptFile(`"count":900719925474099,"byteStride":12,"mode":"ATTRIBUTES"`), mesh.TooLarge,
			"decompresses to too many bytes in buffer view 0"},
		"a later version": {[]byte(`{"asset":{"version":"2.0","minVersion":"2.1"}}`), mesh.Unsupported,
			`requires glTF "2.1"`},
		"points": {
			gltfOf(`"nodes":[`+strings.Join(many, ",")+`]`, `"meshes":[{"primitives":[{"attributes":{"POSITION":0},"mode":0}]}]`,
				`"accessors":[{"bufferView":0,"componentType":5126,"count":3000,"type":"VEC3"}]`, gltfBytes(long)),
			mesh.TooLarge, "shows 270000000 points",
		},
		"one too far": {
			gltfOf(oneNode, oneMesh, `"accessors":[{"bufferView":0,"componentType":5126,"count":1,"type":"VEC3"}]`,
				gltfBytes([]float32{0, 0})),
			mesh.Malformed, "1 elements of 12 bytes, 12 apart, from byte 0 of a buffer view of 8",
		},
		"one apart too far": {
			gltfOf(oneNode, oneMesh, one, `"bufferViews":[{"buffer":0,"byteLength":36,"byteStride":13}]`,
				`"buffers":[{"byteLength":36,"uri":"data:;base64,`+base64.StdEncoding.EncodeToString(floatBytes(corner))+`"}]`),
			mesh.Malformed, "13 apart",
		},
		"a sparse index": {
			gltfOf(oneNode, oneMesh, `"accessors":[{"componentType":5126,"count":3,"type":"VEC3","sparse":{"count":1,`+
				`"indices":{"bufferView":0,"componentType":5121},"values":{"bufferView":1}}}]`,
				gltfBytes([]uint8{3}, []float32{1, 0, 0})),
			mesh.Malformed, "sparse index 3, where it has 3",
		},
		"few colors": {
			gltfOf(oneNode, `"meshes":[{"primitives":[{"attributes":{"POSITION":0,"COLOR_0":1}}]}]`,
				accessors(`"componentType":5121,"normalized":true,"count":2,"type":"VEC4"`), gltfBytes(corner, make([]uint8, 8))),
			mesh.Malformed, "2 colors for 3 vertices in primitive 0 of mesh 0",
		},
		"few texture coordinates": {
			gltfOf(oneNode, `"meshes":[{"primitives":[{"attributes":{"POSITION":0,"TEXCOORD_0":1},"material":0}]}]`,
				`"materials":[{"pbrMetallicRoughness":{"baseColorTexture":{"index":0}}}]`,
				accessors(`"componentType":5126,"count":2,"type":"VEC2"`), gltfBytes(corner, make([]float32, 4))),
			mesh.Malformed, "2 texture coordinates for 3 vertices",
		},
		"GLB with a chunk behind its end": {func() []byte {
			b := glbOf(good, []byte("1234"))
			b[8] -= 4
			return b
		}(), mesh.Malformed, "has a chunk of 4 bytes at byte"},
		"no scene": {gltfOf(`"scene":3`, oneNode), mesh.Malformed, "scene 3"},
		"an index too many": {
			gltfOf(oneNode, indexed, accessors(`"componentType":5121,"count":3,"type":"SCALAR"`),
				gltfBytes(corner, []uint8{0, 1, 3})),
			mesh.Malformed, "index 3 in primitive 0 of mesh 0, where there are 3",
		},
		"no corners": {gltfOf(oneNode, indexed, one, gltfBytes(corner)), mesh.Malformed, "accessor 1"},
		"floats for indices": {
			gltfOf(oneNode, indexed, accessors(`"componentType":5126,"count":3,"type":"SCALAR"`), gltfBytes(corner, corner)),
			mesh.Malformed, "indices of the type 5126",
		},
		"past the view": {
			gltfOf(oneNode, oneMesh,
				`"accessors":[{"bufferView":0,"byteOffset":4,"componentType":5126,"count":3,"type":"VEC3"}]`, gltfBytes(corner)),
			mesh.Malformed, "from byte 4",
		},
		"past the buffer": {oneOf(view + `,"uri":"data:;base64,AAAA"}]`), mesh.Malformed, "where its buffer has 3"},
		"no base64":       {oneOf(view + `,"uri":"data:;base64,AA!A"}]`), mesh.Malformed, "not valid base64"},
		"percent":         {oneOf(view + `,"uri":"data:,AA%20"}]`), mesh.Unsupported, "not in base64"},
		"zeros": {
			gltfOf(oneNode, oneMesh, `"accessors":[{"componentType":5126,"count":30000000,"type":"VEC3"}]`),
			mesh.TooLarge, "accessors without one",
		},
		"infinite": {oneOf(gltfBytes([]float32{0, 0, 0, 1, 0, 0, float32(math.Inf(1)), 0, 0})), mesh.Malformed,
			"no triangles or points whose coordinates are finite"},
		"not a number": {oneOf(gltfBytes([]float32{0, 0, 0, 1, 0, 0, float32(math.NaN()), 0, 0})), mesh.Malformed,
			"no triangles or points whose coordinates are finite"},
		"too far": {oneOf(gltfBytes([]float32{0, 0, 0, 1, 0, 0, 1e30, 0, 0})), mesh.Malformed, "farther"},
		"lines only": {
			gltfOf(oneNode, `"meshes":[{"primitives":[{"attributes":{"POSITION":0},"mode":3}]}]`, one, gltfBytes(corner)),
			mesh.Empty, "neither",
		},
		"GLB 1":              {append([]byte("glTF\x01\x00\x00\x00"), make([]byte, 12)...), mesh.Unsupported, "version 1"},
		"GLB cut":            {[]byte("glTF\x02\x00\x00\x00"), mesh.Malformed, "ends at byte 8"},
		"GLB without chunks": {glbOf(nil, nil)[:12], mesh.Malformed, "but it has 12"},
		"GLB, BIN first": {bytes.Replace(glbOf(good, nil), []byte("JSON"), []byte("BIN\x00"), 1), mesh.Malformed,
			"0x004E4942"},
		"GLB, long chunk": {
			bytes.Replace(glbOf([]byte("{} "), nil), []byte("\x04\x00\x00\x00JSON"), []byte("\x08\x00\x00\x00JSON"), 1),
			mesh.Malformed, "chunk of 8 bytes at byte 12, where 4",
		},
		"GLB without bytes": {glbOf(oneOf(view+`}]`), nil), mesh.Malformed, "Buffer 0 of the GLB file has no bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := decodetest.Decode(t, Decode, c.file)
			t.Log(err)
			decodetest.CheckError(t, err, c.reason, c.part)
		})
	}
}

func TestGLTFMalformed(t *testing.T) {
	dir := filepath.Join(decodetest.DataFolder(t), "malformed")
	for file, want := range map[string]struct {
		reason  mesh.Reason
		message string
	}{
		"gltfvalidator_truncated_chunk_data.glb":  {mesh.Malformed, "48 bytes, but it has 47"},
		"gltfvalidator_length_mismatch.glb":       {mesh.Malformed, "49 bytes, but it has 48"},
		"gltfvalidator_node_loop.gltf":            {mesh.Malformed, "contains itself"},
		"gltfvalidator_non_relative_uri.gltf":     {mesh.Empty, "neither triangles nor points"},
		"tinygltf_integer-out-of-bounds.gltf":     {mesh.Malformed, `in bufferViews 0 "1e300" where a whole number`},
		"tinygltf_invalid-primitive-indices.gltf": {mesh.Empty, "neither triangles nor points"},
		"gltf_external_uri_traversal.gltf":        {mesh.Unsupported, `another file, "../../../../../../etc/pa"…, and`},
		"gltf_uri_loopback.gltf":                  {mesh.Unsupported, "pack it as GLB"},
		"gltf_accessor_count_huge.gltf": {mesh.Malformed,
			"Accessor 0 of the glTF file has 2147483647 elements of 12 bytes"},
	} {
		t.Run(file, func(t *testing.T) {
			b, err := os.ReadFile(filepath.Join(dir, file))
			if err != nil {
				t.Fatal(err)
			}
			_, err = decodetest.Decode(t, Decode, b)
			t.Log(err)
			decodetest.CheckError(t, err, want.reason, want.message)
		})
	}
}
