package threemf

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode/decodetest"
)

// cornerColors returns the colors of all corners.
func cornerColors(m *mesh.Mesh) string {
	var got []byte
	for _, v := range m.Indices {
		if m.Colors != nil {
			got = append(got, m.Colors[4*v:4*v+4]...)
		}
	}
	return string(got)
}

// Test3MFPrintable checks that items that are not printed are left out, unless no item is printed.
func Test3MFPrintable(t *testing.T) {
	const object = `<object id="1">` + oneTriangle + `</object>`
	const moved = `<item objectid="1" transform="1 0 0 0 1 0 0 0 1 0 0 5" printable=`
	for build, want := range map[string]float64{
		`<item objectid="1"/>` + moved + `"0"/>`:               0,
		`<item objectid="1"/>` + moved + `"1"/>`:               5,
		`<item objectid="1" printable="0"/>` + moved + `"0"/>`: 5,
	} {
		m := read3MFBytes(t, model3MF(t, object, build))
		if got := m.Box().Max[2]; got != want {
			t.Errorf("%s: the box ends at z = %v, want %v", build, got, want)
		}
	}
}

// Test3MFExtensions checks that a file that requires boolean operations is not shown without them,
// and that the error of a file with nothing else names the extension.
func Test3MFExtensions(t *testing.T) {
	const object = `<object id="1">` + oneTriangle + `</object>`
	const shape = `<object id="2"><bo:booleanshape objectid="1" operation="difference"><bo:boolean objectid="1"/></bo:booleanshape></object>`
	file := func(required, resources, build string) []byte {
		text := strings.Replace(modelText(resources, build), "<model ", `<model requiredextensions="`+required+
			`" xmlns:bo="http://schemas.3mf.io/3dmanufacturing/booleanoperations/2023/07" xmlns:d="http://schemas.3mf.io/3dmanufacturing/displacement/2023/10" `, 1)
		return package3MF(t, map[string]string{"3D/3dmodel.model": text})
	}
	for _, c := range []struct {
		name    string
		file    []byte
		reason  mesh.Reason
		message string
	}{
		{"required", file("p bo", object+shape, `<item objectid="1"/><item objectid="2"/>`), mesh.Unsupported,
			"boolean operations, which is not supported"},
		{"required by its namespace", file("http://schemas.3mf.io/3dmanufacturing/booleanoperations/2023/07", object,
			`<item objectid="1"/>`), mesh.Unsupported, "boolean operations"},
		{"not required", file("", object+shape, `<item objectid="2"/>`), mesh.Unsupported,
			"boolean operations on its objects, which are not supported"},
		{"displacement", file("d", `<object id="1"><d:displacementmesh/></object>`, `<item objectid="1"/>`), mesh.Unsupported,
			`the extension "displacement"`},
		{"beside a mesh", file("d m", object+shape, `<item objectid="1"/><item objectid="2"/>`), "", ""},
	} {
		m, err := decodetest.Decode(t, Decode, c.file)
		if c.reason == "" {
			if err != nil || m.Triangles() != 1 {
				t.Errorf("%s: got %v, want a triangle", c.name, err)
			}
			continue
		}
		decodetest.CheckError(t, err, c.reason, c.message)
	}
}

// Test3MFMultiProperties checks how the layers of multi-properties are blended.
func Test3MFMultiProperties(t *testing.T) {
	img := image.NewNRGBA(image.Rect(0, 0, 1, 1))
	img.SetNRGBA(0, 0, color.NRGBA{0, 0, 255, 255})
	var encoded bytes.Buffer
	if err := png.Encode(&encoded, img); err != nil {
		t.Fatal(err)
	}
	const groups = `<basematerials id="5"><base name="a" displaycolor="#FF0000"/><base name="b" displaycolor="#00FF00"/></basematerials>` +
		`<m:colorgroup id="6"><m:color color="#8080FFFF"/><m:color color="#0000FF80"/></m:colorgroup>` +
		`<m:texture2d id="7" path="/a.png" contenttype="image/png"/><m:texture2dgroup id="8" texid="7"><m:tex2coord u="0.5" v="0.5"/></m:texture2dgroup>`
	for _, c := range []struct{ name, attributes, multi, want, tint string }{
		{"one group", `pids="5"`, "1", "00ff00ff", ""},
		{"the last opaque one", `pids="5 6"`, "0 0", "8080ffff", ""},
		{"mixed", `pids="5 6" blendmethods="mix"`, "0 1", "7f0080ff", ""},
		{"multiplied", `pids="5 6" blendmethods="multiply"`, "0 0", "800000ff", ""},
		{"missing indices", `pids="5 6" blendmethods="multiply"`, "1", "008000ff", ""},
		{"an unknown group", `pids="5 99"`, "0 0", "ff0000ff", ""},
		{"a texture", `pids="5 8"`, "0 0", "0000ffff", "ffffffff"},
		{"a texture on a color", `pids="6 8" blendmethods="multiply"`, "0 0", "0000ffff", "8080ffff"},
		{"a color on a texture", `pids="5 8 6" blendmethods="mix multiply"`, "0 0 0", "0000ffff", "8080ffff"},
		{"an opaque color on a texture", `pids="8 6"`, "0 0", "8080ffff", ""},
	} {
		resources := groups + `<m:multiproperties id="9" ` + c.attributes + `><m:multi pindices="` + c.multi +
			`"/></m:multiproperties><object id="1">` +
			strings.Replace(oneTriangle, `<triangle v1`, `<triangle pid="9" p1="0" v1`, 1) + `</object>`
		m := read3MFBytes(t, package3MF(t, map[string]string{"3D/3dmodel.model": modelText(resources, `<item objectid="1"/>`),
			"a.png": encoded.String()}))
		if got := fmt.Sprintf("%x", cornerColors(m)); got != strings.Repeat(c.want, 3) {
			t.Errorf("%s: got the colors %s, want %s", c.name, got, c.want)
		}
		tint := ""
		if len(m.Patches) == 1 {
			n := m.Patches[0].Tint[0]
			tint = fmt.Sprintf("%02x%02x%02x%02x", n&0xFF, n>>8&0xFF, n>>16&0xFF, n>>24)
		}
		if tint != c.tint {
			t.Errorf("%s: got the tint %s of %d patches, want %s", c.name, tint, len(m.Patches), c.tint)
		}
	}
}

// Test3MFFilaments checks the colors of filaments in projects of Bambu Studio and OrcaSlicer: of
// objects, of their parts, and of painted triangles.
func Test3MFFilaments(t *testing.T) {
	const red, green, blue, white = "\xFF\x00\x00\xFF", "\x00\xFF\x00\xFF", "\x00\x00\xFF\xFF", "\xFF\xFF\xFF\xFF"
	// The name of the setting is escaped, because it is not American English.
	const filaments = `{"filament_type": ["PLA"], "filament_colo\u0075r": ["#FF0000", "#00FF00FF", "#0000FF", "#FFFFFF"]}`
	painted := func(code string) string {
		return strings.Replace(oneTriangle, `<triangle v1`, `<triangle paint_color="`+code+`" v1`, 1)
	}
	extruder := func(n string) string { return `<metadata key="extruder" value="` + n + `"/>` }
	const plain = `<object id="1">` + oneTriangle + `</object>`
	const twice = plain + `<object id="2">` + oneTriangle +
		`</object><object id="3"><components><component objectid="1"/><component objectid="2"/></components></object>`
	for _, c := range []struct{ name, resources, build, filaments, config, want string }{
		{"two objects", plain + `<object id="2">` + oneTriangle + `</object>`, `<item objectid="1"/><item objectid="2"/>`,
			filaments,
			`<config><object id="1">` + extruder("1") + `</object><object id="2">` + extruder("2") + `</object></config>`,
			red + green},
		{"parts", twice, `<item objectid="3"/>`, filaments,
			`<config><object id="3">` + extruder("3") + `<part id="1" subtype="normal_part">` + extruder("2") +
				`</part><part id="2"><metadata key="name" value="x"/></part></object></config>`,
			green + blue},
		{"parts by position", twice, `<item objectid="3"/>`, filaments,
			`<config><object id="3"><part id="11">` + extruder("2") + `</part><part id="12">` + extruder("3") +
				`</part></object></config>`, green + blue},
		{"a shared mesh", plain +
			`<object id="2"><components><component objectid="1"/></components></object><object id="3"><components><component objectid="1"/></components></object>`,
			`<item objectid="2"/><item objectid="3"/><item objectid="1"/>`, filaments,
			`<config><object id="2">` + extruder("2") + `</object><object id="3">` + extruder("3") + `</object></config>`,
			green + blue + red},
		{"painted", `<object id="1">` + painted("8") + `</object><object id="2">` + painted("1C") + `</object>`,
			`<item objectid="1"/><item objectid="2"/>`, filaments, ``, green + white},
		{"painted white on green", `<object id="1">` + painted("1C") + `</object><object id="2">` + oneTriangle + `</object>`,
			`<item objectid="1"/><item objectid="2"/>`, filaments,
			`<config><object id="1">` + extruder("2") + `</object><object id="2">` + extruder("2") + `</object></config>`,
			white + green},
		{"mostly painted", `<object id="1">` + painted("88483") + `</object>`, `<item objectid="1"/>`, filaments, ``, green},
		{"hardly painted", `<object id="1">` + painted("80003") + `</object>`, `<item objectid="1"/>`, filaments,
			`<config><object id="1">` + extruder("3") + `</object></config>`, blue},
		{"an invalid paint", `<object id="1">` + painted("83") + `</object>`, `<item objectid="1"/>`, filaments, ``, red},
		{"painted with a filament that is not there", `<object id="1">` + painted("7C") + `</object>`, `<item objectid="1"/>`,
			filaments, ``, red},
		{"an extruder that is not there", plain, `<item objectid="1"/>`, filaments, `<config><object id="1">` +
			extruder("9") + `</object></config>`, red},
		{"a color of its own",
			`<basematerials id="5"><base name="a" displaycolor="#0000FF"/></basematerials><object id="1" pid="5" pindex="0">` +
				oneTriangle + `</object>`,
			`<item objectid="1"/>`, filaments, ``, blue},
		{"damaged extruders", plain, `<item objectid="1"/>`, filaments, `<config><object id="1">`, red},
		{"damaged filaments", plain, `<item objectid="1"/>`, `{"filament_colo\u0075r": [1]}`, ``, ""},
		{"no filaments", `<object id="1">` + painted("8") + `</object>`, `<item objectid="1"/>`, `{}`,
			`<config><object id="1">` + extruder("2") + `</object></config>`, ""},
	} {
		parts := map[string]string{"3D/3dmodel.model": modelText(c.resources, c.build),
			"Metadata/project_settings.config": c.filaments}
		if c.config != "" {
			parts["Metadata/model_settings.config"] = c.config
		}
		want := ""
		for i := 0; i < len(c.want); i += 4 {
			want += strings.Repeat(c.want[i:i+4], 3)
		}
		if got := cornerColors(read3MFBytes(t, package3MF(t, parts))); got != want {
			t.Errorf("%s: got %x, want %x", c.name, got, want)
		}
	}
	cycle := `<object id="1"><components><component objectid="1"/></components></object>`
	_, err := decodetest.Decode(t, Decode, package3MF(t, map[string]string{
		"3D/3dmodel.model": modelText(cycle, `<item objectid="1"/>`), "Metadata/project_settings.config": filaments,
	}))
	decodetest.CheckError(t, err, mesh.Malformed, "contains itself")
}

// TestPaintedExtruder checks the codes of painted triangles.
func TestPaintedExtruder(t *testing.T) {
	for code, want := range map[string]int{
		"": -1, "0": 0, "4": 1, "8": 2, "0C": 3, "1C": 4, "DC": 16, "EC": 17, "0FC": 18, "x": -1, "C": -1, "44": -1, "441": 1,
		"481": 1, "88483": 2, "1": -1,
		"FFFFFFC": -1, strings.Repeat("1", 1000): -1,
	} {
		if got := paintedExtruder([]byte(code)); got != want {
			t.Errorf("%q: got the extruder %d, want %d", code, got, want)
		}
	}
}
