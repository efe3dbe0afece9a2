package stl

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode/decodetest"
)

// facet is a triangle of a binary STL file.
type facet struct {
	corners [9]float32
	word    uint16
}

// binarySTLOf returns a binary STL file whose header declares n triangles.
func binarySTLOf(header string, n uint32, facets ...facet) []byte {
	b := make([]byte, 80)
	copy(b, header)
	b = binary.LittleEndian.AppendUint32(b, n)
	for _, f := range facets {
		b = append(b, make([]byte, 12)...)
		for _, x := range f.corners {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
		}
		b = binary.LittleEndian.AppendUint16(b, f.word)
	}
	return b
}

// numbered returns n different triangles.
func numbered(n int) []facet {
	f := make([]facet, n)
	for i := range f {
		f[i].corners = [9]float32{float32(i), 0, 0, float32(i) + 1, 0, 0, float32(i), 1, 0}
	}
	return f
}

func TestSTLBinary(t *testing.T) {
	bad := func(x float64) facet { return facet{corners: [9]float32{0, 0, 0, 1, 0, 0, 0, 1, float32(x)}} }
	good := numbered(2)
	for _, c := range []struct {
		name string
		file []byte
		want int
	}{
		{"exact", binarySTLOf("", 2, good...), 2},
		{"a header of text", binarySTLOf("solid facet normal 0 0 1", 2, good...), 2},
		{"a header of another format", binarySTLOf("ply\nformat ascii 1.0\n", 2, good...), 2},
		{"one byte more", append(binarySTLOf("solid x", 2, good...), '\n'), 2},
		{"more triangles than the header says", binarySTLOf("", 1, good...), 1},
		{"corners that are not finite",
			binarySTLOf("", 7, slices.Concat(good[:1], []facet{bad(math.NaN()), bad(math.Inf(1)), bad(math.Inf(-1)),
				bad(1.1e18), bad(-1.1e18)}, good[1:])...), 2},
		{"far corners", binarySTLOf("", 2, bad(1e18), bad(-1e18)), 2},
		{"no area", binarySTLOf("", 1, facet{}), 1},
		{"a count of none", binarySTLOf("", 0, good...), 2},
	} {
		m, err := decodetest.DecodeFile(t, mesh.STL, Decode, c.file, mesh.DefaultLimits)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if m.Triangles() != c.want || m.Indices != nil || m.Colors != nil || m.Unit != 1 || m.Up != mesh.UpZ {
			t.Errorf("%s: got %+v, want %d triangles", c.name, m, c.want)
		}
		if c.name == "corners that are not finite" &&
			!slices.Equal(m.Positions, append(good[0].corners[:], good[1].corners[:]...)) {
			t.Errorf("the triangles that are left are %v", m.Positions)
		}
	}
	for _, c := range []struct {
		name    string
		file    []byte
		reason  mesh.Reason
		message string
	}{
		{"truncated", binarySTLOf("solid", 3, good...), mesh.Malformed,
			"says that there are 3 triangles, but its 184 bytes hold 2."},
		{"cut in a triangle", binarySTLOf("", 2, good...)[:183], mesh.Malformed, "2 triangles, but its 183 bytes hold 1."},
		{"a huge count", binarySTLOf("", math.MaxUint32, good...), mesh.Malformed,
			"4294967295 triangles, but its 184 bytes hold 2."},
		{"a count of none and a part of a triangle", binarySTLOf("", 0, good...)[:183], mesh.Malformed,
			"0 triangles, but its 183 bytes hold 1."},
		{"nothing", binarySTLOf("", 0), mesh.Empty, "valid but contains no triangles"},
		{"only bad ones", binarySTLOf("", 2, bad(math.NaN()), bad(math.Inf(1))), mesh.Malformed, "None of the 2 triangles"},
		{"a header alone", binarySTLOf("", 0)[:83], mesh.Malformed, "83 bytes"},
	} {
		_, err := decodetest.DecodeFile(t, mesh.STL, Decode, c.file, mesh.DefaultLimits)
		decodetest.CheckError(t, err, c.reason, c.message)
	}
	limits := mesh.DefaultLimits
	limits.Triangles = 2
	_, err := decodetest.DecodeFile(t, mesh.STL, Decode, binarySTLOf("", 3, numbered(3)...), limits)
	decodetest.CheckError(t, err, mesh.TooLarge, "3 triangles, and at most 2")
}

func TestSTLColors(t *testing.T) {
	const red, blue, dark = "\xFF\x00\x00\xFF", "\x00\x00\xFF\xFF", "\x08\x10\x18\xFF"
	const white = "\xFF\xFF\xFF\xFF"
	facets := func(words ...uint16) []facet {
		f := numbered(len(words))
		for i, w := range words {
			f[i].word = w
		}
		return f
	}
	for _, c := range []struct {
		name, header string
		words        []uint16
		want         string // of the first corner of each triangle
	}{
		{"none", "", []uint16{0, 0}, ""},
		{"VisCAM", "", []uint16{0x8000 | 31<<10, 0x8000 | 31, 0x8000 | 1<<10 | 2<<5 | 3}, red + blue + "\x08\x10\x19\xFF"},
		{"VisCAM, not all", "", []uint16{0, 0x8000 | 31}, white + blue},
		{"the color of a body that has none", "", []uint16{0x8000, 0x8000}, ""},
		{"words of something else", "", []uint16{7, 0x8000 | 31}, ""},
		{"Magics", "COLOR=\x08\x10\x18\xFF,MATERIAL=", []uint16{31, 31 << 10, 0x8000, 0x8000 | 31}, red + blue + dark + dark},
		{"Magics, the body alone", "COLOR=\xFF\x00\x00\x00", []uint16{0, 0}, red + red},
	} {
		m, err := decodetest.DecodeFile(t, mesh.STL, Decode, binarySTLOf(c.header, uint32(len(c.words)),
			facets(c.words...)...), mesh.DefaultLimits)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for i := 0; i < len(m.Colors); i += 12 {
			one := string(m.Colors[i : i+4])
			if string(m.Colors[i+4:i+8]) != one || string(m.Colors[i+8:i+12]) != one {
				t.Errorf("%s: the corners of a triangle differ: %x", c.name, m.Colors[i:i+12])
			}
			got += one
		}
		if got != c.want {
			t.Errorf("%s: got %x, want %x", c.name, got, c.want)
		}
	}
	// Colors stay with their triangles if a triangle is dropped.
	f := facets(0x8000|31<<10, 0x8000, 0x8000|31)
	f[1].corners[3] = float32(math.NaN())
	m, err := decodetest.DecodeFile(t, mesh.STL, Decode, binarySTLOf("", 3, f...), mesh.DefaultLimits)
	if err != nil || string(m.Colors) != strings.Repeat(red, 3)+strings.Repeat(blue, 3) {
		t.Errorf("got %+v and the error %v", m, err)
	}
}

const facetText = "facet normal 0 0 1\n outer loop\n  vertex 0 0 0\n  vertex 1 0 0\n  vertex 0 1e0 .5\n endloop\nendfacet\n"

func TestSTLText(t *testing.T) {
	want := []float32{0, 0, 0, 1, 0, 0, 0, 1, 0.5}
	whole := "solid a\n" + facetText + "endsolid a\n"
	for name, text := range map[string]string{
		"plain":                  whole,
		"capitals":               strings.ToUpper(whole),
		"no name":                "solid\n" + facetText + "endsolid",
		"a long name":            "solid " + strings.Repeat("\u6708 facet \\", 100_000) + "\n" + facetText + "endsolid\n",
		"windows":                strings.ReplaceAll(whole, "\n", "\r\n"),
		"old macintosh":          strings.ReplaceAll(whole, "\n", "\r"),
		"blanks and a mark":      "\xEF\xBB\xBF\n \t" + strings.ReplaceAll(whole, " ", "\t  "),
		"no normal":              "solid\n" + strings.Replace(facetText, " normal 0 0 1", "", 1) + "endsolid\n",
		"half a normal":          "solid\n" + strings.Replace(facetText, "normal 0 0 1", "normal 0", 1) + "endsolid\n",
		"a bad normal":           "solid\n" + strings.Replace(facetText, "0 0 1", "nan -nan(ind) x", 1) + "endsolid\n",
		"on one line":            "solid\n" + strings.ReplaceAll(facetText, "\n", " ") + "endsolid\n",
		"no solid":               facetText,
		"a DOS end of file":      whole + "\x1A",
		"padded with zeros":      whole + strings.Repeat("\x00", 500),
		"between solids":         "solid a\nendsolid a\n; b follows\n" + whole + "end of b, facet 9\n",
		"no end":                 "solid a\n" + facetText,
		"a name without a space": "solid_a\n" + facetText + "endsolid\n",
		"lines between facets":   "# by hand\nsolid a\nunits mm\ncolor 0.5 0.2 0.1\n" + facetText + "; done\nendsolid a\n",
		"comments in a facet":    "solid a\n" + strings.ReplaceAll(facetText, "\n", " # c\n") + "endsolid a\n",
		"ends of two words":      strings.ReplaceAll(whole, "end", "end "),
		"several solids":         "solid a\nendsolid a\n" + whole + "solid\nendsolid\n",
		"bad facets": "solid\n" + strings.Replace(facetText, "vertex 1", "vertex nan", 1) + facetText +
			strings.Replace(facetText, "vertex 1", "vertex -1.#IND", 1) +
			strings.Replace(facetText, "1e0", "-Infinity", 1) + strings.Replace(facetText, "1e0", "1e19", 1) + "endsolid",
	} {
		m, err := decodetest.DecodeFile(t, mesh.STL, Decode, []byte(text), mesh.DefaultLimits)
		if err != nil || !slices.Equal(m.Positions, want) || m.Origin != [3]float64{} {
			t.Errorf("%s: got %+v and the error %v", name, m, err)
		}
	}
	for _, c := range []struct {
		text    string
		reason  mesh.Reason
		message string
	}{
		{"solid a\nendsolid", mesh.Empty, "valid but contains no triangles"},
		{"solid", mesh.Malformed, `ends on line 1 without a facet or "endsolid"`},
		{"no mesh\nat all\n", mesh.Malformed, `ends on line 2 without a facet or "endsolid"`},
		{"solid a\n" + facetText[:60], mesh.Malformed, "ends on line 5 inside a facet"},
		{"solid a\n" + facetText[:40], mesh.Malformed, "ends on line 4 where a coordinate is expected"},
		{"solid a\n" + strings.Replace(facetText, "vertex 1 0 0", "vertex 1 0 O", 1), mesh.Malformed,
			`Line 5 of the STL file has "O" where a coordinate is`},
		{"solid a\n" + strings.Replace(facetText, "vertex 1 0 0", "vertex 1 0", 1), mesh.Malformed,
			`Line 6 of the STL file has "vertex" where a coordinate is`},
		{"solid a\n" + strings.Replace(facetText, "vertex 1 0 0", "", 1), mesh.Malformed,
			`Line 8 of the STL file ends a facet that has 2 vertices`},
		{"solid a\n" + strings.Replace(facetText, "vertex 1 0 0", "vertex 1 0 0 vertex 1 0 0", 1), mesh.Malformed,
			`Line 6 of the STL file has the fourth vertex`},
		{"solid a\nvertex 0 0 0", mesh.Malformed, `Line 2 of the STL file has "vertex" outside of a facet`},
		{"solid a\nfacet\nendsolid", mesh.Malformed, `Line 3 of the STL file has "endsolid" inside a facet`},
		{"solid a\nfacet\nend", mesh.Malformed, `Line 3 of the STL file has "end", which is not a keyword`},
		{"solid a\nfacets\nouter loop", mesh.Malformed, `Line 3 of the STL file has "outer" outside of a facet`},
		{"solid a\nfacet\nfacet", mesh.Malformed, `Line 3 of the STL file has "facet" inside a facet`},
		{"solid a\nfacet\nouter wheel", mesh.Malformed, `Line 3 of the STL file has "wheel", which is not a keyword`},
		{"solid a\n" + strings.ReplaceAll(facetText, "1", "nan") + "endsolid", mesh.Malformed, "None of the 1 triangles"},
		{"solid a\nfacet " + strings.Repeat("x", 70_000), mesh.Malformed,
			"Line 2 of the STL file has a word of more than 4096 bytes"},
	} {
		_, err := decodetest.DecodeFile(t, mesh.STL, Decode, []byte(c.text), mesh.DefaultLimits)
		decodetest.CheckError(t, err, c.reason, c.message)
	}
	for _, ending := range []string{"\n", "\r\n", "\r"} {
		_, err := decodetest.DecodeFile(t, mesh.STL, Decode, []byte(strings.ReplaceAll("solid a\n\n\nvertex", "\n", ending)),
			mesh.DefaultLimits)
		decodetest.CheckError(t, err, mesh.Malformed, "Line 4 of the STL file")
	}
	limits := mesh.DefaultLimits
	limits.Triangles = 1
	_, err := decodetest.DecodeFile(t, mesh.STL, Decode, []byte(whole+whole), limits)
	decodetest.CheckError(t, err, mesh.TooLarge, "too many triangles: at most 1 are supported")
}

// TestSTLFar checks that a text file far from zero loses no precision.
func TestSTLFar(t *testing.T) {
	text := "solid\n" + strings.NewReplacer("0 0 0", "4500000.125 1e9 0", "1 0 0", "4500000.25 1000000000.5 0", "0 1e0 .5",
		"4500000.125 1e9 0.0625").
		Replace(strings.TrimPrefix(facetText, "facet normal 0 0 1\n")) + "endsolid\n"
	text = strings.Replace(text, "solid\n", "solid\nfacet\n", 1)
	m, err := decodetest.DecodeFile(t, mesh.STL, Decode, []byte(text), mesh.DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	want := mesh.Box{Min: [3]float64{4500000.125, 1e9, 0}, Max: [3]float64{4500000.25, 1000000000.5, 0.0625}}
	if got := m.Box(); got != want {
		t.Errorf("got the box %v, want %v", got, want)
	}
}

func FuzzSTL(f *testing.F) {
	f.Add([]byte("solid a\n" + facetText + "endsolid\n"))
	f.Add([]byte("SOLID\n" + strings.ReplaceAll(strings.ToUpper(facetText), " 0", " 1e9") + "ENDSOLID"))
	f.Add(binarySTLOf("solid", 2, facet{[9]float32{3: 1, 7: 1}, 0x8001}, facet{[9]float32{float32(math.NaN())}, 0}))
	f.Add(binarySTLOf("COLOR=rgba", 1, facet{[9]float32{3: 1, 7: 1}, 31}))
	decodetest.Fuzz(f, "stl", decodetest.Validated(mesh.STL, Decode))
}
