package obj

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode/decodetest"
	"github.com/meshyard/meshyard/internal/mesh/decode/textscan"
)

const square = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n"

// TestOBJFaces reads the same two triangles in all supported notations.
func TestOBJFaces(t *testing.T) {
	want := []float32{0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0}
	for name, text := range map[string]string{
		"plain":            square + "f 1 2 3\nf 1 3 4\n",
		"relative":         square + "f -4 -3 -2\nf -4 -2 -1\n",
		"mixed":            "v 0 0 0\nv 1 0 0\nv 1 1 0\nf 1 2 -1\nv 0 1 0\nf 1 -2 4",
		"faces first":      "f 1 2 3 4\n" + square,
		"between vertices": "v 0 0 0\nv 1 0 0\nf -2 -1 3\nv 1 1 0\nv 0 1 0\nf -4 -2 -1\n",
		"with textures":    square + "vt 0 0\nf 1/1 2/1 3/1\nf 1/1/1 3//1 4//\n",
		"quad":             square + "f 1 2 3 4\n",
		"old keyword":      square + "fo 1 2 3 4\n",
		"windows":          strings.ReplaceAll(square+"f 1 2 3 4\n", "\n", "\r\n"),
		"classic mac":      strings.ReplaceAll("# x\n"+square+"f 1 2 \\\n3 4\n", "\n", "\r"),
		"continued":        square + "f 1 2 \\\n3 \\\r\n 4\n",
		"continued at end": square + "f 1 2 3 4 \\",
		"comments":         "# C:\\models\\\n" + square + "  # x\nf 1 2 3 4 # 5\n",
		"names in paths": "mtllib C:\\textures\\\r\no C:\\\n" + square +
			"g C:\\models\\part\\\nf 1 2 3\nusemtl red\\\nf 1 3 4\ng end\\",
		"continued keyword":  square + "f\\\n1 2 3 4\n",
		"other statements":   square + "vt 0 \\\n0\nf 1 2 3 4\n",
		"tabs":               strings.ReplaceAll(square+"f 1 2 3 4\n", " ", "\t "),
		"with w":             "v 0 0 0 1\nv 1 0 0 1\nv 1 1 0 1\nv 0 1 0 1\nf 1 2 3 4",
		"byte-order mark":    "\xEF\xBB\xBF" + square + "f 1 2 3 4\n",
		"points and lines":   square + "p 1\nl 1 2 3\nf 1\nf 1 2\nf 1 2 3 4\n",
		"groups":             "mtllib ../../secret.mtl\no a\ng b c\ns off\nusemtl red\n" + square + "f 1 2 3 4\n",
		"unused vertices":    "v 9 9 9\n" + square + "v 9e9 9 9\nf 2 3 4 5\n",
		"exponents and more": "v 0.0e0 -0 +0\nv 1.000000000000000000001 0. .0\nv 10E-1 0.1e+1 0\nv 0 1 0\nf +1 +2 3 4\n",
	} {
		m := decodetest.DecodeText(t, Decode, text)
		if m.Triangles() != 2 || !slices.Equal(m.Positions, want) || m.Colors != nil || m.Unit != 1 || m.Format != mesh.OBJ {
			t.Errorf("%s: got %d triangles at %v with the colors %v", name, m.Triangles(), m.Positions, m.Colors)
		}
		for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
			var wide []byte
			for _, u := range utf16.Encode([]rune("\uFEFF" + strings.TrimPrefix(text, "\uFEFF"))) {
				wide = order.AppendUint16(wide, u)
			}
			if again := decodetest.DecodeText(t, Decode, string(wide)); !slices.Equal(again.Positions, m.Positions) {
				t.Errorf("%s as UTF-16, %v: got %v", name, order, again.Positions)
			}
		}
	}
}

// TestOBJFacesFirst checks that the faces before their vertices keep their colors.
func TestOBJFacesFirst(t *testing.T) {
	for want, text := range map[string]string{
		"ff0000ffff0000ffff0000ff": "newmtl red\nKd 1 0 0\nnewmtl blue\nKd 0 0 1\nusemtl red\nf 1 2 3\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 9 9 9\nusemtl blue\n",
		"ff0000ff00ff00ff0000ffff": "f 1 2 3\nv 0 0 0 1 0 0\nv 1 0 0 0 1 0\nv 1 1 0 0 0 1\n",
		"010203ff040506ffffffffff": "f 1 2 4\nv 0 0 0\nv 1 0 0\nv 1 1 0\n#MRGB 000102030004050600070809\nv 9 9 9\n",
	} {
		m := decodetest.DecodeText(t, Decode, text)
		if got := hex.EncodeToString(m.Colors); got != want || m.Triangles() != 1 {
			t.Errorf("%q: got the colors %s, want %s", text, got, want)
		}
	}
}

// TestOBJMissing checks that a vertex which is not finite is dropped with its faces.
func TestOBJMissing(t *testing.T) {
	const missing = "v nan 0 -inf 1 0 0\n"
	m := decodetest.DecodeText(t, Decode, square+missing+"f 1 2 3\nf 1 2 5\nf 1 3 4 -1\n")
	if want := []float32{0, 0, 0, 1, 0, 0, 1, 1, 0}; m.Triangles() != 1 || !slices.Equal(m.Positions, want) {
		t.Errorf("got %d triangles at %v", m.Triangles(), m.Positions)
	}
	m = decodetest.DecodeText(t, Decode, missing+square)
	if !m.Cloud || m.Vertices() != 4 {
		t.Errorf("got %d triangles and %d vertices, want a cloud of 4", m.Triangles(), m.Vertices())
	}
}

func TestOBJColors(t *testing.T) {
	const r, g = "\xFF\x00\x00\xFF", "\x00\xFF\x00\xFF"
	const white, half = "\xFF\xFF\xFF\xFF", "\x80\x80\x80\xFF"
	for _, c := range []struct{ name, text, want string }{
		{"fractions", "v 0 0 0 1 0 0\nv 1 0 0 0 1 0\nv 0 1 0 .5 .5 .5\nf 1 2 3", r + g + half},
		{"bytes", "v 0 0 0 255 0 0\nv 1 0 0 0 255 0\nv 0 1 0 128 128 128\nf 1 2 3", r + g + half},
		{"with alpha", "v 0 0 0 1 0 0 1\nv 1 0 0 0 1 0 1\nv 0 1 0 .5 .5 .5 1\nf 1 2 3", r + g + half},
		{"missing and not a number", "v 0 0 0\nv 1 0 0 0 1 0\nv 0 1 0 nan nan nan\nf 1 2 3", white + g + white},
		{"out of range", "v 0 0 0 1.001 0 -3\nv 1 0 0 0 1 0\nv 0 1 0 .5 .5 .5\nf 1 2 3", r + g + half},
		{"of a cloud", "v 0 0 0 1 0 0\nv 1 0 0 0 1 0\n", r + g},
		{"of ZBrush", square + "#MRGB ffff000000000ff0\n#MRGB ff808080FFFFFFFFff000000\nf 1 2 3 4", r + "\x00\x0F\xF0\xFF" +
			half + white},
		{"of ZBrush, damaged", square + "#MRGB ffff0000ff00ff0x\n#MRGB\nv 0 0 0\nf 1 2 3 5", r + white + white + white},
		{"none", "v 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl red\nf 1 2 3", ""},
		{"of materials", "newmtl a\nKd 1 0 0\nnewmtl b\nKd 0 1 0\nd 0.5\n" + square +
			"f 1 2 3\nusemtl a\nf 1 2 3\nusemtl b\nf 1 2 3\nusemtl c\nusemtl a\nf 1 2 3\n",
			white + white + white + r + r + r + strings.Repeat("\x00\xFF\x00\x80", 3)},
	} {
		if got := string(decodetest.DecodeText(t, Decode, c.text).Colors); got != c.want {
			t.Errorf("%s: got %x, want %x", c.name, got, c.want)
		}
	}
}

func TestOBJColoredCube(t *testing.T) {
	b, err := os.ReadFile("../../../../testdata/meshes/assimp_cube_with_vertexcolors.obj")
	if err != nil {
		t.Fatal(err)
	}
	m := decodetest.DecodeText(t, Decode, string(b))
	if m.Vertices() != 8 {
		t.Errorf("got %d vertices, want 8", m.Vertices())
	}
	for v := range uint32(m.Vertices()) {
		want, ok := map[[3]float32][4]uint8{{1, 1, 1}: {23, 0, 200, 255}, {0, 1, 0}: {4, 0, 44, 255}}[m.At(v)]
		if got := [4]uint8(m.Colors[4*v:]); ok && got != want {
			t.Errorf("at %v the color is %v, want %v", m.At(v), got, want)
		}
	}
}

// TestOBJFar checks that a model far from zero keeps its details.
func TestOBJFar(t *testing.T) {
	m := decodetest.DecodeText(t, Decode,
		"v 4500000.125 1 -9000.0625\nv 4500000.25 1 -9000.0625\nv 4500000.125 1.0078125 -9000\nf 1 2 3")
	want := mesh.Box{Min: [3]float64{4500000.125, 1, -9000.0625}, Max: [3]float64{4500000.25, 1.0078125, -9000}}
	if got := m.Box(); got != want {
		t.Errorf("got the box %v, want %v", got, want)
	}
	m = decodetest.DecodeText(t, Decode, "v 4500000.5 0 0\nv 4500000.5001 0 0\nv 4500000.5 0.0001 0\nf 1 2 3")
	for i, x := range m.Positions {
		if x < -0.0002 || x > 0.0002 {
			t.Errorf("position %d is %v from the origin, farther than the box is wide", i, x)
		}
	}
	if m := decodetest.DecodeText(t, Decode, square+"f 1 2 3"); m.Origin != [3]float64{} {
		t.Errorf("near zero the origin is %v", m.Origin)
	}
	if m := decodetest.DecodeText(t, Decode, "v 7 7e9 7\nf 1 1 1"); m.Box().Min != [3]float64{7, 7e9, 7} {
		t.Errorf("one point has the box %v", m.Box())
	}
}

func TestOBJMalformed(t *testing.T) {
	for _, c := range []struct {
		text    string
		reason  mesh.Reason
		message string
	}{
		{"", mesh.Empty, "no vertices"},
		{"# nothing\n", mesh.Empty, "no vertices"},
		{"v 0 0 0\ncstype bspline\nsurf 0 1 0 1 1 1\nend\n", mesh.Unsupported, "curved"},
		{"\n\nv 1 2\n", mesh.Malformed, "Line 3 of the OBJ file has a vertex with 2 "},
		{"v 1 2 x\n", mesh.Malformed, `has "x" where`},
		{"v 1 2 nan\nv -1.#IND 2 3\n", mesh.Malformed, "None of the 2 vertices"},
		{"v 1 2 1e999\n", mesh.Malformed, `has "1e999" where`},
		{"v 1 2 0x10\n", mesh.Malformed, `has "0x10" where`},
		{"v 1,5 2 3\n", mesh.Malformed, `has "1,5" where`},
		{"v 1 2 1e30\n", mesh.Malformed, "farther than 1e+18"},
		{square + "f 1 2 3\\\n 5\nf 1", mesh.Malformed, `Line 5 of the OBJ file has a face with vertex "5"`},
		{square + "f 1 2\\\n 3\nf 1 2 -5", mesh.Malformed, `Line 7 of the OBJ file has a face with vertex "-5"`},
		{square + "f 1 2 a/b", mesh.Malformed, `vertex "a"`},
		{square + "f 1 2 /3", mesh.Malformed, `vertex ""`},
		{square + "f 1 2 " + strings.Repeat("3", 1000), mesh.Malformed, `"333333333333333333333333"…,`},
		{square + "f " + strings.Repeat("1 ", textscan.MaxLine), mesh.TooLarge, "Line 5 of the OBJ file is longer"},
		{square + "f" + strings.Repeat(" 1 2 3 4 \\\n", textscan.MaxLine/10), mesh.TooLarge,
			"Line 5 of the OBJ file is longer"},
	} {
		_, err := decodetest.Decode(t, Decode, []byte(c.text))
		decodetest.CheckError(t, err, c.reason, c.message)
	}
}

func TestOBJLimits(t *testing.T) {
	limits := mesh.Limits{Bytes: 1 << 20, Inflated: 1 << 20, Triangles: 2, Depth: 9, Elements: 1}
	for _, c := range []struct{ text, message string }{
		{square + "f 1 2 3 4\nf 1 2 3", "too many triangles: at most 2 are supported"},
		{square + "f 1 2 3 4 1", "too many triangles: at most 2 are supported"},
		{square + square, "too many vertices: at most 6 are supported"},
		{"newmtl a\nnewmtl b\n", "more than 1 materials"},
	} {
		src := decodetest.Source([]byte(c.text))
		_, err := Decode(context.Background(), src, limits, nil)
		decodetest.CheckError(t, err, mesh.TooLarge, c.message)
	}
}

func TestOBJAllocation(t *testing.T) {
	v, f := decodetest.Grid(50, 1, "v %.6f %.6f %.6f\n", "f %d %d %d\n")
	text := []byte(v + f)
	allocations := testing.AllocsPerRun(3, func() {
		Decode(context.Background(), decodetest.Source(text), mesh.DefaultLimits, nil)
	})
	if allocations > 100 {
		t.Errorf("%d lines took %v allocations", bytes.Count(text, []byte{'\n'}), allocations)
	}
}

func TestProgress(t *testing.T) {
	v, f := decodetest.Grid(100, 1, "v %.6f %.6f %.6f\n", "f %d %d %d\n")
	text, last, calls := v+f, 0.0, 0
	_, err := Decode(context.Background(), decodetest.Source([]byte(text)), mesh.DefaultLimits, func(done float64) {
		if done < last || done > 1 {
			t.Errorf("progress went from %v to %v", last, done)
		}
		last = done
		calls++
	})
	if err != nil || last != 1 || calls < 3 {
		t.Errorf("got the error %v, and %d reports up to %v", err, calls, last)
	}
}

func FuzzOBJ(f *testing.F) {
	f.Add([]byte("newmtl a\nKd 1 0 .5\nv 0 0 0 1 2 3\nv 1 0 0\nv 1e5 1 0\nv -0 1 0\nusemtl a\nf 1 2/1 3//4 \\\n -1\np 1\n"))
	decodetest.Fuzz(f, "obj", Decode)
}

// BenchmarkOBJ reads 500,000 triangles. Compare its throughput with that of the disk.
func BenchmarkOBJ(b *testing.B) {
	v, f := decodetest.Grid(500, 1, "v %.6f %.6f %.6f\n", "f %d %d %d\n")
	file := []byte(v + f)
	decodetest.Benchmark(b, Decode, file, len(file))
}
