package preview

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode/decodetest"
	"github.com/meshyard/meshyard/internal/project"
)

// TestPlatePicture checks that the preview of a project has the image of its first plate and the
// measurements of the mesh, and that other 3MF files and projects with damaged images are rendered.
func TestPlatePicture(t *testing.T) {
	t.Parallel()
	picture, err := os.ReadFile("../../testdata/meshes/lib3mf_thumbnail.png")
	if err != nil {
		t.Fatal(err)
	}
	const model = `<model xmlns="http://schemas.microsoft.com/3dmanufacturing/core/2015/02"><resources><object id="1"><mesh>` +
		`<vertices><vertex x="0" y="0" z="0"/><vertex x="1" y="0" z="0"/><vertex x="0" y="1" z="0"/></vertices>` +
		`<triangles><triangle v1="0" v2="1" v3="2"/></triangles></mesh></object></resources><build><item objectid="1"/></build></model>`
	const plates = `<config><plate><metadata key="plater_id" value="1"/></plate></config>`
	for _, c := range []struct {
		name     string
		parts    map[string]string
		rendered bool
		plates   int
	}{
		{"a project", map[string]string{"Metadata/model_settings.config": plates, "Metadata/plate_1.png": string(picture)},
			false, 1},
		{"with a damaged image", map[string]string{"Metadata/model_settings.config": plates,
			"Metadata/plate_1.png": "\x89PNG"}, true, 1},
		{"without plates", map[string]string{"Metadata/thumbnail.png": string(picture)}, true, 0},
	} {
		c.parts["3D/3dmodel.model"] = model
		_, r, err := derived(t, Subject(mesh.ThreeMF), decodetest.ZIP(t, c.parts))
		if err != nil || r.Mesh == nil || !r.GLB {
			t.Fatalf("%s: got %+v, %v", c.name, r, err)
		}
		if rendered := r.Width == width && r.Height == height; rendered != c.rendered {
			t.Errorf("%s: the image has %d×%d pixels, rendered: %t, want %t", c.name, r.Width, r.Height, rendered, c.rendered)
		}
		if got := r.Printing; (got != nil) != (c.plates > 0) || got != nil && len(got.Project.Plates) != c.plates {
			t.Errorf("%s: got %+v, want %d plates", c.name, got, c.plates)
		}
	}
}

// TestBounded checks that the result of a hostile project fits into a frame.
func TestBounded(t *testing.T) {
	t.Parallel()
	var facts project.Facts
	for i := range 100 {
		plate := project.Plate{Index: i + 1, Name: strings.Repeat("<", 100)}
		for range 500 {
			plate.Objects = append(plate.Objects, strings.Repeat("<", 100))
		}
		facts.Plates = append(facts.Plates, plate)
		facts.Objects = append(facts.Objects, project.Object{Name: fmt.Sprint(i), Parts: make([]project.Part, 100)})
	}
	p := (&Printing{Project: &facts}).bounded()
	text, err := json.Marshal(p)
	if p == nil || err != nil || len(text) > maxPrinting || len(p.Project.Plates) != 20 && len(p.Project.Plates) != 100 {
		t.Errorf("got %d bytes, %v", len(text), err)
	}
}
