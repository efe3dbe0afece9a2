//go:build browser

package viewer_test

import (
	"encoding/binary"
	"math"
)

// The fixture is an L of two boxes, in millimetres with Z up: a plate 40 × 20 × 10, and on its left end, where x is least, a post 10 × 20 × 30.
// Its colours tell its sides apart: the front, where y is least, is red, the right green, the top blue, all else grey.
var parts = [2][2][3]float32{{{0, 0, 0}, {40, 20, 10}}, {{0, 0, 10}, {10, 20, 40}}}

// sides are the corners of a box's sides, each counted by bits for x, y and z, and the colours of them.
var sides = [6]struct {
	corners [4]int
	normal  [3]float32
	color   [3]float32
}{
	{[4]int{0, 1, 5, 4}, [3]float32{0, -1, 0}, [3]float32{1, 0, 0}},
	{[4]int{1, 3, 7, 5}, [3]float32{1, 0, 0}, [3]float32{0, 1, 0}},
	{[4]int{4, 5, 7, 6}, [3]float32{0, 0, 1}, [3]float32{0, 0, 1}},
	{[4]int{2, 6, 7, 3}, [3]float32{0, 1, 0}, [3]float32{.5, .5, .5}},
	{[4]int{0, 4, 6, 2}, [3]float32{-1, 0, 0}, [3]float32{.5, .5, .5}},
	{[4]int{0, 2, 3, 1}, [3]float32{0, 0, -1}, [3]float32{.5, .5, .5}},
}

// fixture gives three vertices of each triangle, with Z up or turned to Y up.
func fixture(yUp bool) (positions, normals, colors []float32) {
	turn := func(v [3]float32) []float32 {
		if yUp {
			return []float32{v[0], v[2], -v[1]}
		}
		return v[:]
	}
	for _, box := range parts {
		for _, side := range sides {
			for _, i := range [6]int{0, 1, 2, 0, 2, 3} {
				c := side.corners[i]
				positions = append(positions, turn([3]float32{box[c&1][0], box[c>>1&1][1], box[c>>2&1][2]})...)
				normals = append(normals, turn(side.normal)...)
				colors = append(colors, side.color[:]...)
			}
		}
	}
	return positions, normals, colors
}

// threejs writes the fixture as JSON in the Object Scene format of three.js, version 4: an object of the type Mesh, or Points. Without triangles
// there is nothing in it.
func threejs(object string, triangles bool) []byte {
	positions, normals, colors := fixture(false)
	if !triangles {
		positions, normals, colors = []float32{}, []float32{}, []float32{}
	}
	material := map[string]any{"uuid": "m", "type": "MeshStandardMaterial", "color": 0xffffff, "roughness": .8, "metalness": 0, "vertexColors": true}
	if object == "Points" {
		material = map[string]any{"uuid": "m", "type": "PointsMaterial", "color": 0xffffff, "vertexColors": true}
	}
	attribute := func(values []float32) map[string]any {
		return map[string]any{"itemSize": 3, "type": "Float32Array", "array": values}
	}
	return encode(map[string]any{
		"metadata": map[string]any{"version": 4.7, "type": "Object", "generator": "test"},
		"geometries": []any{map[string]any{"uuid": "g", "type": "BufferGeometry", "data": map[string]any{"attributes": map[string]any{
			"position": attribute(positions), "normal": attribute(normals), "color": attribute(colors),
		}}}},
		"materials": []any{material},
		"object":    map[string]any{"uuid": "o", "type": object, "geometry": "g", "material": "m", "userData": map[string]any{"upAxis": "Z", "millimetersPerUnit": 1}},
	})
}

// glb writes the fixture as GLB (glTF 2.0 specification, section 4), in metres with Y up.
func glb() []byte {
	positions, normals, colors := fixture(true)
	for i := range positions {
		positions[i] /= 1000
	}
	n := len(positions) / 3
	var bin []byte
	for _, values := range [][]float32{positions, normals, colors} {
		for _, v := range values {
			bin = binary.LittleEndian.AppendUint32(bin, math.Float32bits(v))
		}
	}
	view := func(i int) map[string]any {
		return map[string]any{"buffer": 0, "byteOffset": i * n * 12, "byteLength": n * 12}
	}
	accessor := func(i int) map[string]any {
		return map[string]any{"bufferView": i, "componentType": 5126, "count": n, "type": "VEC3"}
	}
	place := accessor(0)
	place["min"], place["max"] = []float64{0, 0, -.02}, []float64{.04, .04, 0}
	text := encode(map[string]any{
		"asset": map[string]any{"version": "2.0"}, "scene": 0, "scenes": []any{map[string]any{"nodes": []int{0}}}, "nodes": []any{map[string]any{"mesh": 0}},
		"meshes":      []any{map[string]any{"primitives": []any{map[string]any{"attributes": map[string]int{"POSITION": 0, "NORMAL": 1, "COLOR_0": 2}}}}},
		"accessors":   []any{place, accessor(1), accessor(2)},
		"bufferViews": []any{view(0), view(1), view(2)}, "buffers": []any{map[string]any{"byteLength": len(bin)}},
	})
	for len(text)%4 != 0 {
		text = append(text, ' ')
	}
	chunk := func(to []byte, kind string, content []byte) []byte {
		return append(append(binary.LittleEndian.AppendUint32(to, uint32(len(content))), kind...), content...)
	}
	body := chunk(chunk(nil, "JSON", text), "BIN\x00", bin)
	file := binary.LittleEndian.AppendUint32(append([]byte("glTF"), 2, 0, 0, 0), uint32(12+len(body)))
	return append(file, body...)
}
