package preview

import (
	"bytes"
	"errors"
	"io"
	"os"
	"testing"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode/decodetest"
)

// derived makes the preview of a file in this process, and returns the names of its parts.
func derived(t *testing.T, subject Subject, file []byte) (parts []string, r Result, err error) {
	t.Helper()
	put := func(part Part, write func(io.Writer) error) error {
		parts = append(parts, part.Name)
		return write(io.Discard)
	}
	r, err = Derive(t.Context(), Source{bytes.NewReader(file), int64(len(file))}, subject, mesh.DefaultLimits, put,
		func(string, float64) {})
	return parts, r, err
}

// TestSlicedProject checks that a sliced 3MF project without meshes is shown by the image of its
// first plate, and that it is no failure if it has none.
func TestSlicedProject(t *testing.T) {
	t.Parallel()
	picture, err := os.ReadFile("../../testdata/meshes/lib3mf_thumbnail.png")
	if err != nil {
		t.Fatal(err)
	}
	const empty = `<model xmlns="http://schemas.microsoft.com/3dmanufacturing/core/2015/02"><resources/><build/></model>`
	for _, c := range []struct {
		name   string
		parts  map[string]string
		want   int // parts
		reason mesh.Reason
	}{
		{"with an image", map[string]string{"3D/3dmodel.model": empty, "Metadata/plate_1.gcode": "G28",
			"Metadata/plate_1.png": string(picture)}, 1, ""},
		{"without a model", map[string]string{"Metadata/plate_1.gcode": "G28", "Metadata/plate_1.png": string(picture)},
			1, ""},
		{"without an image", map[string]string{"3D/3dmodel.model": empty, "Metadata/plate_1.gcode": "G28"}, 0, ""},
		{"with a damaged image, which is ignored", map[string]string{"3D/3dmodel.model": empty,
			"Metadata/plate_1.gcode": "G28", "Metadata/plate_1.png": "\x89PNG"}, 0, ""},
		{"not sliced", map[string]string{"3D/3dmodel.model": empty, "Metadata/plate_1.png": string(picture)}, 0, mesh.Empty},
	} {
		parts, r, err := derived(t, Subject(mesh.ThreeMF), decodetest.ZIP(t, c.parts))
		if len(parts) != c.want || (r.ImageFormat != "") != (c.want > 0) || r.Mesh != nil {
			t.Errorf("%s: got the parts %v and %+v, want %d parts", c.name, parts, r, c.want)
		}
		bad, _ := errors.AsType[*mesh.Error](err)
		if (bad == nil) != (c.reason == "") || bad != nil && bad.Reason != c.reason {
			t.Errorf("%s: got the error %v, want the reason %q", c.name, err, c.reason)
		}
	}
}

// TestGCodeWithoutImage checks that G-code without an image has an empty preview, which is no
// failure.
func TestGCodeWithoutImage(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"G28\n", "GCDE\x01\x00\x00\x00\x00\x00" +
		"\x01\x00\x00\x00\x03\x00\x00\x00\x00\x00G28"} {
		if parts, r, err := derived(t, GCode, []byte(file)); len(parts) > 0 || r.ImageFormat != "" || r.Printing != nil ||
			err != nil {
			t.Errorf("%q: got the parts %v, %+v, %v; want none", file, parts, r, err)
		}
	}
}

// TestDesign checks that files of FreeCAD and Fusion are shown by the image that they contain, and
// that it is no failure if they have none or are damaged.
func TestDesign(t *testing.T) {
	t.Parallel()
	picture, err := os.ReadFile("../../testdata/meshes/lib3mf_thumbnail.png")
	if err != nil {
		t.Fatal(err)
	}
	freeCAD := decodetest.ZIP(t, map[string]string{"Document.xml": "<Document/>",
		"thumbnails/Thumbnail.png": string(picture)})
	for _, c := range []struct {
		name string
		file []byte
		want int // parts
	}{
		{"FreeCAD", freeCAD, 1},
		{"Fusion", decodetest.ZIP(t, map[string]string{"Manifest.dat": "",
			"FusionAssetName[Active]/Previews/small.png": string(picture)}), 1},
		{"without an image",
			decodetest.ZIP(t, map[string]string{"Document.xml": "<Document/>", "other/small.png": string(picture)}), 0},
		{"with a damaged image", decodetest.ZIP(t, map[string]string{"thumbnails/Thumbnail.png": "\x89PNG"}), 0},
		{"truncated", freeCAD[:len(freeCAD)-30], 0},
		{"no archive", []byte("solid"), 0},
		{"empty", nil, 0},
	} {
		parts, r, err := derived(t, Design, c.file)
		if len(parts) != c.want || (r.ImageFormat != "") != (c.want > 0) || err != nil {
			t.Errorf("%s: got the parts %v, %+v and %v, want %d parts", c.name, parts, r, err, c.want)
		}
	}
}
