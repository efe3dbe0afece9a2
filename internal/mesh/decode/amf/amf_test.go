package amf

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode/decodetest"
)

func TestAMFSample(t *testing.T) {
	b, err := os.ReadFile("../../../../testdata/meshes/assimp_test1.amf")
	if err != nil {
		t.Fatal(err)
	}
	for name, file := range map[string][]byte{"plain": b,
		"zipped": decodetest.ZIP(t, map[string]string{"a.txt": "", "A.AMF": string(b)}),
		"zipped on macOS": decodetest.ZIP(t, map[string]string{"__MACOSX/._a.amf": "\x00\x05\x16\x07",
			"a.amf": string(b)}),
		"zipped on macOS, of any name": decodetest.ZIP(t, map[string]string{"._model": "\x00\x05\x16\x07",
			"model": string(b)}),
		"zipped, of any name": decodetest.ZIP(t, map[string]string{"model": string(b)}),
		"mm":                  bytes.Replace(b, []byte("<amf>"), []byte(`<amf unit="mm">`), 1)} {
		m, err := decodetest.Decode(t, Decode, file)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want := mesh.Box{Min: [3]float64{-0.5, -0.5, 0}, Max: [3]float64{1, 0.5, 4}}
		if m.Triangles() != 4 || m.Vertices() != 4 || m.Box() != want || m.Unit != 1 || m.Colors != nil ||
			m.Format != mesh.AMF {
			t.Errorf("%s: got %d triangles, %d vertices in %v", name, m.Triangles(), m.Vertices(), m.Box())
		}
	}
}

// objectAMF returns an object with one triangle with corners at 0 0 0, 1 0 0 and 0 2 0.
func objectAMF(id int, object, vertex, volume, triangle string) string {
	text := fmt.Sprintf(`<object id="%d">%s<mesh><vertices>`, id, object)
	for _, p := range [][2]int{{0, 0}, {1, 0}, {0, 2}} {
		text += fmt.Sprintf("<vertex>%s<coordinates><x>%d</x><y> %d\n</y><z>0</z></coordinates></vertex>", vertex, p[0], p[1])
	}
	return text + fmt.Sprintf(
		`</vertices><volume materialid="7">%s<triangle>%s<v1>0</v1><v2>1</v2><v3>2</v3></triangle></volume></mesh></object>`,
		volume, triangle)
}

func colorAMF(r, g, b int) string {
	return fmt.Sprintf("<color><r>%d</r><g>%d</g><b>%d</b></color>", r, g, b)
}

func TestAMFColors(t *testing.T) {
	red, green, blue, black := colorAMF(1, 0, 0), colorAMF(0, 1, 0), colorAMF(0, 0, 1), colorAMF(0, 0, 0)
	yellow := `<material id="7">` + colorAMF(1, 1, 0) + `</material>`
	for _, c := range []struct{ name, object, material, want string }{
		{"triangle first", objectAMF(1, red, green, blue, black), yellow, "000000ff"},
		{"then vertex", objectAMF(1, red, green, blue, ""), yellow, "00ff00ff"},
		{"then volume", objectAMF(1, red, "", blue, ""), yellow, "0000ffff"},
		{"then object", objectAMF(1, red, "", "", ""), yellow, "ff0000ff"},
		{"then material", objectAMF(1, "", "", "", ""), yellow, "ffff00ff"},
		{"with alpha", objectAMF(1, "", "", "", "<color><a>.5</a><r>1</r><g>0</g><b>1</b></color>"), yellow, "ff00ff80"},
		{"no formulas", objectAMF(1, "", "", "", "<color><r>x*0.1</r><g>0</g><b>0</b></color>"), yellow, "ffff00ff"},
		{"a material with a name", strings.Replace(objectAMF(1, "", "", "", ""), `materialid="7"`, `materialid="a b"`, 1),
			strings.Replace(yellow, `id="7"`, `id="a b"`, 1), "ffff00ff"},
		{"a material without an id", strings.Replace(objectAMF(1, "", "", "", ""), ` materialid="7"`, "", 1),
			strings.Replace(yellow, ` id="7"`, "", 1), ""},
		{"none", objectAMF(1, "", "", "", ""), "", ""},
	} {
		m := decodetest.DecodeText(t, Decode, "<amf>"+c.object+c.material+"</amf>")
		if got := fmt.Sprintf("%x", m.Colors); got != strings.Repeat(c.want, 3) {
			t.Errorf("%s: got %s, want each %s", c.name, got, c.want)
		}
	}
}

func TestAMFConstellation(t *testing.T) {
	objects := objectAMF(1, "", "", "", "") + objectAMF(2, "", "", "", "")
	text := `<AMF unit="inch">` + objects +
		`<constellation id="3"><instance objectid="1"><deltax>10</deltax><rz>90</rz></instance>` +
		`<instance objectid="1"><deltaz>1</deltaz><rx>90</rx><ry>90</ry></instance></constellation></AMF>`
	m := decodetest.DecodeText(t, Decode, text)
	var got []float32
	for _, v := range m.Indices {
		p := m.At(v)
		for _, x := range p {
			got = append(got, float32(math.Round(float64(x)*1000)/1000)+0)
		}
	}
	want := []float32{0, 0, 0, 1, 0, 0, 0, 2, 0} // object 2, which no constellation uses
	want = append(want, 10, 0, 0, 10, 1, 0, 8, 0, 0)
	want = append(want, 0, 0, 1, 0, 0, 0, 2, 0, 1)
	if !slices.Equal(got, want) || m.Unit != 25.4 {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestAMFNames checks that the IDs of objects can be names, or missing.
func TestAMFNames(t *testing.T) {
	object := strings.Replace(objectAMF(0, "", "", "", ""), `id="0"`, `id="a"`, 1)
	unnamed := strings.Replace(objectAMF(0, "", "", "", ""), ` id="0"`, "", 1)
	m := decodetest.DecodeText(t, Decode,
		"<amf>"+object+unnamed+unnamed+`<constellation><instance objectid="a"><deltaz>5</deltaz></instance></constellation></amf>`)
	want := mesh.Box{Max: [3]float64{1, 2, 5}}
	if m.Triangles() != 3 || m.Box() != want {
		t.Errorf("got %d triangles in %v, want 3 in %v", m.Triangles(), m.Box(), want)
	}
}

// TestAMFOfSlicers checks the instances that Slic3r and PrusaSlicer write: an object and the
// constellation have the same ID, instances have factors, and angles are in radians.
func TestAMFOfSlicers(t *testing.T) {
	objects := objectAMF(0, "", "", "", "") + objectAMF(1, "", "", "", "")
	for name, c := range map[string]struct{ instances, want string }{
		"Slic3r": {
			`<instance objectid="0"><deltax>10</deltax><deltay>0</deltay><rz>1.5707963267949</rz><scale>2</scale></instance>` +
				`<instance objectid="1"><deltax>0</deltax><deltay>0</deltay><rz>0</rz><scale>1</scale></instance>`,
			"10 0 0, 10 2 0, 6 0 0, 0 0 0, 1 0 0, 0 2 0",
		},
		"PrusaSlicer": {
			`<instance objectid="1"><deltax>10</deltax><rx>1.5707963267949</rx><ry>0</ry><rz>0</rz><scalex>2</scalex><scaley>3</scaley>` +
				`<scalez>4</scalez><mirrorx>-1</mirrorx><mirrory>1</mirrory><mirrorz>1</mirrorz><printable>1</printable></instance>` +
				`<instance objectid="0"><deltaz>5</deltaz><rx>0</rx><scalex>1</scalex></instance>`,
			"10 0 6, 8 0 0, 10 0 0, 0 0 5, 1 0 5, 0 2 5", // the mirrored triangle is turned over
		},
	} {
		m := decodetest.DecodeText(t, Decode, `<amf unit="millimeter"><metadata type="cad">Slic3r 1.3</metadata>`+objects+
			`<constellation id="1">`+c.instances+`</constellation></amf>`)
		var got []string
		for _, v := range m.Indices {
			p := m.At(v)
			got = append(got, fmt.Sprintf("%.0f %.0f %.0f", p[0]+0, p[1]+0, p[2]+0))
		}
		if got := strings.ReplaceAll(strings.Join(got, ", "), "-0", "0"); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

func TestAMFMalformed(t *testing.T) {
	object := objectAMF(1, "", "", "", "")
	constellation := func(id, to int) string {
		return fmt.Sprintf(`<constellation id="%d"><instance objectid="%d"/></constellation>`, id, to)
	}
	sound := "<amf>" + object + "</amf>"
	for _, c := range []struct {
		text    string
		reason  mesh.Reason
		message string
	}{
		{"", mesh.Malformed, "ends before its root"},
		{"solid", mesh.Malformed, "ends before its root"},
		{"<amf/>", mesh.Empty, "no triangles"},
		{"<html/>", mesh.Malformed, "root element"},
		{`<amf unit="mile"/>`, mesh.Malformed, `unit "mile"`},
		{"<amf>" + object + object + "</amf>", mesh.Malformed, `a second object with the id "1"`},
		{"<amf>" + object + constellation(2, 9) + "</amf>", mesh.Malformed, `uses object "9"`},
		{"<amf>" + constellation(1, 2) + constellation(2, 1) + "</amf>", mesh.Malformed, "contains itself"},
		{strings.Replace(sound, "<x>1</x>", "<x>1,0</x>", 1), mesh.Malformed, `"1,0"`},
		{strings.Replace(sound, "<x>1</x>", "<x>NaN</x>", 1), mesh.Malformed, `"NaN"`},
		{strings.Replace(sound, "<x>1</x>", "<x><x/></x>", 1), mesh.Malformed, "an element or a long text"},
		{strings.Replace(sound, "<x>1</x>", "", 1), mesh.Malformed, "without x, y or z"},
		{strings.Replace(sound, "<v3>2</v3>", "<v3>3</v3>", 1), mesh.Malformed, "v3=3"},
		{strings.Replace(sound, "<v3>2</v3>", "", 1), mesh.Malformed, "v3=-1"},
		{string(decodetest.ZIP(t, map[string]string{"a.txt": "", "b": sound})), mesh.Malformed, "no AMF file"},
	} {
		_, err := decodetest.Decode(t, Decode, []byte(c.text))
		decodetest.CheckError(t, err, c.reason, c.message)
	}
	limits := mesh.Limits{Bytes: 1 << 20, Inflated: 1 << 20, Triangles: 1, Depth: 9, Elements: 3}
	for _, c := range []struct{ text, message string }{
		{strings.Replace(sound, "</volume>", "<triangle><v1>0</v1><v2>1</v2><v3>2</v3></triangle></volume>", 1),
			"too many triangles: at most 1 are supported"},
		{strings.Replace(sound, "</vertices>",
			"<vertex><coordinates><x>1</x><y>1</y><z>1</z></coordinates></vertex></vertices>", 1),
			"too many vertices: at most 3 are supported"},
		{"<amf>" + object + constellation(2, 1) + constellation(3, 1) + "</amf>", "more than 3 objects"},
		{"<amf>" + object + `<constellation id="2"><instance objectid="1"/><instance objectid="1"/></constellation></amf>`,
			"more than 3 objects"},
	} {
		_, err := Decode(context.Background(), decodetest.Source([]byte(c.text)), limits, nil)
		decodetest.CheckError(t, err, mesh.TooLarge, c.message)
	}
}

func FuzzAMF(f *testing.F) {
	f.Add([]byte(`<amf unit="inch">` + objectAMF(1, colorAMF(1, 0, 0), "", "", "") + `<material id="7">` +
		colorAMF(0, 0, 1) +
		`</material><constellation id="2"><instance objectid="1"><deltax>1</deltax><rz>90</rz></instance></constellation></amf>`))
	decodetest.Fuzz(f, "amf", Decode)
}
