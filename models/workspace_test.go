package models

import (
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/auth"
)

// TestFilesInProcess checks that the files in process of a user include one whose content a file of
// another user shares, no matter which of them requested the preview first.
func TestFilesInProcess(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, ada auth.Caller) {
		ctx := t.Context()
		bob := newUser(t, s, "bob")
		of := make(map[int64]int64) // the file of a user
		for _, c := range []auth.Caller{ada, bob} {
			thing, err := s.CreateThing(ctx, c, NewThing{Name: "a", License: CC, Category: "Art"})
			if err != nil {
				t.Fatal(err)
			}
			f, err := s.Upload(ctx, c, NewUpload{Name: "a.stl", Bytes: strings.NewReader("solid a")})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Finalize(ctx, c, []FinalizeFile{{ID: f.ID}}, Target{OnThing, thing.ID}); err != nil {
				t.Fatal(err)
			}
			of[c.UserID] = f.ID
		}
		inProcess := func(userID int64) []*File {
			t.Helper()
			files, err := s.FilesInProcess(ctx, userID, now(), nil)
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
		if _, err := s.db.Write.NewRaw("UPDATE previews SET state = 'failed'").Exec(ctx); err != nil {
			t.Fatal(err)
		}
		for userID := range of {
			if files := inProcess(userID); len(files) > 0 {
				t.Errorf("files in process of user %d after the preview has failed: %+v, want none", userID, files)
			}
		}
	})
}
