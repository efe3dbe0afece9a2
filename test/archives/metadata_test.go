package archives_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/archive"
	archives "github.com/meshyard/meshyard/models/archive"
	"github.com/meshyard/meshyard/test/servertest"
)

// imageFile reads a test image.
func imageFile(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile("../../testdata/images/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestImagesHaveNoMetadata uploads a photo with a place and a serial number in each way, and checks
// that nobody gets them: not from any URL of the image, the ZIP file of the thing, or an archive.
func TestImagesHaveNoMetadata(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		photo := imageFile(t, "gps.jpg")
		clean := func(from string, b []byte) {
			t.Helper()
			if len(b) < 1000 || bytes.Contains(b, []byte("ABC123")) || bytes.Contains(b, []byte("iPhone")) ||
				bytes.Contains(b, []byte("Exif")) {
				t.Errorf("%s: %d bytes with metadata", from, len(b))
			}
		}
		thing := ada.Thing("Vase")
		var uploaded struct {
			UploadFile struct{ File struct{ ID, Kind string } }
		}
		r := ada.GraphQLUpload(`mutation ($f: Upload!) { uploadFile(input: {file: $f}) { file { id kind } } }`,
			map[string]any{"f": nil}, "f", "graphql.jpg", photo)
		if err := json.Unmarshal(r.Data, &uploaded); err != nil || uploaded.UploadFile.File.Kind != "IMAGE" {
			t.Fatalf("got %+v, %v", r, err)
		}
		form := servertest.Stage(t, ada, fmt.Sprintf("/things/%d/files", thing), "form.jpg")
		form.Post(ada, photo).Want(t, 200)
		ada.Do("POST", form.Fields["success_action_redirect"], nil).Want(t, 200)
		ada.Finalize("thing", thing, ada.Upload("rest.jpg", photo),
			ada.Upload("cube.stl", servertest.Mesh(t, "hschendel_simple_bin.stl"))).Want(t, 200)
		ada.Query(`mutation ($in: FinalizeFilesInput!) { finalizeFiles(input: $in) { files { id } } }`,
			map[string]any{"in": map[string]any{"target": map[string]any{"type": "THING", "id": fmt.Sprint(thing)},
				"files": []any{map[string]any{"id": uploaded.UploadFile.File.ID}}}}, new(any))
		ada.Publish(thing).Want(t, 200)
		avatar := servertest.PostForm(t, ada, "/users/me/avatar-image", "me.jpg", photo)
		avatar.Want(t, 200)

		var found struct {
			Thing struct {
				Files []struct {
					ID, Name, Kind, PublicURL string
					DirectURL                 *string
					Sha256                    string
				}
				Images []struct{ URL string }
			}
			User struct{ AvatarURL string }
		}
		ada.Query(`query ($id: ID!) { thing(id: $id) { files { id name kind publicUrl directUrl sha256 } images { url } } user(username: "ada") { avatarUrl } }`,
			map[string]any{"id": fmt.Sprint(thing)}, &found)
		if len(found.Thing.Files) != 4 || len(found.Thing.Images) < 3 {
			t.Fatalf("got %+v", found.Thing)
		}
		for _, f := range found.Thing.Files {
			if f.Kind == "IMAGE" {
				clean(f.Name, servertest.Fetch(t, s, f.PublicURL))
				clean(f.Name, servertest.Fetch(t, s, *f.DirectURL))
			}
		}
		for _, image := range found.Thing.Images {
			clean(image.URL, servertest.Fetch(t, s, image.URL))
		}
		if b := servertest.Fetch(t, s, found.User.AvatarURL); bytes.Contains(b, []byte("ABC123")) || len(b) == 0 {
			t.Errorf("the avatar has %d bytes with metadata", len(b))
		}
		packed := servertest.Fetch(t, s, fmt.Sprintf("%s/thing:%d/zip", s.URL, thing))
		z, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
		if err != nil {
			t.Fatal(err)
		}
		pictures := 0
		for _, entry := range z.File {
			if !strings.HasSuffix(entry.Name, ".jpg") {
				continue
			}
			pictures++
			r := servertest.Must(entry.Open())(t)
			clean(entry.Name, servertest.Must(io.ReadAll(r))(t))
		}
		if pictures == 0 {
			t.Error("the ZIP file has no pictures")
		}

		// An archive has the stored bytes, and its import keeps them.
		file := filepath.Join(t.TempDir(), "all.zip")
		export(t, s, file, archives.Export{}, true)
		to := otherEngine(t)
		if _, err := to.Store.Archive.Admin().ImportArchive(context.Background(), servertest.Must(archive.Open(file))(t),
			archives.Import{}); err != nil {
			t.Fatal(err)
		}
		var there struct {
			Thing struct{ Files []struct{ Sha256 string } }
		}
		to.Client("").Query(`query ($id: ID!) { thing(id: $id) { files { sha256 } } }`,
			map[string]any{"id": fmt.Sprint(thing)}, &there)
		for i, f := range there.Thing.Files {
			if f.Sha256 != found.Thing.Files[i].Sha256 {
				t.Errorf("file %d has the SHA-256 %s, and %s after the import", i, found.Thing.Files[i].Sha256, f.Sha256)
			}
		}
	})
}

// TestImagesWithoutPreview checks what owners see of images that cannot be decoded: a hint, no
// failure and no notification. Such an image is not the cover.
func TestImagesWithoutPreview(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		thing := ada.Thing("Vase")
		files := map[string]int64{}
		for _, name := range []string{"photo.avif", "photo.heic"} {
			files[name] = ada.Upload(name, imageFile(t, name))
		}
		files["drawing.dxf"] = ada.Upload("drawing.dxf", []byte("0\nSECTION\n2\nHEADER\n9\n$ACADVER\n0\nENDSEC\n0\nEOF\n"))
		for name, id := range files {
			ada.Finalize("thing", thing, id).Want(t, 200)
			var got struct {
				File struct {
					Kind       string
					Processing struct {
						State       string
						Error, Hint *string
					}
				}
			}
			ada.Query(`query ($id: ID!) { file(id: $id) { kind processing { state error hint } } }`,
				map[string]any{"id": servertest.ID(id)}, &got)
			p := got.File.Processing
			kind, hint := "ATTACHMENT", "HEIC"
			switch name {
			case "photo.avif":
				kind, hint = "IMAGE", "AVIF"
			case "drawing.dxf":
				kind, hint = "MODEL", ""
			}
			if got.File.Kind != kind || p.State != "NOT_APPLICABLE" || p.Error != nil || (p.Hint != nil) != (hint != "") ||
				p.Hint != nil && !strings.Contains(*p.Hint, hint) {
				t.Errorf("%s: got %+v, want %s with a hint about %q", name, got.File, kind, hint)
			}
		}
		var seen struct {
			Thing struct{ DefaultImage *struct{ ID string } }
			Me    struct {
				Notifications struct{ Nodes []struct{ Kind string } }
			}
		}
		ada.Query(`query ($id: ID!) { thing(id: $id) { defaultImage { id } } me { notifications { nodes { kind } } } }`,
			map[string]any{"id": fmt.Sprint(thing)}, &seen)
		if seen.Thing.DefaultImage != nil || len(seen.Me.Notifications.Nodes) != 0 {
			t.Errorf("got %+v, want no cover and no notification", seen)
		}
	})
}

// TestPreviewsOfImages checks the previews of images of phones and of programs, and that one whose
// preview fails is not the cover.
func TestPreviewsOfImages(t *testing.T) {
	servertest.Concurrent(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		thing := ada.Thing("Vase")
		broken := ada.Upload("broken.png", imageFile(t, "exif6.png")[:300])
		ids := []int64{broken}
		sizes := []string{""}
		for name, size := range map[string]string{"photo.webp": "400×300", "exif6.png": "400×300", "apng.png": "400×300",
			"display_p3.jpg": "300×200", "gps.jpg": "400×300"} {
			ids, sizes = append(ids, ada.Upload(name, imageFile(t, name))), append(sizes, size)
		}
		ada.Finalize("thing", thing, ids...).Want(t, 200)
		for i, id := range ids {
			f := servertest.Settled(t, ada, id)
			var got struct {
				File struct {
					Thumbnail *struct{ Width, Height int }
				}
			}
			ada.Query(`query ($id: ID!) { file(id: $id) { thumbnail(width: 2000, height: 2000, fit: CONTAIN) { width height } } }`, map[string]any{"id": servertest.ID(id)}, &got)
			size := ""
			if small := got.File.Thumbnail; small != nil {
				size = fmt.Sprintf("%d×%d", small.Width, small.Height)
			}
			if f.Kind != "IMAGE" || size != sizes[i] {
				t.Errorf("file %d: got %+v with %s, want %s", i, f, size, sizes[i])
			}
		}
		var cover struct {
			Thing struct{ DefaultImage struct{ ID string } }
		}
		ada.Query(`query ($id: ID!) { thing(id: $id) { defaultImage { id } } }`, map[string]any{"id": fmt.Sprint(thing)},
			&cover)
		if cover.Thing.DefaultImage.ID != fmt.Sprint(ids[1]) {
			t.Errorf("the cover is %s, want %d, which follows the broken one %d", cover.Thing.DefaultImage.ID, ids[1], broken)
		}
	}, servertest.Derives)
}
