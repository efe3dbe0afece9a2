package viewer

import (
	"testing"

	"github.com/meshyard/meshyard/internal/web/language"
)

func TestDimensions(t *testing.T) {
	t.Parallel()
	for want, size := range map[string][3]float64{
		"":                             {},
		"40 × 20 × 40 mm":              {40, 20, 40},
		"12.35 × 0.123 × 1234567.8 mm": {12.3456, .1234, 1234567.8},
		"10 × 0 × 99.99 mm":            {9.999, 0, 99.99},
		"1 × 0.00012 × 3 mm":           {1, .00012, 3},
	} {
		if got := dimensions(size, language.All[0]); got != want {
			t.Errorf("%v: got %q, want %q", size, got, want)
		}
	}
}

func TestDetail(t *testing.T) {
	t.Parallel()
	for want, m := range map[string]Model{
		"":                     {},
		"1 triangle":           {Triangles: 1, Vertices: 3},
		"999 triangles":        {Triangles: 999},
		"1,000 triangles":      {Triangles: 1000},
		"12,345,678 triangles": {Triangles: 12345678},
		"4,096 points":         {Vertices: 4096},
	} {
		if got := detail(m, language.All[0]); got != want {
			t.Errorf("%+v: got %q, want %q", m, got, want)
		}
	}
}

// TestMessages checks that each state has a message, and that a finished model without anything to
// show is treated as none.
func TestMessages(t *testing.T) {
	t.Parallel()
	for _, state := range []State{Waiting, Running, Done, Failed, None} {
		if s := show(Model{State: state, GLBURL: "/m.glb"}, language.All[0]); s.Message == "" || s.State != state {
			t.Errorf("%s: got %+v", state, s)
		}
	}
	if s := show(Model{State: Done}, language.All[0]); s.State != None {
		t.Errorf("done without a model: got %+v", s)
	}
}
