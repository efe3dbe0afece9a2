package things_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/uploads"
	"github.com/meshyard/meshyard/test/servertest"
)

// TestManyFiles checks that a thing can have more files than a list returns at once: that offset
// returns the others, that the ZIP file has all, and that the error names the limit.
func TestManyFiles(t *testing.T) {
	const limit = models.MaxFiles + 5
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		thing := ada.Thing("Set")
		caller := auth.Caller{UserID: servertest.Must(s.Store.Admin().User(t.Context(), "ada"))(t).ID}
		upload := func(n int) (files []models.FinalizeFile) {
			for i := range n {
				f := servertest.Must(s.Store.Uploads.Upload(t.Context(), caller, uploads.NewUpload{Folder: fmt.Sprint("Box ", i%7),
					Name: fmt.Sprintf("note %d.txt", i), Bytes: strings.NewReader("note")}))(t)
				files = append(files, models.FinalizeFile{ID: f.ID})
			}
			return files
		}
		target := models.Target{Type: models.OnThing, ID: thing}
		servertest.Must(s.Store.Finalize(t.Context(), caller, upload(limit), target))(t)
		_, err := s.Store.Finalize(t.Context(), caller, upload(1), target)
		if want := fmt.Sprintf("files: thing %d has %d files and would get 1 more, and at most %d are allowed", thing, limit,
			limit); models.CodeOf(err) != models.Conflict || err.Error() != want {
			t.Errorf("one more file: got %v, want %s", err, want)
		}
		stl := ada.Upload("a.stl", servertest.Mesh(t, "hschendel_simple_bin.stl"))
		if r := ada.Finalize("thing", thing, stl); r.StatusCode != 400 ||
			!strings.Contains(string(r.Bytes), fmt.Sprintf("at most %d are allowed", limit)) {
			t.Errorf("one more file by REST: got %d %s", r.StatusCode, r.Bytes)
		}

		var r struct {
			Thing struct {
				FileCount, TotalSize int
				All, Rest, None      []struct{ Path string }
			}
		}
		ada.Query(`query ($id: ID!) { thing(id: $id) { fileCount totalSize all: files(first: 1000) { path } rest: files(first: 1000, offset: 1000) { path } none: files(offset: 1005) { path } } }`,
			servertest.Object{"id": thing}, &r)
		if got := r.Thing; got.FileCount != limit || got.TotalSize != 4*limit || len(got.All) != models.MaxFiles ||
			len(got.Rest) != 5 || len(got.None) != 0 || got.Rest[4].Path != "Box 3/note 1004.txt" {
			t.Errorf("got %d files, %d bytes, lists of %d, %d and %d, and %v", got.FileCount, got.TotalSize, len(got.All),
				len(got.Rest), len(got.None), got.Rest)
		}
		if response := ada.GraphQL(`query ($id: ID!) { thing(id: $id) { files(offset: -1) { id } } }`,
			servertest.Object{"id": thing}); response.Code() != "BAD_USER_INPUT" {
			t.Errorf("a negative offset: got %+v", response.Errors)
		}
		packed := ada.Get(fmt.Sprintf("/thing:%d/zip", thing)).Want(t, 200).Bytes
		z := servertest.Must(zip.NewReader(bytes.NewReader(packed), int64(len(packed))))(t)
		if len(z.File) != limit+3 || z.File[limit+2].Name != "files/Box 3/note 1004.txt" {
			t.Errorf("the ZIP file has %d files, want %d and 3 of the credit", len(z.File), limit)
		}
	}, func(s *config.Settings) { s.ThingFiles = limit })
}
