package off

import (
	"slices"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode/decodetest"
)

const vertexText4 = "0 0 0\n1 0 0\n1 1 0\n0 1 0\n"

const plainOFF = "OFF\n4 2 0\n" + vertexText4 + "3 0 1 2\n3 0 2 3\n"

// TestOFF reads the same square in all supported notations.
func TestOFF(t *testing.T) {
	positions := []float32{0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0}
	for name, file := range map[string]string{
		"plain":                plainOFF,
		"counts on the header": strings.Replace(plainOFF, "OFF\n", "OFF ", 1),
		"counts in the header": strings.Replace(plainOFF, "OFF\n", "OFF", 1),
		"no edges":             strings.Replace(plainOFF, "4 2 0", "4 2", 1),
		"no header":            plainOFF[4:],
		"windows":              strings.ReplaceAll(plainOFF, "\n", "\r\n"),
		"old macintosh":        strings.ReplaceAll(plainOFF, "\n", "\r"),
		"a mark":               "\xEF\xBB\xBF" + plainOFF,
		"comments": "# OFF\n" + strings.ReplaceAll(strings.ReplaceAll(plainOFF, "\n", "#x 1 2\n\n # y\n"),
			"4 2 0#", "4 2#"),
		"a quad":               "OFF\n4 1 4\n" + vertexText4 + "4 0 1 2 3",
		"points and edges":     "OFF\n4 4 4\n" + vertexText4 + "1 0\n2 0 1\n3 0 1 2\n3 0 2 3",
		"more behind vertices": "OFF\n4 2 4\n" + strings.ReplaceAll(vertexText4, "\n", " 1 0 0 x\n") + "3 0 1 2\n3 0 2 3",
		"dimensions":           strings.Replace(plainOFF, "OFF\n", "nOFF\n3\n", 1),
		"numbers with points":  strings.NewReplacer("4 2 0", "4 2.0 0", "3 0 2 3", "3.0 0e0 2.0 3.00e+00").Replace(plainOFF),
		"normals":              "NOFF\n4 2 4\n" + strings.ReplaceAll(vertexText4, "\n", " 0 0 1\n") + "3 0 1 2\n3 0 2 3",
		"texture coordinates":  "STOFF\n4 2 4\n" + strings.ReplaceAll(vertexText4, "\n", " 0 0\n") + "3 0 1 2\n3 0 2 3",
		"indices of colors":    strings.Replace(plainOFF, "3 0 1 2\n", "3 0 1 2 7\n", 1),
		"words behind faces":   strings.Replace(plainOFF, "3 0 1 2\n", "3 0 1 2 red 1 2 3\n", 1),
		"colors that are none": strings.Replace(strings.Replace(plainOFF, "OFF", "COFF", 1), "0 0 0\n", "0 0 0 1 2\n", 1),
	} {
		m, err := decodetest.DecodeFile(t, mesh.OFF, Decode, []byte(file), mesh.DefaultLimits)
		if err != nil || !slices.Equal(m.Positions, positions) || !slices.Equal(m.Indices, []uint32{0, 1, 2, 0, 2, 3}) ||
			m.Colors != nil {
			t.Errorf("%s: got %+v and the error %v", name, m, err)
		}
	}
	m, err := decodetest.DecodeFile(t, mesh.OFF, Decode, []byte("OFF 2 0 0\n0 0 0\n1 2 3\n"), mesh.DefaultLimits)
	if err != nil || !m.Cloud || m.Vertices() != 2 {
		t.Errorf("of a cloud: got %+v and the error %v", m, err)
	}
}

// TestOFFMissing checks that a vertex which is not finite is dropped with its faces.
func TestOFFMissing(t *testing.T) {
	m, err := decodetest.DecodeFile(t, mesh.OFF, Decode, []byte(strings.Replace(plainOFF, "1 0 0", "1 nan 0", 1)),
		mesh.DefaultLimits)
	if err != nil || !slices.Equal(m.Positions, []float32{0, 0, 0, 1, 1, 0, 0, 1, 0}) ||
		!slices.Equal(m.Indices, []uint32{0, 1, 2}) {
		t.Errorf("got %+v and the error %v", m, err)
	}
}

func TestOFFColors(t *testing.T) {
	const red, half, plainColor = "\xFF\x00\x00\xFF", "\x80\x80\x80\x80", "\xFF\xFF\xFF\xFF"
	vertices := func(behind ...string) string {
		return "3 1 0\n0 0 0 " + behind[0] + "\n1 0 0 " + behind[1] + "\n0 1 0 " + behind[2] + "\n3 0 1 2\n"
	}
	faces := func(behind ...string) string {
		return "OFF\n4 2 0\n" + vertexText4 + "3 0 1 2 " + behind[0] + "\n3 0 1 2 " + behind[1] + "\n"
	}
	for _, c := range []struct{ name, text, want string }{
		{"bytes", "COFF\n" + vertices("255 0 0 255", "128 128 128 128", "255 0 0"), red + half + red},
		{"fractions", "COFF\n" + vertices("1 0 0 1", "0.5 .5 .5 .5", "1.0 0 0"), red + half + red},
		{"with normals", "CNOFF\n" + vertices("0 0 1 1 0 0 1", "0 0 1 .5 .5 .5 .5", "0 0 1 1 0 0"), red + half + red},
		{"with texture coordinates", "STCNOFF\n" + vertices("0 0 1 1 0 0 1 .1 .1", "0 0 1 .5 .5 .5 .5 .1 .1",
			"0 0 1 1 0 0 .1 .1"), red + half + red},
		{"letters in another order", "NCSTOFF\n" + vertices("0 0 1 1 0 0 1 .1 .1", "0 0 1 .5 .5 .5 .5 .1 .1",
			"0 0 1 1 0 0 .1 .1"), red + half + red},
		{"some", "COFF\n" + vertices("", "255 0 0", ""), plainColor + red + plainColor},
		{"faces", faces("255 0 0", "0.5 .5 .5 .5"), red + red + red + half + half + half},
		{"one face", faces("", "1 0 0"), plainColor + plainColor + plainColor + red + red + red},
		{"vertices before faces", "COFF\n" + strings.Replace(vertices("1 0 0", "1 0 0", "1 0 0"), "3 0 1 2", "3 0 1 2 0 0 1",
			1), red + red + red},
	} {
		m, err := decodetest.DecodeFile(t, mesh.OFF, Decode, []byte(c.text), mesh.DefaultLimits)
		if err != nil || string(m.Colors) != c.want {
			t.Errorf("%s: got %+v and the error %v, want the colors %x", c.name, m, err, c.want)
		}
	}
}

func TestOFFFar(t *testing.T) {
	want := mesh.Box{Min: [3]float64{4500000.125, 1e9, 0}, Max: [3]float64{4500000.25, 1000000000.5, 0.0625}}
	text := "COFF # far\n3 1 0\n4500000.125 1e9 0 1 0 0\n4500000.25 1000000000.5 0 1 0 0\n4500000.125 1e9 0.0625 1 0 0\n3 0 1 2\n"
	m, err := decodetest.DecodeFile(t, mesh.OFF, Decode, []byte(text), mesh.DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	if m.Box() != want || m.Vertices() != 3 || m.Triangles() != 1 ||
		string(m.Colors) != strings.Repeat("\xFF\x00\x00\xFF", 3) {
		t.Errorf("got %+v with the box %v, want %v", m, m.Box(), want)
	}
}

func TestOFFMalformed(t *testing.T) {
	replaced := func(old, new string) string { return strings.Replace(plainOFF, old, new, 1) }
	for _, c := range []struct {
		file    string
		reason  mesh.Reason
		message string
	}{
		{"OFF", mesh.Malformed, "ends on line 1 where the number of vertices"},
		{"OFF 4", mesh.Malformed, "ends on line 1 where the number of faces"},
		{"OFF 0 0 0", mesh.Empty, "neither triangles nor points"},
		{"OFF BINARY\n\x00\x00\x00", mesh.Unsupported, "a binary one"},
		{"NNOFF\n4 2 0", mesh.Malformed, `has "NNOFF" where OFF or`},
		{"4OFF\n", mesh.Unsupported, `begins with "4OFF"`},
		{"CNnOFF\n4", mesh.Unsupported, "The OFF file is of 4 dimensions"},
		{"nOFF\n", mesh.Malformed, "where the number of dimensions is expected"},
		{replaced("4 2", "-4 2"), mesh.Malformed, `Line 2 of the OFF file has "-4" where OFF or the number of vertices`},
		{replaced("4 2", "4 -2"), mesh.Malformed, `Line 2 of the OFF file has -2 where the number of faces`},
		{replaced("4 2", "4 x"), mesh.Malformed, `Line 2 of the OFF file has "x" where the number of faces`},
		{replaced("4 2", "4000000000 2"), mesh.Malformed,
			"Line 2 of the OFF file promises 4000000000 vertices and 2 faces, which cannot be in 59 bytes"},
		{replaced("4 2", "4 2000000000"), mesh.Malformed, "promises 4 vertices and 2000000000 faces"},
		{replaced("4 2", "3 2"), mesh.Malformed, "Line 6 of the OFF file has a face with 0 corners"},
		{replaced("4 2", "5 2"), mesh.Malformed, "ends on line 8 where the number of corners"},
		{replaced("4 2", "4 3"), mesh.Malformed, "ends on line 8 where the number of corners"},
		{replaced("1 1 0", "1 one 0"), mesh.Malformed, `Line 5 of the OFF file has "one" where a coordinate`},
		{replaced("1 1 0", "1 1e30 0"), mesh.Malformed,
			"Vertex 2 of the OFF file, counted from 0, has a coordinate farther than 1e+18"},
		{replaced("3 0 2 3", "3 0 2 4"), mesh.Malformed,
			"Line 8 of the OFF file has a face with the vertex 4: there are 4 vertices"},
		{replaced("3 0 2 3", "3 0 2 -1"), mesh.Malformed, "a face with the vertex -1"},
		{replaced("3 0 2 3", "3 0 2 .5"), mesh.Malformed, `has ".5" where a corner`},
		{replaced("3 0 2 3", "-3 0 2 3"), mesh.Malformed, "a face with -3 corners"},
		{replaced("3 0 2 3", "999999999999999999 0 2 3"), mesh.Malformed, "ends on line 8 where a corner"},
	} {
		_, err := decodetest.DecodeFile(t, mesh.OFF, Decode, []byte(c.file), mesh.DefaultLimits)
		decodetest.CheckError(t, err, c.reason, c.message)
	}
	limits := mesh.DefaultLimits
	limits.Triangles = 1
	_, err := decodetest.DecodeFile(t, mesh.OFF, Decode, []byte(plainOFF), limits)
	decodetest.CheckError(t, err, mesh.TooLarge, "4 vertices, and at most 3")
	_, err = decodetest.DecodeFile(t, mesh.OFF, Decode, []byte("OFF 3 2\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n3 0 1 2"), limits)
	decodetest.CheckError(t, err, mesh.TooLarge, "too many triangles: at most 1 are supported")
}

func FuzzOFF(f *testing.F) {
	f.Add([]byte(plainOFF))
	f.Add([]byte("STCNOFF # far\n3 1 0\n1e9 1e9 0 0 0 1 1 0 0 .5 1 1\n1e9 1 0 0 0 1 1 0 0 .5 1 1\n1 1e9 0 0 0 1 1 0 0 .5 1 1\n3 0 1 2 255 0 0\n"))
	f.Add([]byte("OFF 8 1\n0 0 0\n2 0 0\n2 2 0\n1 1 0\n0 2 0\n8 8 8\n9 9 9\n7 7 7\n5 0 1 2 3 4 .5 .5 .5\n"))
	decodetest.Fuzz(f, "off", decodetest.Validated(mesh.OFF, Decode))
}
