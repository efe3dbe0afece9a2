package child

import (
	"errors"
	"io"
	"os"
	"testing"
	"time"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/meshtest"
	"github.com/meshyard/meshyard/internal/preview"
)

// TestBombs makes previews of files that are built to be expensive. It checks that each ends,
// within the limits of memory and CPU time, with a preview or with an error of the file.
func TestBombs(t *testing.T) {
	skipUnderRace(t)
	bombs := meshtest.Bombs()
	if len(bombs) < 40 {
		t.Errorf("there are %d bombs, want 40", len(bombs))
	}
	for i, bomb := range bombs {
		if os.Getenv("MESHYARD_TEST_BOMBS") != "all" && i%4 != 0 {
			continue // make test-bombs runs the others
		}
		t.Run(bomb.Name, func(t *testing.T) {
			content := file(t, bomb.Content())
			put := func(_ preview.Part, write func(io.Writer) error) error { return write(io.Discard) }
			// The CPU time is what is checked. The elapsed time may be long on a busy machine.
			runner := Runner{Deadline: 10 * time.Minute}
			_, usage, err := runner.Derive(t.Context(), content, preview.Subject(bomb.Subject), put, func(string, float64) {})
			var bad *mesh.Error
			if err != nil && !errors.As(err, &bad) {
				t.Errorf("got %T: %v, want a preview or a *mesh.Error", err, err)
			}
			if usage.Memory > DefaultMemory {
				t.Errorf("the child held %d MiB, want at most %d", usage.Memory>>20, DefaultMemory>>20)
			}
			if usage.CPU > DefaultCPU+5*time.Second {
				t.Errorf("the child took %s of processor time, want at most %s", usage.CPU, DefaultCPU)
			}
			t.Logf("%s of processor time, %d MiB: %v", usage.CPU.Round(time.Millisecond), usage.Memory>>20, err)
		})
	}
}
