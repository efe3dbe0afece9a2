package models

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/auth"
)

// TestFinalizeRanks checks that files without a rank follow those that the target has, and that
// given ranks are kept, also those of a repeated call.
func TestFinalizeRanks(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, ada auth.Caller) {
		ctx := t.Context()
		thing, err := s.CreateThing(ctx, ada, NewThing{Name: "Box", License: CC, Category: "Tools"})
		if err != nil {
			t.Fatal(err)
		}
		on := Target{Type: OnThing, ID: thing.ID}
		const none = math.MinInt32
		for i, c := range []struct {
			given, want []int32
		}{
			{[]int32{none, none}, []int32{0, 1}},
			{[]int32{none, none}, []int32{2, 3}},
			{[]int32{10, 10}, []int32{10, 10}},
			{[]int32{none, 1, none}, []int32{11, 1, 13}},
			{[]int32{math.MaxInt32}, []int32{math.MaxInt32}},
			{[]int32{none, none}, []int32{math.MaxInt32, math.MaxInt32}},
		} {
			files := make([]FinalizeFile, len(c.given))
			for j, rank := range c.given {
				f, err := s.Upload(ctx, ada, NewUpload{Name: "a.stl", Bytes: strings.NewReader(fmt.Sprintf("solid %d %d", i, j))})
				if err != nil {
					t.Fatal(err)
				}
				files[j].ID = f.ID
				if rank != none {
					files[j].Rank = &rank
				}
			}
			for range 2 {
				done, err := s.Finalize(ctx, ada, files, on)
				if err != nil {
					t.Fatal(err)
				}
				got := make([]int32, len(done))
				for j, f := range done {
					got[j] = f.Rank
				}
				if !slices.Equal(got, c.want) {
					t.Errorf("batch %d with the ranks %d: got %d, want %d", i, c.given, got, c.want)
				}
			}
		}

		// The rendering of a model can be the last image.
		if _, err := s.DB.Write.NewRaw("UPDATE files SET rank = 1, rendering_rank = 5 WHERE target_id = ?", thing.ID).Exec(ctx); err != nil {
			t.Fatal(err)
		}
		f, err := s.Upload(ctx, ada, NewUpload{Name: "a.stl", Bytes: strings.NewReader("solid last")})
		if err != nil {
			t.Fatal(err)
		}
		if done, err := s.Finalize(ctx, ada, []FinalizeFile{{ID: f.ID}}, on); err != nil || done[0].Rank != 6 {
			t.Errorf("after a rendering with the rank 5: got %v, %v, want the rank 6", done, err)
		}
	})
}
