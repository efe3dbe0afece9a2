package uploads_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/catalogue"
	"github.com/meshyard/meshyard/models/catalogue/cataloguetest"
)

// TestUploadsAreReported checks that each upload whose bytes are stored is reported, staged ones
// included, and that a rejected one is not.
func TestUploadsAreReported(t *testing.T) {
	cataloguetest.Each(t, func(t *testing.T, s *catalogue.Catalogue, ada auth.Caller) {
		var sizes []int64
		s.Options.Events.Uploaded = func(bytes int64) { sizes = append(sizes, bytes) }
		thing, _ := cataloguetest.Published(t, s, ada)
		staged, err := s.Uploads.StageUpload(t.Context(), ada, "b.stl", models.Target{Type: models.OnThing, ID: thing.ID})
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"solid bb", "solid bbb"} { // the second replaces the first
			if err := s.Uploads.StoreStaged(t.Context(), staged.FileID, 0, staged.Limit, strings.NewReader(text)); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Uploads.StoreStaged(t.Context(), staged.FileID, 0, 4, strings.NewReader("solid b")); models.CodeOf(
			err) != models.TooLarge {
			t.Errorf("7 bytes of at most 4: %v, want %s", err, models.TooLarge)
		}
		if want := []int64{int64(len("solid 1")), 8, 9}; !slices.Equal(sizes, want) {
			t.Errorf("reported uploads of %d bytes, want %d", sizes, want)
		}
	})
}
