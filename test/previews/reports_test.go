package previews_test

import (
	"bytes"
	"fmt"
	"image"
	"image/jpeg"
	"math"
	"net/http"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/test/servertest"
)

// reported is what a visitor gets of an uploaded file of testdata/reports.
type reported struct {
	Name, Kind, ContentType, PublicURL string
	Processing                         struct {
		State       string
		Error, Hint *string
	}
	Mesh *struct {
		Triangles int
		Size      servertest.Point
	}
	Thumbnail *struct{ URL string }

	thumbnail image.Image // nil if there is none
	stored    []byte
}

const reportedFields = `{ name kind contentType publicUrl processing { state error hint } mesh { triangles size { x y z } } thumbnail(width: 2000, height: 2000, fit: CONTAIN) { url } }`

// TestReportedFiles uploads the files of testdata/reports and checks the value that the manifest
// expects.
func TestReportedFiles(t *testing.T) {
	cases := map[string]struct {
		sent string // the name, if it is not that of the file
		want func(reported) error
	}{
		"../images/photo.webp": {want: picture(400, 300, [3]int{40, 90, 160}, [3]int{255, 210, 0},
			[3]int{230, 0, 0})},
		"../images/apng.png":            {want: picture(400, 300)},
		"../images/exif6.png":           {want: picture(400, 300)},
		"../images/display_p3.jpg":      {want: picture(300, 200, [3]int{219, 67, 48}, [3]int{0, 185, 77})},
		"../images/gps.jpg":             {want: withoutPlace},
		"../images/photo.heic":          {want: withHint("ATTACHMENT", "HEIC")},
		"../images/photo.avif":          {want: withHint("IMAGE", "AVIF")},
		"48mp.jpg":                      {want: picture(1600, 1200)},
		"drawing.dxf":                   {want: notProcessed("MODEL")},
		"rail.stl":                      {sent: "12%22 rail %22v2%22.stl", want: named(`12" rail "v2".stl`)},
		"3mf_bambu_plates.3mf":          {want: triangles(24, 317, 20)},
		"3mf_bambu_extruder_colour.3mf": {want: hues("red", "green")},
		"3mf_sliced_only.gcode.3mf":     {want: embedded},
		"3mf_boolean.3mf":               {want: namesBooleans},
		"obj_tabs.obj":                  {want: triangles(12, 10, 20)},
		"obj_group_ends_backslash.obj":  {want: triangles(12, 10, 20)},
	}
	servertest.CheckReports(t, cases)
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		ids, thing := map[string]int64{}, ada.Thing("Reports")
		var all []int64
		for file, c := range cases {
			content, err := os.ReadFile(servertest.Report(file))
			if file == "48mp.jpg" {
				content, err = photo48(), nil
			}
			if err != nil {
				t.Fatal(err)
			}
			name := c.sent
			if name == "" {
				name = path.Base(file)
			}
			ids[file] = ada.Upload(name, content)
			all = append(all, ids[file])
		}
		ada.Finalize("thing", thing, all...).Want(t, http.StatusOK)
		ada.Publish(thing).Want(t, http.StatusOK)
		for file, c := range cases {
			servertest.Settled(t, ada, ids[file])
			var got struct{ File reported }
			ada.Query(`query ($id: ID!) { file(id: $id) `+reportedFields+` }`,
				map[string]any{"id": servertest.ID(ids[file])}, &got)
			f := got.File
			f.stored = servertest.Fetch(t, s, f.PublicURL)
			if f.Thumbnail != nil {
				var err error
				if f.thumbnail, _, err = image.Decode(bytes.NewReader(servertest.Fetch(t, s, f.Thumbnail.URL))); err != nil {
					t.Errorf("%s: the thumbnail: %v", file, err)
				}
			}
			if err := c.want(f); err != nil {
				e := "no error"
				if f.Processing.Error != nil {
					e = *f.Processing.Error
				}
				t.Errorf("%s: %v; it is %s, %s, %s, mesh %+v, %s", file, err, f.Kind, f.ContentType, f.Processing.State, f.Mesh, e)
			}
		}
	}, servertest.Derives)
}

// photo48 returns a JPEG with as many pixels as cameras of phones make.
func photo48() []byte {
	img := image.NewGray(image.Rect(0, 0, 8064, 6048))
	for i := range img.Pix {
		img.Pix[i] = uint8(i >> 16)
	}
	var b bytes.Buffer
	_ = jpeg.Encode(&b, img, &jpeg.Options{Quality: 50})
	return b.Bytes()
}

// picture expects an image with a thumbnail that has a size and contains colors.
func picture(width, height int, colors ...[3]int) func(reported) error {
	return func(f reported) error {
		if f.Kind != "IMAGE" || f.thumbnail == nil {
			return fmt.Errorf("want an image with a thumbnail")
		}
		if got := f.thumbnail.Bounds().Size(); got != image.Pt(width, height) {
			return fmt.Errorf("the thumbnail has the size %v, want %d×%d", got, width, height)
		}
		for _, c := range colors {
			if share := shareOf(f.thumbnail, func(r, g, b int) bool {
				return near(r, c[0]) && near(g, c[1]) &&
					near(b, c[2])
			}); share < 0.01 {
				return fmt.Errorf("%.3f of the thumbnail is %v", share, c)
			}
		}
		return nil
	}
}

func near(a, b int) bool { return max(a-b, b-a) <= 6 }

// shareOf returns the share of the pixels of an image for which a function returns true.
func shareOf(img image.Image, is func(r, g, b int) bool) float64 {
	n, b := 0, img.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			if r, g, b, _ := img.At(x, y).RGBA(); is(int(r>>8), int(g>>8), int(b>>8)) {
				n++
			}
		}
	}
	return float64(n) / float64(b.Dx()*b.Dy())
}

func withoutPlace(f reported) error {
	if err := picture(400, 300)(f); err != nil {
		return err
	}
	for _, secret := range []string{"Exif", "iPhone", "ABC123"} {
		if bytes.Contains(f.stored, []byte(secret)) {
			return fmt.Errorf("the stored bytes contain %q", secret)
		}
	}
	return nil
}

func withHint(kind, about string) func(reported) error {
	return func(f reported) error {
		if p := f.Processing; f.Kind != kind || p.State != "NOT_APPLICABLE" || p.Hint == nil ||
			!strings.Contains(*p.Hint, about) {
			return fmt.Errorf("want %s and a hint about %s", kind, about)
		}
		return nil
	}
}

func notProcessed(kind string) func(reported) error {
	return func(f reported) error {
		if p := f.Processing; f.Kind != kind || p.State != "NOT_APPLICABLE" || p.Error != nil || p.Hint != nil {
			return fmt.Errorf("want %s without a preview", kind)
		}
		return nil
	}
}

func named(name string) func(reported) error {
	return func(f reported) error {
		if f.Name != name {
			return fmt.Errorf("the name is %q, want %q", f.Name, name)
		}
		return nil
	}
}

// triangles expects a model with a number of triangles and a size in x and y.
func triangles(n int, x, y float64) func(reported) error {
	return func(f reported) error {
		m := f.Mesh
		if f.Kind != "MODEL" || !strings.HasPrefix(f.ContentType, "model/") || m == nil || m.Triangles != n ||
			math.Abs(m.Size.X-x) > 0.01 || math.Abs(m.Size.Y-y) > 0.01 || f.thumbnail == nil {
			return fmt.Errorf("want %d triangles in %g × %g and a rendering", n, x, y)
		}
		return nil
	}
}

// hues expects that parts of the rendering have certain hues.
func hues(names ...string) func(reported) error {
	is := map[string]func(r, g, b int) bool{
		"red":   func(r, g, b int) bool { return r > 2*g && r > 2*b },
		"green": func(r, g, b int) bool { return g > 2*r && g > 2*b },
	}
	return func(f reported) error {
		for _, name := range names {
			if f.thumbnail == nil || shareOf(f.thumbnail, is[name]) < 0.02 {
				return fmt.Errorf("the rendering is not %s", name)
			}
		}
		return nil
	}
}

// embedded expects the picture of the plate instead of a rendering.
func embedded(f reported) error {
	if f.Kind != "MODEL" || f.Processing.State != "DONE" || f.thumbnail == nil || f.Mesh != nil {
		return fmt.Errorf("want the embedded picture")
	}
	return nil
}

func namesBooleans(f reported) error {
	if f.Mesh == nil && (f.Processing.Error == nil || !strings.Contains(*f.Processing.Error, "boolean operations")) {
		return fmt.Errorf("want an error about boolean operations")
	}
	return nil
}
