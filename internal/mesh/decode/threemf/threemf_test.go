package threemf

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode/decodetest"
)

// oneTriangle is a mesh with corners at 0 0 0, 1 0 0 and 0 2 0.
const oneTriangle = `<mesh><vertices><vertex x="0" y="0" z="0"/><vertex x="1" y="0" z="0"/><vertex z="0" y="2" x="0"/></vertices>` +
	`<triangles><triangle v1="0" v2="1" v3="2"/></triangles></mesh>`

// package3MF packs parts into a 3MF file. If parts has no root relationships, it adds one to the
// first model.
func package3MF(t testing.TB, parts map[string]string) []byte {
	if _, ok := parts["_rels/.rels"]; !ok {
		parts["_rels/.rels"] = rootRelations
	}
	return decodetest.ZIP(t, parts)
}

// model3MF packs one model into a 3MF file.
func model3MF(t testing.TB, resources, build string) []byte {
	return package3MF(t, map[string]string{"3D/3dmodel.model": modelText(resources, build)})
}

// relations returns a relationships part with the given types and targets.
func relations(to map[string]string) string {
	text := `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">`
	for kind, target := range to {
		text += fmt.Sprintf(`<Relationship Type=%q Target=%q Id="a"/>`, kind, target)
	}
	return text + `</Relationships>`
}

func read3MFBytes(t *testing.T, b []byte) *mesh.Mesh {
	t.Helper()
	m, err := decodetest.Decode(t, Decode, b)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func Test3MFPlaces(t *testing.T) {
	const object = `<object id="1">` + oneTriangle + `</object>`
	for _, c := range []struct {
		name, resources, build string
		want                   string // positions in the order of the corners
	}{
		{"one item", object, `<item objectid="1"/>`, "[0 0 0 1 0 0 0 2 0]"},
		{"moved and turned", object, `<item objectid="1" transform="0 1 0 -1 0 0 0 0 1 10 20 30"/>`,
			"[10 20 30 10 21 30 8 20 30]"},
		{"mirrored", object, `<item objectid="1" transform="-1 0 0 0 1 0 0 0 1 0 0 0"/>`, "[0 2 0 -1 0 0 0 0 0]"},
		{"two items", object, `<item objectid="1"/><item objectid="1" transform="1 0 0 0 1 0 0 0 1 0 0 5"/>`,
			"[0 0 0 1 0 0 0 2 0 0 0 5 1 0 5 0 2 5]"},
		{"components", object +
			`<object id="2"><components><component objectid="1" transform="2 0 0 0 2 0 0 0 2 0 0 0"/></components></object>`,
			`<item objectid="2" transform="1 0 0 0 1 0 0 0 1 1 1 1"/>`, "[1 1 1 3 1 1 1 5 1]"},
		{"a component that is not printed", object + `<object id="3" type="other">` + oneTriangle +
			`</object><object id="2"><components>` +
			`<component objectid="1"/><component objectid="3" transform="1 0 0 0 1 0 0 0 1 0 0 5"/></components></object>`,
			`<item objectid="2"/>`, "[0 0 0 1 0 0 0 2 0]"},
		{"an item of the type other", strings.Replace(object, "id=", `type="other" id=`, 1), `<item objectid="1"/>`,
			"[0 0 0 1 0 0 0 2 0]"},
		{"used before it is there", `<object id="2"><components><component objectid="1"/></components></object>` + object,
			`<item objectid="2"/>`,
			"[0 0 0 1 0 0 0 2 0]"},
		{"vertices after triangles", strings.Replace(object, "</mesh>", `<vertices><vertex x="5" y="6" z="7"/></vertices>`+
			`<triangles><triangle v1="3" v2="0" v3="1"/></triangles></mesh>`, 1), `<item objectid="1"/>`,
			"[0 0 0 1 0 0 0 2 0 5 6 7 0 0 0 1 0 0]"},
		{"slices are no mesh",
			object + `<s:slicestack xmlns:s="urn:slices" id="7"><s:slice><s:vertices><s:vertex x="1" y="1"/></s:vertices></s:slice>` +
				`</s:slicestack>`,
			`<item objectid="1"/>`, "[0 0 0 1 0 0 0 2 0]"},
		{"spaces around numbers", strings.NewReplacer(`x="1"`, `x=" 1 "`, `v3="2"`, "v3='\t2\n'", `id="1"`, `id=" 1 "`).
			Replace(object),
			`<item objectid="1 " transform=" 1 0 0 0 1 0 0 0 1 0 0 5 "/>`, "[0 0 5 1 0 5 0 2 5]"},
		{"the core has a prefix", `<c:object xmlns:c="http://schemas.microsoft.com/3dmanufacturing/core/2015/02" id="1">` +
			oneTriangle + `</c:object>`,
			`<item objectid="1"/>`, "[0 0 0 1 0 0 0 2 0]"},
	} {
		m := read3MFBytes(t, model3MF(t, c.resources, c.build))
		var got []float32
		for _, v := range m.Indices {
			p := m.At(v)
			got = append(got, p[:]...)
		}
		if fmt.Sprint(got) != c.want || m.Unit != 1 || m.Format != mesh.ThreeMF {
			t.Errorf("%s: got %v, want %s", c.name, got, c.want)
		}
	}
}

func Test3MFUnits(t *testing.T) {
	for unit, want := range map[string]float64{"micron": 0.001, "mm": 1, "centimeter": 10, "inch": 25.4, "Inch": 25.4,
		"foot": 304.8, "meter": 1000} {
		text := strings.Replace(modelText(`<object id="1">`+oneTriangle+`</object>`, `<item objectid="1"/>`), "millimeter",
			unit, 1)
		if m := read3MFBytes(t, package3MF(t, map[string]string{"3D/3dmodel.model": text})); m.Unit != want {
			t.Errorf("%s: got %v mm, want %v", unit, m.Unit, want)
		}
	}
}

// Test3MFParts decodes a model whose meshes are in separate parts, as slicers write them.
func Test3MFParts(t *testing.T) {
	root := modelText(`<object id="1"><components><component p:path="/3D/Objects/a.model" objectid="1"/>`+
		`<component p:path="Objects/b%20c.model" objectid="1"/></components></object>`,
		`<item objectid="1"/><item objectid="2" p:path="/3d/objects/A.MODEL"/>`)
	part := modelText(`<object id="1">`+oneTriangle+`</object><object id="2"><components><component objectid="1"/></components></object>`,
		`<item objectid="99"/>`)
	b := package3MF(t, map[string]string{
		"3D/3dmodel.model":             root,
		"3D/Objects/a.model":           part,
		"3D/Objects/b c.model":         part,
		"/Windows\\and\\absolute.text": "",
	})
	m := read3MFBytes(t, b)
	if m.Triangles() != 3 {
		t.Errorf("got %d triangles, want 3", m.Triangles())
	}
}

// Test3MFPackages decodes packages that deviate from the Open Packaging Conventions.
func Test3MFPackages(t *testing.T) {
	model := modelText(`<object id="1">`+oneTriangle+`</object>`, `<item objectid="1"/>`)
	for name, parts := range map[string]map[string]string{
		"Windows path separators": {`3D\3dmodel.model`: model,
			`_rels\.rels`: relations(map[string]string{relationshipModel: `\3D\3dmodel.model`})},
		"no relationships": {"3D/3dmodel.model": model},
		"no relationship of the model type": {"3D/3DModel.model": model,
			"_rels/.rels": relations(map[string]string{"urn:other": "/a"})},
	} {
		if m, err := decodetest.Decode(t, Decode, decodetest.ZIP(t, parts)); err != nil || m.Triangles() != 1 {
			t.Errorf("%s: got %v and the error %v, want a triangle", name, m, err)
		}
	}
}

// Test3MFVolumes decodes an object of PrusaSlicer whose volumes are a model, a modifier and another
// model.
func Test3MFVolumes(t *testing.T) {
	object := `<object id="1">` + strings.Replace(oneTriangle, "</triangles>",
		`<triangle v1="1" v2="2" v3="0"/><triangle v1="2" v2="0" v3="1"/></triangles>`, 1) +
		`</object>`
	volume := func(first, last int, kind string) string {
		return fmt.Sprintf(`<volume firstid="%d" lastid="%d"><metadata type="volume" key="volume_type" value=%q/><mesh/></volume>`, first, last, kind)
	}
	for _, c := range []struct{ name, config, want string }{
		{"a modifier", `<config><object id="1"><metadata/>` + volume(0, 0, "ModelPart") + volume(1, 1, "ParameterModifier") +
			volume(2, 2, "ModelPart") +
			`</object></config>`, "[0 0 0 1 0 0 0 2 0 0 2 0 0 0 0 1 0 0]"},
		{"two", `<config><object id="1">` + volume(0, 0, "NegativeVolume") + volume(2, 9, "SupportBlocker") +
			`</object></config>`, "[1 0 0 0 2 0 0 0 0]"},
		{"of another object", `<config><object id="2">` + volume(0, 2, "SupportEnforcer") + `</object></config>`,
			"[0 0 0 1 0 0 0 2 0 1 0 0 0 2 0 0 0 0 0 2 0 0 0 0 1 0 0]"},
		{"damaged", `<config><object id="1">` + volume(0, 2, "SupportEnforcer") + `</config>`,
			"[0 0 0 1 0 0 0 2 0 1 0 0 0 2 0 0 0 0 0 2 0 0 0 0 1 0 0]"},
	} {
		m := read3MFBytes(t, package3MF(t, map[string]string{
			"3D/3dmodel.model": modelText(object, `<item objectid="1"/>`), "Metadata/Slic3r_PE_model.config": c.config,
		}))
		var got []float32
		for _, v := range m.Indices {
			p := m.At(v)
			got = append(got, p[:]...)
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%s: got %v, want %s", c.name, got, c.want)
		}
	}
}

func Test3MFColors(t *testing.T) {
	const groups = `<basematerials id="5"><base name="a" displaycolor="#FF0000"/><base name="b" displaycolor="#00ff0000"/></basematerials>` +
		`<m:colorgroup id="6"><m:color color="#0000FF80"/><m:color color="#FFFFFFFF"/><m:color color="red"/></m:colorgroup>`
	const r, g, b, w = "\xFF\x00\x00\xFF", "\x00\xFF\x00\xFF", "\x00\x00\xFF\x80", "\xFF\xFF\xFF\xFF"
	for _, c := range []struct{ name, object, triangle, want string }{
		{"none", ``, ``, ""},
		{"of the object", `pid="5" pindex="1"`, ``, g + g + g},
		{"of the triangle", `pid="5" pindex="1"`, `p1="0"`, r + r + r},
		{"of another group", `pid="5" pindex="1"`, `pid="6" p1="0"`, b + b + b},
		{"of corners", ``, `pid="6" p1="0" p2="1" p3="0"`, b + w + b},
		{"of corners and another group", `pid="5"`, `p1="0" p2="1" p3="0"`, r + g + r},
		{"of a group without an index", `pid="5" pindex="1"`, `pid="6"`, g + g + g},
		{"of no known group", `pid="5" pindex="1"`, `pid="7" p1="0"`, w + w + w},
		{"beyond the group", `pid="5" pindex="1"`, `p1="2"`, w + w + w},
		{"not hexadecimal", `pid="5" pindex="1"`, `pid="6" p1="2"`, w + w + w},
	} {
		object := `<object id="1" ` + c.object + `>` + strings.Replace(oneTriangle, `<triangle v1`,
			`<triangle `+c.triangle+` v1`, 1) +
			`</object>` +
			`<object id="2" pid="5">` + oneTriangle + `</object>`
		items, want := `<item objectid="1"/><item objectid="2"/>`, c.want+r+r+r
		if c.want == "" {
			items, want = `<item objectid="1"/>`, ""
		}
		m := read3MFBytes(t, model3MF(t, groups+object, items))
		var got []byte
		for _, v := range m.Indices {
			if m.Colors != nil {
				got = append(got, m.Colors[4*v:4*v+4]...)
			}
		}
		if string(got) != want {
			t.Errorf("%s: got %x, want %x", c.name, got, want)
		}
	}
}

func Test3MFColoredChain(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(decodetest.DataFolder(t), "meshes/3mf/3mfsamples_dodeca_chain_loop_color.3mf"))
	if err != nil {
		t.Fatal(err)
	}
	m := read3MFBytes(t, b)
	faces := map[[4]uint8]int{}
	for t := range m.Triangles() {
		a, _, _ := m.Corners(t)
		faces[[4]uint8(m.Colors[4*a:])]++
	}
	colors := 0
	for _, c := range [][4]uint8{{255, 0, 128, 255}, {255, 255, 255, 255}, {128, 128, 255, 255}, {0, 255, 6, 255},
		{128, 64, 0, 255},
		{252, 221, 3, 255}, {0, 255, 255, 255}, {255, 0, 255, 255}, {255, 255, 0, 255}} {
		if faces[c] > 0 {
			colors++
		}
		delete(faces, c)
	}
	if colors < 8 || len(faces) > 0 || m.Vertices() > 2*3040 {
		t.Errorf("got %d of the colors, others at %v, %d vertices", colors, faces, m.Vertices())
	}
}

func Test3MFMalformed(t *testing.T) {
	const object = `<object id="1">` + oneTriangle + `</object>`
	const item = `<item objectid="1"/>`
	sound := modelText(object, item)
	model := func(text string) []byte { return package3MF(t, map[string]string{"3D/3dmodel.model": text}) }
	edited := func(from, to string) []byte {
		if !strings.Contains(sound, from) {
			t.Fatalf("%q is not in the model", from)
		}
		return model(strings.Replace(sound, from, to, 1))
	}
	damaged := model(sound)
	damaged[bytes.Index(damaged, []byte("3D/3dmodel.model"))+40] ^= 0x55
	encrypted := model(sound)
	for i := range len(encrypted) - 10 {
		switch string(encrypted[i : i+4]) {
		case "PK\x01\x02":
			encrypted[i+8] |= 1
		case "PK\x03\x04":
			encrypted[i+6] |= 1
		}
	}
	for _, c := range []struct {
		name    string
		file    []byte
		reason  mesh.Reason
		message string
	}{
		{"no ZIP", []byte("solid"), mesh.Malformed, "directory of the ZIP archive of the 3MF file is damaged"},
		{"cut", model(sound)[:300], mesh.Malformed, "directory of the ZIP"},
		{"damaged", damaged, mesh.Malformed, "is damaged"},
		{"encrypted ZIP", encrypted, mesh.Encrypted, "encrypted"},
		{"encrypted parts", package3MF(t, map[string]string{"3D/3dmodel.model": sound,
			"3D/_rels/3dmodel.model.rels": relations(map[string]string{relationshipEncrypted: "/3D/a.model"})}), mesh.Encrypted,
			"encrypted"},
		{"other ZIP", decodetest.ZIP(t, map[string]string{"a.txt": "a"}), mesh.Malformed, "has no 3D model"},
		{"lost model", package3MF(t, map[string]string{}), mesh.Malformed, `no part "3d/3dmodel.model"`},
		{"name that leads out", package3MF(t, map[string]string{"3D/3dmodel.model": sound, `a\..\..\b`: ""}), mesh.Malformed,
			"leads out"},
		{"model elsewhere", package3MF(t, map[string]string{"a.model": sound, "_rels/.rels": strings.Replace(
			relations(map[string]string{relationshipModel: "/a.model"}), "Id=", `TargetMode="External" Id=`, 1)}),
			mesh.Malformed, "has no 3D model"},
		{"relationship that leads out",
			package3MF(t, map[string]string{"_rels/.rels": relations(map[string]string{relationshipModel: "/%2E%2e/a"})}),
			mesh.Malformed, "leads out"},
		{"path that leads out", model(modelText(object, `<item objectid="1" p:path="/../../a.model"/>`)), mesh.Malformed,
			"leads out"},
		{"path to nothing", model(modelText(object, `<item objectid="1" p:path="/a.model"/>`)), mesh.Malformed,
			`no part "a.model"`},
		{"no items", model(modelText(object, "")), mesh.Empty, "no items"},
		{"no triangles", model(modelText(`<object id="1"><mesh><vertices/></mesh></object>`, item)), mesh.Empty,
			"no triangles"},
		{"no object", model(modelText(object, `<item objectid="2"/>`)), mesh.Malformed, "object 2 "},
		{"two objects", model(modelText(object+object, item)), mesh.Malformed, "second object 1"},
		{"another document", model(`<html/>`), mesh.Malformed, `root element "html"`},
		{"unknown unit", edited("millimeter", "mile"), mesh.Malformed, `unit "mile"`},
		{"coordinate", edited(`x="1"`, `x="1,5"`), mesh.Malformed, `coordinate "1,5"`},
		{"infinite coordinate", edited(`x="1"`, `x="INF"`), mesh.Malformed, `coordinate "INF"`},
		{"far coordinate", edited(`x="1"`, `x="1e19"`), mesh.Malformed, `farther than`},
		{"missing coordinate", edited(`x="1"`, ``), mesh.Malformed, "without x, y or z"},
		{"negative index", edited(`v1="0"`, `v1="-1"`), mesh.Malformed, `v1 "-1"`},
		{"missing index", edited(`v3="2"`, ``), mesh.Malformed, "v3=-1"},
		{"index out of range", edited(`v3="2"`, `v3="3"`), mesh.Malformed, "v3=3, where the mesh has 3 vertices"},
		{"short transform", edited(`objectid="1"`, `objectid="1" transform="1 0 0"`), mesh.Malformed,
			"a transform of 3 numbers where twelve numbers are expected"},
		{"long transform", edited(`objectid="1"`, `objectid="1" transform="1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1"`), mesh.Malformed,
			"a transform of 16 numbers where twelve numbers are expected"},
		{"words in a transform", edited(`objectid="1"`, `objectid="1" transform="1 0 0 x"`), mesh.Malformed,
			`a transform with "x" where twelve numbers are expected`},
		{"infinite transform", edited(`objectid="1"`, `objectid="1" transform="1 0 0 0 1 0 0 0 1 1e300 0 0"`), mesh.Malformed,
			"farther than"},
		{"not a number", edited(`id="1"`, `id="x"`), mesh.Malformed, `id "x"`},
		{"unfinished", model(sound[:len(sound)-10]), mesh.Malformed, "ends"},
		{"text after it", model(sound + "<a/>"), mesh.Malformed, "second root"},
	} {
		_, err := decodetest.Decode(t, Decode, c.file)
		var before = t.Failed()
		decodetest.CheckError(t, err, c.reason, c.message)
		if t.Failed() && !before {
			t.Fatalf("that was: %s", c.name)
		}
	}
}

func Test3MFLimits(t *testing.T) {
	const object = `<object id="1">` + oneTriangle + `</object>`
	const use = `<component objectid="%d"/>`
	deep, empty := object, `<object id="1"><components/></object>`
	for i := 2; i < 12; i++ {
		deep += fmt.Sprintf(`<object id="%d"><components>`+use+`</components></object>`, i, i-1)
	}
	// Instances of empty objects are free: these are 2^60.
	for i := 2; i < 62; i++ {
		empty += fmt.Sprintf(`<object id="%d"><components>`+use+use+`</components></object>`, i, i-1, i-1)
	}
	limits := mesh.Limits{Bytes: 1 << 20, Inflated: 1 << 16, Triangles: 2, Textures: 1 << 20, Depth: 10, Elements: 100}
	many := decodetest.ZIP(t, func() map[string]string {
		files := map[string]string{}
		for i := range 101 {
			files[fmt.Sprint(i)] = ""
		}
		return files
	}())
	for _, c := range []struct {
		name    string
		file    []byte
		reason  mesh.Reason
		message string
	}{
		{"two", model3MF(t, object, strings.Repeat(`<item objectid="1"/>`, 2)), "", ""},
		{"instances", model3MF(t, object, strings.Repeat(`<item objectid="1"/>`, 3)), mesh.TooLarge,
			"shows too many triangles: at most 2 are supported"},
		{"triangles", model3MF(t, strings.Replace(object, `</triangles>`, strings.Repeat(`<triangle v1="0" v2="1" v3="2"/>`,
			2)+`</triangles>`, 1), ""),
			mesh.TooLarge, "too many triangles: at most 2 are supported"},
		{"vertices", model3MF(t, strings.Replace(object, `</vertices>`, strings.Repeat(`<vertex x="0" y="0" z="0"/>`,
			4)+`</vertices>`, 1), ""),
			mesh.TooLarge, "too many vertices: at most 6 are supported"},
		{"depth", model3MF(t, deep, `<item objectid="9"/>`), "", ""},
		{"too deep", model3MF(t, deep, `<item objectid="11"/>`), mesh.TooLarge, "more than 10 deep"},
		{"elements too deep", model3MF(t, strings.Repeat("<a>", 9)+strings.Repeat("</a>", 9), ""), mesh.TooLarge,
			"elements in each other more than 10 deep"},
		{"elements", model3MF(t, object, strings.Repeat(`<item objectid="1"/>`, 100)), mesh.TooLarge,
			"more than 100 objects"},
		{"files", many, mesh.TooLarge, "more than 100 files"},
		{"inflated", model3MF(t, object+strings.Repeat(" ", 1<<16), ""), mesh.TooLarge,
			"too many bytes: at most 65536 are supported"},
	} {
		_, err := Decode(context.Background(), decodetest.Source(c.file), limits, nil)
		switch {
		case c.reason != "":
			decodetest.CheckError(t, err, c.reason, c.message)
		case err != nil:
			t.Errorf("%s: %v", c.name, err)
		}
	}
	// Ten components in each of five assemblies are 100,000 boxes in less than a kilobyte.
	nested := object
	for i := 2; i < 7; i++ {
		nested += fmt.Sprintf(`<object id="%d"><components>`+strings.Repeat(fmt.Sprintf(use, i-1),
			10)+`</components></object>`, i)
	}
	wide := limits
	wide.Triangles, wide.Elements = 1_000_000, 100_000
	_, err := Decode(context.Background(), decodetest.Source(model3MF(t, nested, `<item objectid="6"/>`)), wide, nil)
	decodetest.CheckError(t, err, mesh.TooLarge, "places its objects more than 100000 times")
	if _, err := Decode(context.Background(), decodetest.Source(model3MF(t, nested, `<item objectid="5"/>`)), wide,
		nil); err != nil {
		t.Errorf("10,000 components: %v", err)
	}
	limits.Depth, limits.Elements = 100, 1000
	full := strings.Replace(empty, `<object id="1"><components/></object>`, object, 1)
	for i := 62; i < 92; i++ { // 2^90 triangles overflow 64 bits
		full += fmt.Sprintf(`<object id="%d"><components>`+use+use+`</components></object>`, i, i-1, i-1)
	}
	b := model3MF(t, empty, `<item objectid="61"/>`)
	_, err = Decode(context.Background(), decodetest.Source(b), limits, nil)
	decodetest.CheckError(t, err, mesh.Empty, "no triangles")
	b = model3MF(t, full, `<item objectid="91"/>`)
	_, err = Decode(context.Background(), decodetest.Source(b), limits, nil)
	decodetest.CheckError(t, err, mesh.TooLarge, "shows too many triangles: at most 2 are supported")
}

// Test3MFLies decodes an archive whose directory declares a wrong size of a large part.
func Test3MFLies(t *testing.T) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range map[string]string{"_rels/.rels": rootRelations,
		"3D/3dmodel.model": modelText(strings.Repeat(" ", 1<<20), "")} {
		w, _ := z.Create(name)
		w.Write([]byte(text))
	}
	z.Close()
	file := b.Bytes()
	at := bytes.LastIndex(file, []byte("3D/3dmodel.model")) - 46
	copy(file[at+24:], []byte{9, 0, 0, 0})
	limits := mesh.DefaultLimits
	limits.Inflated = 1 << 16
	_, err := Decode(context.Background(), decodetest.Source(file), limits, nil)
	decodetest.CheckError(t, err, mesh.Malformed, "damaged")
}

// Fuzz3MF mutates the model and its relationships inside an archive, because mutations of
// compressed data rarely survive decompression. FuzzZIP mutates archives.
func Fuzz3MF(f *testing.F) {
	const groups = `<basematerials id="5"><base displaycolor="#FF0000"/></basematerials><m:colorgroup id="6"><m:color color="#0000FF80"/></m:colorgroup>`
	const objects = `<object id="1" pid="5">` + oneTriangle +
		`</object><object id="2"><components><component objectid="1" p:path="/a.model"/></components></object>`
	model := modelText(groups+objects, `<item objectid="2" transform="0 1 0 -1 0 0 0 0 1 10 20 30"/>`)
	f.Add(rootRelations, model, model)
	f.Add(relations(map[string]string{relationshipModel: "/a.model", relationshipEncrypted: "../b"}), "",
		modelText(objects, `<item objectid="1"/>`))
	f.Fuzz(func(t *testing.T, rels, start, other string) {
		decodetest.FuzzOne(t, decodetest.ZIPWith(t, zip.Store, map[string]string{"_rels/.rels": rels,
			"3D/3dmodel.model": start, "a.model": other}), Decode)
	})
}

// FuzzProject mutates a project of a slicer with the colors of its filaments.
func FuzzProject(f *testing.F) {
	const multi = `<m:colorgroup id="6"><m:color color="#0000FF80"/></m:colorgroup><m:multiproperties id="9" pids="6 6"><m:multi pindices="0 0"/></m:multiproperties>`
	painted := strings.Replace(oneTriangle, `<triangle v1`, `<triangle paint_color="88483" v1`, 1)
	f.Add(modelText(multi+`<object id="1" pid="9" pindex="0">`+painted+`</object><object id="2"><components><component objectid="1"/></components></object>`,
		`<item objectid="2"/><item objectid="1" printable="0"/>`), `{"filament_colo\u0075r": ["#FF0000", "#00FF00"]}`,
		`<config><object id="2"><metadata key="extruder" value="1"/><part id="1"><metadata key="extruder" value="2"/></part></object></config>`)
	f.Fuzz(func(t *testing.T, model, filaments, extruders string) {
		decodetest.FuzzOne(t, decodetest.ZIPWith(t, zip.Store, map[string]string{"_rels/.rels": rootRelations,
			"3D/3dmodel.model":                 model,
			"Metadata/project_settings.config": filaments, "Metadata/model_settings.config": extruders}), Decode)
	})
}

func FuzzZIP(f *testing.F) { decodetest.Fuzz(f, "3mf", Decode) }

// Benchmark3MF decodes 500,000 triangles. The throughput counts decompressed bytes.
func Benchmark3MF(b *testing.B) {
	v, f := decodetest.Grid(500, 0, "     <vertex x=\"%.6f\" y=\"%.6f\" z=\"%.6f\" />\n",
		"     <triangle v1=\"%d\" v2=\"%d\" v3=\"%d\" />\n")
	model := modelText(`<object id="1"><mesh><vertices>`+v+`</vertices><triangles>`+f+`</triangles></mesh></object>`,
		`<item objectid="1"/>`)
	decodetest.Benchmark(b, Decode,
		decodetest.ZIP(b, map[string]string{"_rels/.rels": rootRelations, "3D/3dmodel.model": model}), len(model))
}

const rootRelations = `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Target="/3D/3dmodel.model" ` +
	`Id="rel0" Type="http://schemas.microsoft.com/3dmanufacturing/2013/01/3dmodel"/></Relationships>`

// modelText returns a model part.
func modelText(resources, build string) string {
	return `<?xml version="1.0"?><model unit="millimeter" xmlns="http://schemas.microsoft.com/3dmanufacturing/core/2015/02" ` +
		`xmlns:m="http://schemas.microsoft.com/3dmanufacturing/material/2015/02" ` +
		`xmlns:p="http://schemas.microsoft.com/3dmanufacturing/production/2015/06"><resources>` + resources +
		`</resources><build>` + build +
		`</build></model>`
}
