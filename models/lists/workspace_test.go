package lists_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/catalogue"
	"github.com/meshyard/meshyard/models/catalogue/cataloguetest"
	"github.com/meshyard/meshyard/models/uploads"
)

// TestFilesInProcess checks that the files in process of a user include one whose content a file of
// another user shares, no matter which of them requested the preview first.
func TestFilesInProcess(t *testing.T) {
	cataloguetest.Each(t, func(t *testing.T, s *catalogue.Catalogue, ada auth.Caller) {
		ctx := t.Context()
		bob := cataloguetest.NewUser(t, s, "bob")
		of, things := make(map[int64]int64), make(map[int64]int64) // the file and the thing of a user
		for _, c := range []auth.Caller{ada, bob} {
			thing, err := s.CreateThing(ctx, c, models.NewThing{Name: "a", License: models.CC, Category: "Art"})
			if err != nil {
				t.Fatal(err)
			}
			f, err := s.Uploads.Upload(ctx, c, uploads.NewUpload{Name: "a.stl", Bytes: strings.NewReader("solid a")})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Finalize(ctx, c, []models.FinalizeFile{{ID: f.ID}}, models.Target{Type: models.OnThing,
				ID: thing.ID}); err != nil {
				t.Fatal(err)
			}
			of[c.UserID], things[c.UserID] = f.ID, thing.ID
		}
		inProcess := func(userID int64) []*models.File {
			t.Helper()
			since, err := s.Lists.ComingFiles(ctx, userID)
			if err != nil {
				t.Fatal(err)
			}
			files, err := s.Lists.FilesInProcess(ctx, userID, since, nil)
			if err != nil {
				t.Fatal(err)
			}
			return files
		}
		for userID, id := range of {
			if files := inProcess(userID); len(files) != 1 || files[0].ID != id {
				t.Errorf("files in process of user %d: %+v, want file %d", userID, files, id)
			}
		}
		if _, err := s.DB.Write.NewRaw("UPDATE previews SET state = 'failed'").Exec(ctx); err != nil {
			t.Fatal(err)
		}
		for userID := range of {
			if files := inProcess(userID); len(files) > 0 {
				t.Errorf("files in process of user %d after the preview has failed: %+v, want none", userID, files)
			}
		}
		// Files that are finalized later are returned too, although their preview is finished.
		upload := func() int64 {
			t.Helper()
			f, err := s.Uploads.Upload(ctx, ada, uploads.NewUpload{Name: "a.stl", Bytes: strings.NewReader("solid a")})
			if err != nil {
				t.Fatal(err)
			}
			return f.ID
		}
		before := upload()
		since, err := s.Lists.ComingFiles(ctx, ada.UserID)
		if err != nil {
			t.Fatal(err)
		}
		later := []int64{before, upload()}
		check := func(want []int64) {
			t.Helper()
			files, err := s.Lists.FilesInProcess(ctx, ada.UserID, since, nil)
			var got []int64
			for _, f := range files {
				got = append(got, f.ID)
			}
			slices.Sort(got)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("files in process: %d, %v; want %d", got, err, want)
			}
		}
		check(nil)
		if _, err := s.Finalize(ctx, ada, []models.FinalizeFile{{ID: later[0]}, {ID: later[1]}},
			models.Target{Type: models.OnThing, ID: things[ada.UserID]}); err != nil {
			t.Fatal(err)
		}
		check(later)
	})
}
