package server

import (
	"runtime"
	"testing"
)

// TestAddProcessor checks that a server runs one more thread at once than there are processors,
// however many servers a process starts, unless the operator sets the number. The test is not
// parallel: the number is that of the process.
func TestAddProcessor(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	runtime.SetDefaultGOMAXPROCS()
	usual := runtime.GOMAXPROCS(0)
	for name, c := range map[string]struct {
		set  string // by the operator
		want int
	}{
		"default":            {"", usual + 1},
		"set by an operator": {"5", usual},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("GOMAXPROCS", c.set)
			runtime.GOMAXPROCS(usual)
			for range 2 {
				if addProcessor(); runtime.GOMAXPROCS(0) != c.want {
					t.Errorf("GOMAXPROCS %d, want %d", runtime.GOMAXPROCS(0), c.want)
				}
			}
		})
	}
}
