package search_test

import (
	"fmt"
	"testing"

	"github.com/meshyard/meshyard/test/servertest"
)

// TestFitsBed checks that the filter compares the sides of a model with those of a bed, in both
// directions, and which things print without supports according to their settings.
func TestFitsBed(t *testing.T) {
	servertest.Concurrent(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		thing := ada.Thing("Donut")
		file := ada.Upload("donut.stl", servertest.Mesh(t, "numpystl_HalfDonut_bin.stl"))
		ada.Finalize("thing", thing, file).Want(t, 200)
		servertest.Settled(t, ada, file)
		ada.Publish(thing)
		var read struct {
			File struct {
				Mesh struct{ Size struct{ X, Y, Z float64 } }
			}
		}
		ada.Query(fmt.Sprintf(`{ file(id: %d) { mesh { size { x y z } } } }`, file), nil, &read)
		size := read.File.Mesh.Size
		if size.X == size.Y {
			t.Fatalf("the model is as wide as it is deep: %v", size)
		}
		found := func(filter string) (n int) {
			t.Helper()
			var r struct {
				Things, Search struct{ TotalCount int }
			}
			ada.Query(`{ things(filter: {`+filter+`}) { totalCount } search(filter: {`+filter+`}) { totalCount } }`, nil, &r)
			if r.Things != r.Search {
				t.Errorf("%s: things finds %d, search %d", filter, r.Things.TotalCount, r.Search.TotalCount)
			}
			return r.Things.TotalCount
		}
		const more, less = 1.001, 0.999
		for _, c := range []struct{ width, depth, height, want float64 }{
			{size.X * more, size.Y * more, size.Z * more, 1},
			{size.Y * more, size.X * more, size.Z * more, 1}, // turned
			{size.X * less, size.Y * more, size.Z * more, 0},
			{size.X * more, size.Y * less, size.Z * more, 0},
			{size.Y * more, size.X * less, size.Z * more, 0},
			{size.X * more, size.Y * more, size.Z * less, 0},
		} {
			filter := fmt.Sprintf("fitsBed: {width: %g, depth: %g, height: %g}", c.width, c.depth, c.height)
			if n := found(filter); n != int(c.want) {
				t.Errorf("%s finds %d, want %g; the model is %v", filter, n, c.want, size)
			}
		}
		for field, bed := range map[string]string{
			"fitsBed.width": "width: 0, depth: 1, height: 1", "fitsBed.depth": "width: 1, depth: 100001, height: 1",
			"fitsBed.height": "width: 1, depth: 1, height: -1",
		} {
			r := ada.GraphQL(`{ things(filter: {fitsBed: {`+bed+`}}) { totalCount } }`, nil)
			if r.Code() != "BAD_USER_INPUT" || r.Errors[0].Extensions.Field != field {
				t.Errorf("%s: got %+v, want BAD_USER_INPUT of %s", bed, r.Errors, field)
			}
		}
		for _, c := range []struct {
			settings string
			want     int
		}{{"supports: NO", 1}, {"supports: YES", 0}, {`printer: "\"supports\":\"no\""`, 0}} {
			ada.Query(fmt.Sprintf(`mutation { updateThing(input: {id: %d, printSettings: {%s}}) { thing { id } } }`, thing,
				c.settings), nil, &struct{}{})
			if n := found("printsWithoutSupports: true"); n != c.want {
				t.Errorf("%s: %d things print without supports, want %d", c.settings, n, c.want)
			}
			if n := found("printsWithoutSupports: false"); n != 1-c.want {
				t.Errorf("%s: %d other things, want %d", c.settings, n, 1-c.want)
			}
		}
	}, servertest.Derives)
}
