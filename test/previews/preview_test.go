package previews_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	_ "image/png"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/meshyard/meshyard/internal/bucket"
	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/models/previews"
	"github.com/meshyard/meshyard/test/servertest"
)

// TestPreviewOfModel checks that a finalized model gets a rendering, three.js JSON, GLB and
// measurements, which both APIs return. Before that, it must have a default image.
func TestPreviewOfModel(t *testing.T) {
	servertest.Concurrent(t, func(t *testing.T, s *servertest.Server) {
		ada, nobody := s.User("ada"), s.Client("")
		thing := ada.Thing("Donut")
		id := ada.Upload("HalfDonut.stl", servertest.Mesh(t, "numpystl_HalfDonut_bin.stl"))
		var before struct {
			Thumbnail  string
			ThreejsURL string `json:"threejs_url"`
		}
		ada.Get(fmt.Sprint("/files/", id)).Want(t, 200, &before)
		if !strings.HasSuffix(before.Thumbnail, "/renders/default/model.png") || before.ThreejsURL != "" {
			t.Errorf("before it is finalized: %+v", before)
		}
		ada.Finalize("thing", thing, id).Want(t, 200)
		f := servertest.Settled(t, ada, id)
		if f.Processing.State != "DONE" || f.Processing.Progress != 1 || f.Mesh == nil || f.Thumbnail == nil ||
			f.ThreejsURL == nil || f.GlbURL == nil {
			t.Fatalf("got %+v", f)
		}
		if m := f.Mesh; m.Format != "STL" || m.Triangles != 288 || m.Max != (servertest.Point{X: 3, Y: 0.5, Z: 3}) ||
			m.Min != (servertest.Point{}) || m.Decimated || m.Area <= 0 || m.Fingerprint == "" {
			t.Errorf("the mesh is %+v", m)
		}

		// The renditions of a draft need the signed URL.
		plain, _, _ := strings.Cut(f.Thumbnail.URL, "?")
		nobody.Get(plain).Want(t, 403)
		picture := nobody.Get(f.Thumbnail.URL)
		if img, kind, err := image.Decode(bytes.NewReader(picture.Bytes)); err != nil || kind != "png" || img.Bounds().
			Dx() != f.Thumbnail.Width || img.Bounds().Dy() != f.Thumbnail.Height {
			t.Errorf("the rendering is %s, %v, want %d×%d", kind, err, f.Thumbnail.Width, f.Thumbnail.Height)
		}
		ada.Publish(thing).Want(t, 200)
		var scaled struct {
			File struct {
				Thumbnail struct {
					URL           string
					Width, Height int
				}
			}
		}
		for format, decoded := range map[string]string{"JPEG": "jpeg", "PNG": "png"} {
			ada.Query(`query ($id: ID!, $format: ImageFormat) { file(id: $id) { thumbnail(width: 320, height: 240, format: $format) { url width height } } }`,
				servertest.Object{"id": servertest.ID(id), "format": format}, &scaled)
			response := nobody.Get(scaled.File.Thumbnail.URL).Want(t, 200)
			size, kind, err := image.DecodeConfig(bytes.NewReader(response.Bytes))
			if err != nil || kind != decoded || response.Header.Get("Content-Type") != "image/"+decoded || size.Width != 340 ||
				size.Height != 255 || scaled.File.Thumbnail.Width != 340 {
				t.Errorf("%s: the thumbnail is %s of %d×%d (%v), %+v, want 340×255", format, kind, size.Width, size.Height, err,
					scaled)
			}
		}
		if r := ada.GraphQL(`query ($id: ID!) { file(id: $id) { thumbnail(width: 0) { url } } }`,
			servertest.Object{"id": servertest.ID(id)}); r.Code() != "BAD_USER_INPUT" {
			t.Errorf("a width of 0: %+v", r.Errors)
		}
		f = servertest.Settled(t, ada, id)
		for _, url := range []string{f.Thumbnail.URL, *f.ThreejsURL, *f.GlbURL} {
			response := nobody.Get(url)
			response.Want(t, 200)
			if got := response.Header.Get("Cache-Control"); got != "public, max-age=3600, must-revalidate" ||
				strings.Contains(url, "?") {
				t.Errorf("%s: Cache-Control %q", url, got)
			}
			again := nobody.Request(http.MethodGet, url, nil)
			again.Header.Set("If-None-Match", response.Header.Get("ETag"))
			nobody.Send(again).Want(t, 304)
			nobody.Get(strings.Replace(url, "-stl-", "-stl-9", 1)).Want(t, 404)
		}
		var object struct {
			Geometries []struct {
				Data struct {
					Attributes struct{ Position struct{ Array []float64 } }
				}
			}
		}
		nobody.Get(*f.ThreejsURL).Want(t, 200, &object)
		if len(object.Geometries) != 1 || len(object.Geometries[0].Data.Attributes.Position.Array) < 288 {
			t.Errorf("the three.js JSON holds %d geometries", len(object.Geometries))
		}

		var file struct {
			Thumbnail    string
			ThreejsURL   string `json:"threejs_url"`
			DefaultImage struct {
				Sizes []struct{ Type, Size, URL string }
			} `json:"default_image"`
		}
		ada.Get(fmt.Sprint("/files/", id)).Want(t, 200, &file)
		if file.ThreejsURL != *f.ThreejsURL || len(file.DefaultImage.Sizes) != 15 {
			t.Fatalf("REST shows %+v", file)
		}
		for _, size := range file.DefaultImage.Sizes {
			response := nobody.Get(size.URL)
			response.Want(t, 200)
			if img, _, err := image.Decode(bytes.NewReader(response.Bytes)); err != nil || img.Bounds().Dx() < 10 {
				t.Errorf("%s %s: %v", size.Type, size.Size, err)
			}
		}
		var listed []struct{ Thumbnail string }
		ada.Get("/newest").Want(t, 200, &listed)
		if len(listed) != 1 || listed[0].Thumbnail != file.Thumbnail || !strings.Contains(file.Thumbnail, "thumb_large") {
			t.Errorf("a thing without images is listed with %+v, want the rendering %s", listed, file.Thumbnail)
		}
	}, servertest.Derives)
}

// TestPreviewWithTextures checks that the GLB of a model with textures has them, and that the state
// of the viewer says so.
func TestPreviewWithTextures(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		thing := ada.Thing("Painted")
		textured, plain := ada.Upload("painted.glb", servertest.TexturedGLB(t)),
			ada.Upload("donut.stl", servertest.Mesh(t, "numpystl_HalfDonut_bin.stl"))
		ada.Finalize("thing", thing, textured, plain).Want(t, 200)
		ada.Publish(thing).Want(t, 200)
		for id, want := range map[int64]bool{textured: true, plain: false} {
			f := servertest.Settled(t, ada, id)
			if f.GlbURL == nil {
				t.Fatalf("got %+v", f)
			}
			var state struct{ Textured bool }
			ada.Get(fmt.Sprintf("/view/%d/state", id)).Want(t, 200, &state)
			if written := bytes.Contains(ada.Get(*f.GlbURL).Bytes, []byte("baseColorTexture")); state.Textured != want ||
				written != want {
				t.Errorf("file %d: the viewer has the state textured: %v, the GLB has textures: %v, want %v", id, state.Textured,
					written, want)
			}
		}
	}, servertest.Derives)
}

// TestPreviewThatFails checks that a file whose preview fails has an error message, and that its
// content is still available.
func TestPreviewThatFails(t *testing.T) {
	servertest.Concurrent(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		thing := ada.Thing("Not a mesh")
		bad, none := ada.Upload("page.stl", servertest.Mesh(t, "html_named.stl")),
			ada.Upload("a.pdf", servertest.Mesh(t, "own_assembly.pdf"))
		ada.Finalize("thing", thing, bad, none).Want(t, 200)
		f := servertest.Settled(t, ada, bad)
		if f.Processing.State != "FAILED" || f.Processing.Error == nil || !strings.Contains(*f.Processing.Error, "STL") ||
			f.Thumbnail != nil || f.Mesh != nil || f.ThreejsURL != nil {
			t.Errorf("got %+v", f)
		}
		if f := servertest.Settled(t, ada, none); f.Processing.State != "NOT_APPLICABLE" {
			t.Errorf("of a PDF: %+v", f)
		}
		var file struct {
			DirectURL *string `json:"direct_url"`
			Thumbnail string
		}
		ada.Get(fmt.Sprint("/files/", bad)).Want(t, 200, &file)
		if got := ada.Get(*file.DirectURL); !bytes.Equal(got.Bytes, servertest.Mesh(t, "html_named.stl")) ||
			!strings.HasSuffix(file.Thumbnail, "/renders/default/model.png") {
			t.Errorf("%d bytes, %+v", len(got.Bytes), file)
		}
	}, servertest.Derives)
}

// TestPreviewIsShared checks that content that several files share is processed once, that files
// with the same shape are found under other names and in other formats, and that unused renditions
// are collected.
func TestPreviewIsShared(t *testing.T) {
	servertest.Concurrent(t, func(t *testing.T, s *servertest.Server) {
		ada, bob := s.User("ada"), s.User("bob")
		binary, ascii := servertest.Mesh(t, "hschendel_simple_bin.stl"), servertest.Mesh(t, "hschendel_simple_ascii.stl")
		mine, theirs := ada.Thing("Mine"), bob.Thing("Theirs")
		first, second, third := ada.Upload("one.stl", binary), bob.Upload("two.stl", binary), bob.Upload("three.stl", ascii)
		ada.Finalize("thing", mine, first).Want(t, 200)
		bob.Finalize("thing", theirs, second, third).Want(t, 200)
		a := servertest.Settled(t, ada, first)
		servertest.Settled(t, bob, second)
		servertest.Settled(t, bob, third)
		if n := len(servertest.RowsOf(t, s, "SELECT id FROM previews")); n != 2 {
			t.Errorf("two contents have %d previews", n)
		}
		if a = servertest.Settled(t, ada, first); a.Mesh == nil || a.Mesh.Duplicates.TotalCount != 0 {
			t.Fatalf("another user's draft is revealed: %+v", a)
		}
		bob.Publish(theirs).Want(t, 200)
		if a = servertest.Settled(t, ada, first); a.Mesh.Duplicates.TotalCount != 2 || len(a.Mesh.Duplicates.Nodes) != 2 ||
			a.Mesh.Duplicates.Nodes[0].Name != "three.stl" {
			t.Errorf("of the same shape are %+v", a.Mesh.Duplicates)
		}
		bob.Do(http.MethodDelete, fmt.Sprint("/things/", theirs), nil).Want(t, 200)
		if _, err := s.Store.Maintenance.CollectGarbage(t.Context(), 0, false); err != nil {
			t.Fatal(err)
		}
		if n := len(servertest.RowsOf(t, s, "SELECT id FROM previews")); n != 1 {
			t.Errorf("%d previews are left of one content", n)
		}
		servertest.SoundCatalogue(t, s)
		if a = servertest.Settled(t, ada, first); a.Thumbnail == nil {
			t.Error("the rendering is gone with another's file")
		}
		ada.Get(a.Thumbnail.URL).Want(t, 200)
	}, servertest.Derives)
}

// TestPreviewOfPoisonedFile checks that processing is tried again after its process died, and fails
// after three attempts.
func TestPreviewOfPoisonedFile(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		thing := ada.Thing("Poison")
		id := ada.Upload("a.stl", servertest.Mesh(t, "hschendel_simple_bin.stl"))
		ada.Finalize("thing", thing, id).Want(t, 200)
		db := servertest.OpenDB(t, s).SQL()
		// died sets the state that a process leaves which was killed some time ago.
		died := func() {
			if _, err := db.Exec("UPDATE previews SET state = 'running', beat_at = $1", time.Now().UTC().Add(-time.Hour).
				Format("2006-01-02 15:04:05.000000-07:00")); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := db.Exec("UPDATE previews SET attempts = 2"); err != nil {
			t.Fatal(err)
		}
		died()
		if _, err := db.Exec("UPDATE previews SET attempts = 3"); err != nil {
			t.Fatal(err)
		}
		if made, err := s.Store.Previews.GeneratePreview(t.Context()); !made || err != nil {
			t.Fatal(made, err)
		}
		if f := servertest.Settled(t, ada, id); f.Processing.State != "FAILED" || !strings.Contains(*f.Processing.Error,
			"three times") {
			t.Errorf("got %+v", f.Processing)
		}
		if n, err := s.Store.Previews.SchedulePreviews(t.Context(), previews.AgainFailed); n != 1 || err != nil {
			t.Fatalf("%d are wanted again, %v", n, err)
		}
		if made, err := s.Store.Previews.GeneratePreview(t.Context()); !made || err != nil {
			t.Fatal(made, err)
		}
		if f := servertest.Settled(t, ada, id); f.Processing.State != "DONE" || f.Processing.Attempts != 1 {
			t.Errorf("got %+v", f.Processing)
		}
	})
}

// TestPreviewsAreTheSame checks that the same content gives the same renditions, on both engines
// and for all owners.
func TestPreviewsAreTheSame(t *testing.T) {
	servertest.Sequential(t)
	t.Parallel()
	var all []map[string]string
	for i, engine := range []string{"sqlite", "postgres"} {
		s := servertest.Start(t, engine, func(s *config.Settings) { s.PreviewWorkers = 1 + i })
		ada := s.User("ada")
		thing := ada.Thing("All")
		var ids []int64
		for _, name := range []string{"numpystl_HalfDonut_bin.stl", "trimesh_polygonfaces.obj", "3mfsamples_box.3mf",
			"khronos_BoxInterleaved.glb", "lib3mf_thumbnail.png"} {
			ids = append(ids, ada.Upload(name, servertest.Mesh(t, name)))
		}
		ada.Finalize("thing", thing, ids...).Want(t, 200)
		for _, id := range ids {
			if f := servertest.Settled(t, ada, id); f.Processing.State != "DONE" {
				t.Fatalf("%s: %+v", engine, f.Processing)
			}
		}
		parts := make(map[string]string)
		dir := strings.TrimPrefix(s.Settings.BucketURL, "file://")
		found, err := filepath.Glob(filepath.Join(dir, bucket.DerivedPrefix, "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range found {
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			parts[filepath.Base(path)] = string(b)
		}
		all = append(all, parts)
	}
	if len(all[0]) < 10 || len(all[0]) != len(all[1]) {
		t.Errorf("%d parts on one, %d on the other", len(all[0]), len(all[1]))
	}
	for name, b := range all[0] {
		if all[1][name] != b {
			t.Errorf("%s differs: %d and %d bytes", name, len(b), len(all[1][name]))
		}
	}
}

// TestPreviewsOfRealFiles checks that each real mesh has the number of triangles and the bounding
// box that its manifest specifies, and that each malformed one has an error message.
func TestPreviewsOfRealFiles(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		thing := ada.Thing("Real")
		ids := make(map[int64]string)
		for _, path := range servertest.Meshes(t) {
			// Previews do not depend on the database, so the large collection is used on one engine only.
			if strings.HasPrefix(s.Settings.DatabaseURL, "postgres") && strings.Contains(path, "/shared/data/") {
				continue
			}
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if len(b) == 0 {
				continue // empty files are rejected by the upload
			}
			id := ada.Upload(filepath.Base(path), b)
			ada.Finalize("thing", thing, id).Want(t, 200)
			ids[id] = path
		}
		for id, path := range ids {
			f := servertest.Settled(t, ada, id)
			switch f.Processing.State {
			case "DONE":
				if f.Thumbnail == nil || f.Mesh != nil && (f.ThreejsURL == nil || f.GlbURL == nil || math.IsNaN(f.Mesh.Area)) {
					t.Errorf("%s: %+v", path, f)
				}
				if f.ThreejsURL != nil && !json.Valid(ada.Get(*f.ThreejsURL).Bytes) {
					t.Errorf("%s: the three.js JSON is none", path)
				}
			case "FAILED":
				if f.Processing.Error == nil || len(*f.Processing.Error) < 20 || f.Processing.Attempts != 1 {
					t.Errorf("%s: %+v", path, f.Processing)
				}
				if strings.Contains(path, "/data/meshes/") {
					t.Logf("%s: %s", filepath.Base(path), *f.Processing.Error)
				}
			case "NOT_APPLICABLE":
			default:
				t.Errorf("%s: %+v", path, f.Processing)
			}
		}
		servertest.SoundCatalogue(t, s)
	}, servertest.Derives, func(s *config.Settings) { s.UploadLimit = 64 << 20 })
}
