package models

import (
	"slices"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/auth"
)

// TestUploadsAreReported checks that each upload whose bytes are stored is reported, staged ones
// included, and that a rejected one is not.
func TestUploadsAreReported(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, ada auth.Caller) {
		var sizes []int64
		s.Options.Events.Uploaded = func(bytes int64) { sizes = append(sizes, bytes) }
		thing, _ := published(t, s, ada)
		staged, err := s.StageUpload(t.Context(), ada, "b.stl", Target{OnThing, thing.ID})
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"solid bb", "solid bbb"} { // the second replaces the first
			if err := s.StoreStaged(t.Context(), staged.FileID, 0, staged.Limit, strings.NewReader(text)); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.StoreStaged(t.Context(), staged.FileID, 0, 4, strings.NewReader("solid b")); CodeOf(err) != TooLarge {
			t.Errorf("7 bytes of at most 4: %v, want %s", err, TooLarge)
		}
		if want := []int64{int64(len("solid 1")), 8, 9}; !slices.Equal(sizes, want) {
			t.Errorf("reported uploads of %d bytes, want %d", sizes, want)
		}
	})
}
