package graph

import (
	"strings"
	"testing"

	"github.com/meshyard/meshyard/graph/model"
)

// TestImageRequestNamesTheFirstFault checks that the same invalid request always returns the same
// error.
func TestImageRequestNamesTheFirstFault(t *testing.T) {
	for range 50 {
		_, err := requestImage(new(int32), new(int32), model.ImageFitCover, nil)
		if err == nil || !strings.HasPrefix(err.Error(), "width: ") {
			t.Fatalf("got %v, want an error of width", err)
		}
	}
}
