package previews_test

import (
	"math"
	"os"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/internal/preview/cad"
	"github.com/meshyard/meshyard/test/servertest"
)

// gmsh is the converter that docs/cad.md describes.
const gmsh = "gmsh {input} -2 -clcurv 30 -format stl -bin -o {output.stl}"

func cadFile(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile("testdata/cad/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// TestCADWithoutConverter checks that CAD files have no preview by default, which is said to the
// owner without a notification.
func TestCADWithoutConverter(t *testing.T) {
	servertest.Concurrent(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		thing := ada.Thing("Part")
		id := ada.Upload("part.step", cadFile(t, "part.step"))
		ada.Finalize("thing", thing, id).Want(t, 200)
		f := servertest.Settled(t, ada, id)
		var r struct {
			File struct{ Processing struct{ Hint, Reason string } }
			Me   struct{ Notifications struct{ TotalCount int } }
		}
		ada.Query(`query ($id: ID!) { file(id: $id) { processing { hint reason } } me { notifications { totalCount } } }`,
			map[string]any{"id": servertest.ID(id)}, &r)
		if f.Processing.State != "NOT_APPLICABLE" || !strings.Contains(r.File.Processing.Hint,
			"STEP files are not supported here") || r.File.Processing.Reason != "NO_CONVERTER" ||
			r.Me.Notifications.TotalCount != 0 {
			t.Errorf("got the state %s, the hint %q and %d notifications, want a hint only", f.Processing.State,
				r.File.Processing.Hint, r.Me.Notifications.TotalCount)
		}
	}, servertest.Derives)
}

// TestCADWithGmsh checks that STEP and BREP files have an image, models and mesh facts with gmsh,
// and that a damaged file has a reason.
func TestCADWithGmsh(t *testing.T) {
	if c, err := cad.Parse(gmsh); err != nil {
		t.Fatal(err)
	} else if err := c.Check(); err != nil { // gmsh is missing, or the kernel has no Landlock
		servertest.Refused(t, servertest.Gmsh, err)
	}
	servertest.Concurrent(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		thing := ada.Thing("Part")
		for _, name := range []string{"part.step", "part.brep"} {
			id := ada.Upload(name, cadFile(t, name))
			ada.Finalize("thing", thing, id).Want(t, 200)
			f := servertest.Settled(t, ada, id)
			if f.Processing.State != "DONE" || f.Mesh == nil || f.Thumbnail == nil || f.ThreejsURL == nil || f.GlbURL == nil {
				t.Fatalf("%s: got %+v, want an image, models and a mesh", name, f)
			}
			if f.Mesh.Size != (servertest.Point{X: 20, Y: 10, Z: 5}) || !f.Mesh.Watertight || f.Mesh.Volume == nil ||
				math.Abs(*f.Mesh.Volume-858.6) > 5 {
				t.Errorf("%s: got the mesh %+v, want a watertight one of 20 × 10 × 5 mm and 858.6 mm³", name, f.Mesh)
			}
			if content := servertest.Fetch(t, s, *f.GlbURL); !strings.HasPrefix(string(content), "glTF") {
				t.Errorf("%s: the GLB is not one", name)
			}
		}
		id := ada.Upload("damaged.step", cadFile(t, "part.step")[:9000])
		ada.Finalize("thing", thing, id).Want(t, 200)
		if f := servertest.Settled(t, ada, id); f.Processing.State != "FAILED" || f.Processing.Attempts != 1 ||
			!strings.Contains(*f.Processing.Error, "could not read this STEP file") {
			t.Errorf("a damaged file: got %+v, want a reason at the first attempt", f.Processing)
		}
	}, servertest.Derives, func(s *config.Settings) { s.CADConverter = gmsh })
}
