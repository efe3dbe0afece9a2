package ply

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode/decodetest"
)

// plyBytes returns a binary PLY file with the values after the header, each in the size of its Go
// type and in the given byte order.
func plyBytes(order binary.AppendByteOrder, header string, values ...any) []byte {
	format := map[bool]string{true: "binary_little_endian",
		false: "binary_big_endian"}[order == binary.AppendByteOrder(binary.LittleEndian)]
	b := []byte("ply\nformat " + format + " 1.0\n" + header + "end_header\n")
	for _, v := range values {
		b, _ = binary.Append(b, order.(binary.ByteOrder), v)
	}
	return b
}

const (
	headerText   = "ply\nformat ascii 1.0\n"
	vertexHeader = "element vertex 4\nproperty float x\nproperty float y\nproperty float z\n"
	faceHeader   = "element face 2\nproperty list uchar int vertex_indices\n"
	vertexText   = "0 0 0\n1 0 0\n1 1 0\n0 1 0\n"
	plainPLY     = headerText + vertexHeader + faceHeader + "end_header\n" + vertexText + "3 0 1 2\n3 0 2 3\n"
)

// TestPLY reads the same square in all supported notations.
func TestPLY(t *testing.T) {
	positions := []float32{0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0}
	indices := []uint32{0, 1, 2, 0, 2, 3}
	files := map[string]string{
		"plain":                     plainPLY,
		"windows":                   strings.ReplaceAll(plainPLY, "\n", "\r\n"),
		"old macintosh":             strings.ReplaceAll(plainPLY, "\n", "\r"),
		"mixed line ends":           strings.Replace(plainPLY, "\n", "\r\n", 1),
		"mixed line ends, too":      strings.Replace(plainPLY, "end_header\n", "end_header\r\n", 1),
		"lines of unknown keywords": strings.Replace(plainPLY, "element vertex", "Created by a program\nelement vertex", 1),
		"no line at end":            strings.TrimSpace(plainPLY),
		"comments": strings.Replace(plainPLY, "element vertex", "comment "+strings.Repeat("element x ",
			5000)+"\nobj_info\n\ncomment\nelement vertex", 1),
		"a quad": headerText + vertexHeader + "element face 1\nproperty list uchar int vertex_index\nend_header\n" +
			vertexText + "4 0 1 2 3",
		"points and edges": headerText + vertexHeader + "element face 5\nproperty list uchar int vertex_index\nend_header\n" +
			vertexText +
			"0\n1 0\n2 0 1\n3 0 1 2\n3 0 2 3\n",
		"faces first": headerText + faceHeader + vertexHeader + "end_header\n3 0 1 2\n3 0 2 3\n" + vertexText,
		"a quad first": headerText + "element face 1\nproperty list int uint vertex_indices\n" + vertexHeader +
			"end_header\n4 0 1 2 3\n" + vertexText,
		"faces both sides": headerText + "element face 1\nproperty list uchar int vertex_indices\n" + vertexHeader +
			"element face 1\nproperty list uchar int vertex_indices\nend_header\n3 0 1 2\n" + vertexText + "3 0 2 3\n",
		"other things": headerText + "element camera 2\nproperty float a\nproperty list uchar float b\n" +
			"element vertex 4\nproperty float nx\nproperty list uchar int more\nproperty double z\nproperty uchar y\nproperty int8 x\n" +
			"element nothing 9999999999\nelement edge 1\nproperty int vertex1\nproperty int vertex2\n" +
			"element face 2\nproperty list uchar float texcoord\nproperty list uchar int vertex_indices\nproperty uchar flags\nend_header\n" +
			"0.5 2 0 0\n1 0\n" + "0 1 7 0 0 0\nnan 0 0 0 1\n1 0 0 1 1\n2 2 0 0 0 1 0\n" + "0 1\n" +
			"6 0 0 0 0 0 0 3 0 1 2 0\n0 3 0 2 3 1\n",
		"names of several words": headerText + vertexHeader + "property float64 water depth\n" + faceHeader +
			"property list uchar float x y\nend_header\n" +
			strings.ReplaceAll(vertexText, "\n", " 7\n") + "3 0 1 2 0\n3 0 2 3 1 .5\n",
		"more values than declared": headerText + vertexHeader + "element edge 1\nproperty int a\n" + faceHeader +
			"end_header\n" +
			strings.ReplaceAll(vertexText, "\n", " 255 0 0\n") + "0 7 9\n3 0 1 2 7 7\n3 0 2 3 7 7",
		"rows of several lines": headerText + vertexHeader + "property float nx\nproperty float ny\n" + faceHeader +
			"end_header\n" +
			strings.ReplaceAll(vertexText, "\n", "\n0 1\n") + "3 0\n1 2 3 0 2\n3",
		"rows in one line": strings.ReplaceAll(plainPLY, vertexText, strings.ReplaceAll(vertexText, "\n", " ")),
		"a strip": headerText + vertexHeader +
			"element tristrips 1\nproperty list int int vertex_indices\nend_header\n" + vertexText + "8 0 1 2 -1 0 2 3 -1\n",
	}
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		name := fmt.Sprint(order)
		vertices := []any{float32(0), float32(0), float32(0), float32(1), float32(0), float32(0), float32(1), float32(1),
			float32(0), float32(0), float32(1), float32(0)}
		faces := []any{uint8(3), int32(0), int32(1), int32(2), uint8(3), int32(0), int32(2), int32(3)}
		files[name] = string(plyBytes(order, vertexHeader+faceHeader, slices.Concat(vertices, faces)...))
		files[name+" faces first"] = string(plyBytes(order, faceHeader+vertexHeader, slices.Concat(faces, vertices)...))
		files[name+" other things"] = string(plyBytes(order,
			"element camera 2\nproperty double a\nproperty list ushort float b\n"+vertexHeader+
				"element edge 3\nproperty int16 a\nproperty double b\nelement face 2\nproperty list char double texcoord\nproperty list uint32 uint8 vertex_indices\nproperty float q\n",
			slices.Concat([]any{float64(1), uint16(2), [2]float32{}, float64(1), uint16(0)}, vertices, []any{[30]byte{}},
				[]any{int8(1), float64(7), uint32(3), [3]uint8{0, 1, 2}, float32(0), int8(0), uint32(3), [3]uint8{0, 2, 3},
					float32(0)})...))
		files[name+" other types"] = string(plyBytes(order,
			"element vertex 4\nproperty short x\nproperty uint y\nproperty double z\n"+
				"element face 1\nproperty list ushort ushort vertex_indices\n",
			int16(0), uint32(0), float64(0), int16(1), uint32(0), float64(0), int16(1), uint32(1), float64(0), int16(0),
			uint32(1), float64(0),
			uint16(4), [4]uint16{0, 1, 2, 3}))
		files[name+" 64 bits"] = string(plyBytes(order,
			vertexHeader+"element face 1\nproperty uint64 id\nproperty list uchar int64 vertex_indices\n",
			slices.Concat(vertices, []any{uint64(math.MaxUint64), uint8(4), [4]int64{0, 1, 2, 3}})...))
		files[name+" mixed line ends"] = strings.Replace(files[name], "\n", "\r\n", 3)
	}
	for name, file := range files {
		m, err := decodetest.DecodeFile(t, mesh.PLY, Decode, []byte(file), mesh.DefaultLimits)
		if err != nil || !slices.Equal(m.Positions, positions) || !slices.Equal(m.Indices, indices) || m.Colors != nil ||
			m.Origin != [3]float64{} {
			t.Errorf("%s: got %+v and the error %v", name, m, err)
		}
	}
}

func TestPLYStrips(t *testing.T) {
	m, err := decodetest.DecodeFile(t, mesh.PLY, Decode,
		[]byte(headerText+vertexHeader+"element tristrips 3\nproperty list int int vertex_indices\nend_header\n"+vertexText+
			"8 0 1 2 3 -1 -1 3 2\n6 3 2 1 0 -1 0\n5 -1 0 1 2 3"), mesh.DefaultLimits)
	if want := []uint32{0, 1, 2, 2, 1, 3, 3, 2, 1, 1, 2, 0, 0, 1, 2, 2, 1, 3}; err != nil ||
		!slices.Equal(m.Indices, want) {
		t.Errorf("got %+v and the error %v, want %v", m, err, want)
	}
}

func TestPLYColors(t *testing.T) {
	const red, half, plainColor = "\xFF\x00\x00\xFF", "\x80\x80\x80\x80", "\xFF\xFF\xFF\xFF"
	rgb := func(of string) string {
		return "property " + of + " red\nproperty " + of + " green\nproperty " + of + " blue\n"
	}
	three := "element vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
	face := "element face 1\nproperty list uchar int vertex_indices\n"
	for _, c := range []struct{ name, text, want string }{
		{"bytes", three + rgb("uchar") + face + "end_header\n0 0 0 255 0 0\n1 0 0 255 0 0\n0 1 0 255 255 255\n3 0 1 2",
			red + red + plainColor},
		{"alpha", three + rgb("uchar") + "property uchar alpha\n" + face +
			"end_header\n0 0 0 255 0 0 255\n1 0 0 128 128 128 128\n0 1 0 255 0 0 255\n3 0 1 2", red + half + red},
		{"fractions", three + rgb("float") + "property float alpha\n" + face +
			"end_header\n0 0 0 1 0 0 1\n1 0 0 .5 .5 .5 .5\n0 1 0 1.001 -1 0 7e9\n3 0 1 2", red + half + red},
		{"bytes as floats", three + rgb("double") + face + "end_header\n0 0 0 255 0 0\n1 0 0 255 0 0\n0 1 0 nan 0 0\n3 0 1 2",
			red + red + plainColor},
		{"16 bits", three + rgb("ushort") + face +
			"end_header\n0 0 0 65535 0 0\n1 0 0 65535 0 0\n0 1 0 32896 32896 32896\n3 0 1 2", red + red + "\x80\x80\x80\xFF"},
		{"older names", three + strings.ReplaceAll(rgb("uchar"), "uchar ", "uchar diffuse_") + face +
			"end_header\n0 0 0 255 0 0\n1 0 0 255 0 0\n0 1 0 255 0 0\n3 0 1 2", red + red + red},
		{"a cloud", three + rgb("uchar") + "end_header\n0 0 0 255 0 0\n1 0 0 255 0 0\n0 1 0 255 0 0\n", red + red + red},
		{"Gaussian splats", three +
			"property float f_dc_0\nproperty float f_dc_1\nproperty float f_dc_2\nproperty float f_rest_0\nproperty float opacity\n" +
			"end_header\n0 0 0 1.772454 -1.772454 -3 9 9\n1 0 0 0 0 0 9 9\n0 1 0 99 nan 0 9 9\n", red + "\x80\x80\x80\xFF" +
			plainColor},
		{"no blue", three + "property uchar red\nproperty uchar green\n" + face +
			"end_header\n0 0 0 255 0\n1 0 0 255 0\n0 1 0 255 255\n3 0 1 2", ""},
		{"faces", vertexHeader + faceHeader + rgb("uchar") + "end_header\n" + vertexText +
			"3 0 1 2 255 0 0\n3 0 1 2 255 255 255\n",
			red + red + red + plainColor + plainColor + plainColor},
		{"faces, some plain", vertexHeader + faceHeader + rgb("uchar") + "end_header\n" + vertexText +
			"3 0 1 2 255 255 255\n3 0 1 2 255 0 0\n",
			plainColor + plainColor + plainColor + red + red + red},
		{"faces, all plain", vertexHeader + faceHeader + rgb("uchar") + "end_header\n" + vertexText +
			"3 0 1 2 255 255 255\n3 0 2 3 255 255 255\n", ""},
		{"vertices before faces", three + rgb("uchar") + face + rgb("uchar") +
			"end_header\n0 0 0 255 0 0\n1 0 0 255 0 0\n0 1 0 255 0 0\n3 0 1 2 0 0 9", red + red + red},
	} {
		m, err := decodetest.DecodeFile(t, mesh.PLY, Decode, []byte(headerText+c.text), mesh.DefaultLimits)
		if err != nil || string(m.Colors) != c.want {
			t.Errorf("%s: got %+v and the error %v, want the colors %x", c.name, m, err, c.want)
		}
	}
}

// TestPLYFar checks that coordinates far from zero lose no precision, in text and as doubles, also
// with colors.
func TestPLYFar(t *testing.T) {
	want := mesh.Box{Min: [3]float64{4500000.125, 1e9, 0}, Max: [3]float64{4500000.25, 1000000000.5, 0.0625}}
	header := "element vertex 3\nproperty double x\nproperty double y\nproperty double z\nproperty uchar red\nproperty uchar green\nproperty uchar blue\n"
	binaryOne := plyBytes(binary.BigEndian, header, [3]float64{4500000.125, 1e9, 0}, [3]uint8{1, 2, 3},
		[3]float64{4500000.25, 1000000000.5, 0}, [3]uint8{1, 2, 3},
		[3]float64{4500000.125, 1e9, 0.0625}, [3]uint8{1, 2, 3})
	text := headerText + header +
		"end_header\n4500000.125 1e9 0 1 2 3 4500000.25 1000000000.5 0 1 2 3 4500000.125 1e9 0.0625 1 2 3"
	for _, b := range [][]byte{binaryOne, []byte(text)} {
		m, err := decodetest.DecodeFile(t, mesh.PLY, Decode, b, mesh.DefaultLimits)
		if err != nil {
			t.Fatal(err)
		}
		if m.Box() != want || string(m.Colors) != strings.Repeat("\x01\x02\x03\xFF", 3) {
			t.Errorf("got %v with the colors %x, want %v", m.Box(), m.Colors, want)
		}
	}
}

// TestPLYMissing checks that vertices which are not finite are dropped with their faces. Scanners
// write them for points that they did not see.
func TestPLYMissing(t *testing.T) {
	const rgb = "property uchar red\nproperty uchar green\nproperty uchar blue\n"
	header := strings.Replace(vertexHeader, "4", "6", 1)
	const vertices = "0 0 0 1 1 1\nnan nan nan 2 2 2\n1 0 0 3 3 3\n0 -inf 0 4 4 4\n1 1 0 5 5 5\n0 1 0 6 6 6\n"
	for _, c := range []struct{ name, elements, faces, want string }{
		{"a cloud", "", "", "[]"},
		{"faces", "element face 5\nproperty list uchar int vertex_indices\n",
			"3 0 2 4\n3 0 1 2\n4 0 2 4 5\n4 0 3 4 5\n3 4 5 0\n", "[0 1 2 0 1 2 0 2 3 2 3 0]"},
		{"strips", "element tristrips 1\nproperty list int int vertex_indices\n", "9 0 2 4 5 3 -1 0 4 5\n",
			"[0 1 2 2 1 3 0 2 3]"},
	} {
		text := headerText + header + rgb + c.elements + "end_header\n" + vertices + c.faces
		m, err := decodetest.DecodeFile(t, mesh.PLY, Decode, []byte(text), mesh.DefaultLimits)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		colors := "\x01\x01\x01\xFF\x03\x03\x03\xFF\x05\x05\x05\xFF\x06\x06\x06\xFF"
		if fmt.Sprint(m.Indices) != c.want || !slices.Equal(m.Positions, []float32{0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0}) ||
			string(m.Colors) != colors {
			t.Errorf("%s: got %+v, want the triangles %s", c.name, m, c.want)
		}
	}
	// The colors of faces stay with them, and precision is kept far from zero.
	text := headerText + header + "element face 3\nproperty list uchar int vertex_indices\n" + rgb +
		"end_header\n4500000.5 0 0\nnan 0 0\n4500000.75 0 0\n" +
		"0 0 inf\n4500000.75 .25 0\n4500000.5 .25 0\n3 0 1 2 0 255 0\n3 0 2 4 255 0 0\n3 0 4 5 255 0 0\n"
	m, err := decodetest.DecodeFile(t, mesh.PLY, Decode, []byte(text), mesh.DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	want := mesh.Box{Min: [3]float64{4500000.5, 0, 0}, Max: [3]float64{4500000.75, 0.25, 0}}
	if m.Box() != want || m.Triangles() != 2 || string(m.Colors) != strings.Repeat("\xFF\x00\x00\xFF", 4) {
		t.Errorf("got %+v with the box %v, want %v", m, m.Box(), want)
	}
}

// TestPLYUnused checks that vertices without a face do not extend the box of a mesh.
func TestPLYUnused(t *testing.T) {
	text := headerText + strings.Replace(vertexHeader, "4", "5", 1) +
		"property uchar red\nproperty uchar green\nproperty uchar blue\n" +
		"element face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0 1 1 1\n9 9 9 2 2 2\n1 0 0 3 3 3\n1 1 0 4 4 4\n-9 0 0 5 5 5\n3 0 2 3\n"
	m, err := decodetest.DecodeFile(t, mesh.PLY, Decode, []byte(text), mesh.DefaultLimits)
	if err != nil || !slices.Equal(m.Positions, []float32{0, 0, 0, 1, 0, 0, 1, 1, 0}) ||
		fmt.Sprint(m.Indices) != "[0 1 2]" ||
		string(m.Colors) != "\x01\x01\x01\xFF\x03\x03\x03\xFF\x04\x04\x04\xFF" {
		t.Errorf("got %+v and the error %v", m, err)
	}
}

func TestPLYMalformed(t *testing.T) {
	replaced := func(old, new string) string { return strings.Replace(plainPLY, old, new, 1) }
	for _, c := range []struct {
		name, file string
		reason     mesh.Reason
		message    string
	}{
		{"no header", "ply\n", mesh.Malformed, "no end_header in the first 4 bytes"},
		{"another first line", replaced("ply", "plx"), mesh.Malformed, "does not begin with"},
		{"no format", replaced("format ascii 1.0\n", ""), mesh.Malformed, `no line "format"`},
		{"an unknown format", replaced("ascii", "gzip"), mesh.Unsupported, `Line 2 of the PLY file has the format "gzip"`},
		{"a bad line", replaced("element vertex", "element the vertex"), mesh.Malformed,
			`Line 3 of the PLY file has "element the vertex 4"`},
		{"a list without a name", replaced("uchar int vertex_indices", "uchar int"), mesh.Malformed,
			`Line 8 of the PLY file has "property list uchar int"`},
		{"an unknown type", replaced("float y", "half y"), mesh.Malformed, `Line 5 of the PLY file has "half" where a type`},
		{"a list as long as a float", replaced("uchar int", "float int"), mesh.Malformed,
			`has "float" where a type of whole numbers`},
		{"a property of nothing", replaced("element vertex 4\n", ""), mesh.Malformed, "a property before any element"},
		{"a count that is none", replaced("vertex 4", "vertex -4"), mesh.Malformed, `has "-4" where the number of elements`},
		{"a count too large for any number", replaced("vertex 4", "vertex 44444444444444444444"), mesh.Malformed,
			"where the number of elements"},
		{"a huge count", replaced("vertex 4", "vertex 999999999999999999"), mesh.Malformed,
			`promises 999999999999999999 of the element "vertex", but only 40 bytes`},
		{"a count that only bytes without blanks could hold", replaced("vertex 4", "vertex 20"), mesh.Malformed,
			`promises 20 of the element "vertex"`},
		{"a huge count of faces", replaced("face 2", "face 999999999999999999"), mesh.Malformed, `of the element "face"`},
		{"no vertices", replaced("element vertex", "element vortex"), mesh.Malformed, "no element vertex"},
		{"no z", replaced("float z", "float w"), mesh.Malformed, "no property z"},
		{"x is a list", replaced("float x", "list uchar float x"), mesh.Malformed, "no property x"},
		{"no corners", replaced("vertex_indices", "corners"), mesh.Malformed,
			"The element face of the PLY file has no list vertex_indices"},
		{"too few faces", replaced("face 2", "face 3"), mesh.Malformed,
			"The PLY file ends on line 15 where a number is expected"},
		{"a corner too large", replaced("3 0 2 3", "3 0 2 4"), mesh.Malformed,
			"Line 15 of the PLY file has a face with the vertex 4: there are 4 vertices"},
		{"a negative corner", replaced("3 0 2 3", "3 0 2 -1"), mesh.Malformed, "a face with the vertex -1"},
		{"half a corner", replaced("3 0 2 3", "3 0 2 .5"), mesh.Malformed, "a face with the vertex 0.5"},
		{"no number for a corner", replaced("3 0 2 3", "3 0 2 x"), mesh.Malformed,
			`Line 15 of the PLY file has "x" where a number`},
		{"a negative length", replaced("3 0 2 3", "-3 0 2 3"), mesh.Malformed,
			`Line 15 of the PLY file has a list "vertex_indices" of the length -3`},
		{"an endless length", replaced("3 0 2 3", "inf 0 2 3"), mesh.Malformed, "of the length NaN"},
		{"a huge length", replaced("3 0 2 3", "4294967295 0 2 3"), mesh.Malformed, "where a number is expected"},
		{"no vertex that is a number", headerText + vertexHeader + "end_header\n" + strings.Repeat("nan 0 0\n", 4),
			mesh.Malformed, "None of the 4 vertices of the PLY file"},
		{"a vertex that is too far", replaced("1 1 0", "1 1e30 0"), mesh.Malformed,
			"Vertex 2 of the PLY file, counted from 0, has a coordinate farther than 1e+18"},
		{"no points", headerText + strings.Replace(vertexHeader, "4", "0", 1) + "end_header\n", mesh.Empty,
			"neither triangles nor points"},
		{"a strip with a corner too far", headerText + vertexHeader +
			"element tristrips 1\nproperty list int int vertex_indices\nend_header\n" + vertexText + "3 0 1 -2", mesh.Malformed,
			"a face with the vertex -2"},
		{"binary, cut", string(plyBytes(binary.LittleEndian, vertexHeader+faceHeader, [12]float32{}, uint8(3), [2]int32{})),
			mesh.Malformed, "in the middle of what its header promises"},
		{"binary, cut in what is left out",
			string(plyBytes(binary.LittleEndian, vertexHeader+"element a 1\nproperty list int double b\n"+faceHeader,
				[12]float32{}, int32(1<<30), [9]byte{})),
			mesh.Malformed, "in the middle of what its header promises"},
		{"binary, a corner too large",
			string(plyBytes(binary.LittleEndian, vertexHeader+"element face 1\nproperty list uchar int vertex_indices\n",
				[12]float32{}, uint8(3), [3]int32{0, 1, 9})),
			mesh.Malformed, "Byte 226 of the PLY file has a face with the vertex 9"},
		{"binary, a negative length",
			string(plyBytes(binary.LittleEndian, vertexHeader+"element face 1\nproperty list char int vertex_indices\n",
				[12]float32{}, int8(-3), [3]int32{0, 1, 9})),
			mesh.Malformed, `Byte 216 of the PLY file has a list "vertex_indices" of the length -3`},
		{"too short for its faces", headerText + vertexHeader + strings.Replace(faceHeader, "2", "9", 1) + "end_header\n" +
			strings.TrimSpace(vertexText), mesh.Malformed, "but only 0 bytes are left"},
		{"binary, too far", string(plyBytes(binary.LittleEndian, vertexHeader, [11]float32{}, float32(1e30))), mesh.Malformed,
			"Vertex 3 of the PLY file"},
	} {
		_, err := decodetest.DecodeFile(t, mesh.PLY, Decode, []byte(c.file), mesh.DefaultLimits)
		var b strings.Builder
		fmt.Fprint(&b, err)
		if t.Run(c.name, func(t *testing.T) { decodetest.CheckError(t, err, c.reason, c.message) }); strings.Contains(
			b.String(), "\n") {
			t.Errorf("%s: the message has several lines: %s", c.name, b.String())
		}
	}
}

func TestPLYLimits(t *testing.T) {
	limits := mesh.DefaultLimits
	for _, c := range []struct {
		triangles int64
		message   string
	}{{1, "4 vertices, and at most 3"}, {2, ""}} {
		limits.Triangles = c.triangles
		_, err := decodetest.DecodeFile(t, mesh.PLY, Decode, []byte(plainPLY), limits)
		if c.message == "" && err != nil {
			t.Error(err)
		} else if c.message != "" {
			decodetest.CheckError(t, err, mesh.TooLarge, c.message)
		}
	}
	limits.Triangles = 2
	for _, faces := range []string{"element face 3\nproperty list uchar int vertex_indices\nend_header\n" + vertexText +
		"3 0 1 2\n3 0 1 2\n3 0 1 2\n",
		"element face 1\nproperty list uchar int vertex_indices\nend_header\n" + vertexText + "5 0 1 2 3 0\n",
		"element tristrips 1\nproperty list uchar int vertex_indices\nend_header\n" + vertexText + "5 0 1 2 3 0\n"} {
		_, err := decodetest.DecodeFile(t, mesh.PLY, Decode, []byte(headerText+vertexHeader+faces), limits)
		decodetest.CheckError(t, err, mesh.TooLarge, "too many triangles: at most 2 are supported")
	}
}

// TestPLYAllocation checks that the counts in a header allocate no memory for which the file has no
// bytes.
func TestPLYAllocation(t *testing.T) {
	for _, file := range []string{
		"element vertex 1000000\nproperty float x\nproperty float y\nproperty float z\nend_header\n" +
			strings.Repeat("0 ", 100),
		vertexHeader + "element face 1000000\nproperty list uchar int vertex_indices\nend_header\n" + vertexText,
		vertexHeader + "element face 1\nproperty list uint int vertex_indices\nend_header\n" + vertexText + "4000000000 0 1",
	} {
		var err error
		if n := decodetest.AllocatedBytes(func() {
			_, err = decodetest.DecodeFile(t, mesh.PLY, Decode, []byte(headerText+file), mesh.DefaultLimits)
		}); n > 1<<20 {
			t.Errorf("%.40q: %d bytes", file, n)
		}
		decodetest.CheckError(t, err, mesh.Malformed, "")
	}
}

func FuzzPLY(f *testing.F) {
	f.Add([]byte(plainPLY))
	f.Add([]byte(headerText + "element face 1\nproperty list int uint vertex_indices\n" + vertexHeader +
		"property float red\nproperty float green\nproperty float blue\n" +
		"end_header\n4 0 1 2 3\n" + strings.ReplaceAll(vertexText, "\n", " 1 .5 nan\n")))
	f.Add([]byte(headerText + vertexHeader +
		"element tristrips 1\nproperty list int int vertex_indices\nproperty uchar red\nproperty uchar green\nproperty uchar blue\n" +
		"end_header\n" + strings.ReplaceAll(vertexText, "1", "1e9") + "8 0 1 2 -1 0 2 3 -1 7 8 9"))
	f.Add(plyBytes(binary.LittleEndian,
		vertexHeader+"element camera 1\nproperty list short double a\nproperty char b\n"+faceHeader,
		[12]float32{3: 1, 6: 1, 7: 1, 10: 1}, int16(1), float64(1), int8(1), uint8(3), [3]int32{0, 1, 2}, uint8(3),
		[3]int32{0, 2, 3}))
	f.Add(plyBytes(binary.BigEndian, "element vertex 3\nproperty double x\nproperty double y\nproperty double z\n",
		[9]float64{1e9, 1e9, 1e9, 3: 1e9 + 1}))
	decodetest.Fuzz(f, "ply", decodetest.Validated(mesh.PLY, Decode))
}
