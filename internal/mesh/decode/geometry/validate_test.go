package geometry

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/mesh"
)

func TestAllInRange(t *testing.T) {
	if math.Float32bits(MaxCoordinate) != farBits {
		t.Errorf("farthest is %#x", math.Float32bits(MaxCoordinate))
	}
	for n := range 9 {
		for i := range n {
			for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat32, -math.MaxFloat32, 1.0001e18,
				MaxCoordinate, -MaxCoordinate, 0, 5e-324} {
				xs := make([]float32, n)
				xs[i] = float32(x)
				if want := math.Abs(x) <= MaxCoordinate; allInRange(xs) != want {
					t.Error(fmt.Sprint(xs), "near:", !want)
				}
			}
		}
	}
}

// TestValidate checks that each kind of invalid mesh is rejected.
func TestValidate(t *testing.T) {
	nan := float32(math.NaN())
	limits := mesh.DefaultLimits
	limits.Triangles = 1
	for _, c := range []struct {
		m       mesh.Mesh
		reason  mesh.Reason
		message string
	}{
		{mesh.Mesh{}, mesh.Empty, "The STL file is valid but contains no triangles."},
		{mesh.Mesh{Cloud: true}, mesh.Empty, "neither triangles nor points"},
		{mesh.Mesh{Positions: make([]float32, 18)}, mesh.TooLarge, "2 triangles, and at most 1"},
		{mesh.Mesh{Positions: make([]float32, 12), Cloud: true}, mesh.TooLarge, "4 points, and at most 3"},
		{mesh.Mesh{Positions: []float32{0, 0, nan, 0, 0, 0, 0, 0, 0}}, mesh.Malformed, "a coordinate that is not a number"},
		{mesh.Mesh{Positions: make([]float32, 9), Origin: [3]float64{0, math.Inf(1), 0}}, mesh.Malformed,
			"a coordinate that is not a number"},
		{mesh.Mesh{Positions: make([]float32, 9), Indices: []uint32{0, 3, 2}}, mesh.Malformed,
			"a triangle with vertex 3, counted from 0, where there are 3"},
	} {
		checkError(t, Validate(&c.m, "STL", limits), c.reason, c.message)
	}
	if err := Validate(&mesh.Mesh{Positions: make([]float32, 9), Indices: []uint32{0, 1, 2}}, "STL", limits); err != nil {
		t.Error(err)
	}
}

// checkError is decodetest.CheckError, which this test cannot import: decodetest imports geometry.
func checkError(t *testing.T, err error, reason mesh.Reason, part string) {
	t.Helper()
	var e *mesh.Error
	if !errors.As(err, &e) || e.Reason != reason || !strings.Contains(e.Message, part) {
		t.Errorf("got error %v, want reason %q and a message that contains %q", err, reason, part)
	}
}
