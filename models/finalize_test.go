package models_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/bucket"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/catalogue"
	"github.com/meshyard/meshyard/models/catalogue/cataloguetest"
	"github.com/meshyard/meshyard/models/uploads"
)

// TestFinalizeRanks checks that files without a rank follow those that the target has, and that
// given ranks are kept, also those of a repeated call.
func TestFinalizeRanks(t *testing.T) {
	cataloguetest.Each(t, func(t *testing.T, s *catalogue.Catalogue, ada auth.Caller) {
		ctx := t.Context()
		thing, err := s.CreateThing(ctx, ada, models.NewThing{Name: "Box", License: models.CC, Category: "Tools"})
		if err != nil {
			t.Fatal(err)
		}
		on := models.Target{Type: models.OnThing, ID: thing.ID}
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
			files := make([]models.FinalizeFile, len(c.given))
			for j, rank := range c.given {
				f, err := s.Uploads.Upload(ctx, ada,
					uploads.NewUpload{Name: "a.stl", Bytes: strings.NewReader(fmt.Sprintf("solid %d %d", i, j))})
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
		if _, err := s.DB.Write.NewRaw("UPDATE files SET rank = 1, rendering_rank = 5 WHERE target_id = ?", thing.ID).
			Exec(ctx); err != nil {
			t.Fatal(err)
		}
		f, err := s.Uploads.Upload(ctx, ada, uploads.NewUpload{Name: "a.stl", Bytes: strings.NewReader("solid last")})
		if err != nil {
			t.Fatal(err)
		}
		if done, err := s.Finalize(ctx, ada, []models.FinalizeFile{{ID: f.ID}}, on); err != nil || done[0].Rank != 6 {
			t.Errorf("after a rendering with the rank 5: got %v, %v, want the rank 6", done, err)
		}
	})
}

// TestFinalizePutsContentBack checks that the transaction of a finalization restores content that
// garbage collection removed between its promotion and the transaction.
func TestFinalizePutsContentBack(t *testing.T) {
	cataloguetest.Each(t, func(t *testing.T, s *catalogue.Catalogue, ada auth.Caller) {
		thing, err := s.CreateThing(t.Context(), ada, models.NewThing{Name: "a", License: models.CC, Category: "Art"})
		if err != nil {
			t.Fatal(err)
		}
		f, err := s.Uploads.Upload(t.Context(), ada, uploads.NewUpload{Name: "a.stl", Bytes: strings.NewReader("solid a")})
		if err != nil {
			t.Fatal(err)
		}
		batch := []models.FinalizeFile{{ID: f.ID}}
		keys, err := s.Promote(t.Context(), ada, batch)
		if err != nil {
			t.Fatal(err)
		}
		sweep, err := s.Maintenance.CollectGarbage(t.Context(), 0, false)
		if err != nil || len(sweep.ContentObjects) != 1 || len(sweep.PendingObjects) != 0 {
			t.Fatalf("collected %+v, %v, want the content alone", sweep, err)
		}
		err = s.DB.InTx(t.Context(), func(ctx context.Context, tx bun.Tx) error {
			return s.FinalizeIn(ctx, tx, ada, batch, models.Target{Type: models.OnThing, ID: thing.ID})
		})
		if err != nil {
			t.Fatal(err)
		}
		s.Sweep(t.Context(), keys)
		if _, err := s.Bucket.Stat(t.Context(), bucket.ContentKey(f.SHA256)); err != nil {
			t.Errorf("the content of a finalized file: %v", err)
		}
	})
}
