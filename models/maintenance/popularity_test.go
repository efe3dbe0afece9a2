package maintenance_test

import (
	"testing"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/catalogue"
	"github.com/meshyard/meshyard/models/catalogue/cataloguetest"
)

// TestRankThings checks that folding leaves the popularity of things with new actions to
// RankThings, which ranks each once, and again after another action.
func TestRankThings(t *testing.T) {
	cataloguetest.Each(t, func(t *testing.T, s *catalogue.Catalogue, ada auth.Caller) {
		first, file := cataloguetest.Published(t, s, ada)
		last, lastFile := cataloguetest.Published(t, s, ada)
		popularity := func() (of [2]int64) {
			t.Helper()
			err := s.DB.Read.NewRaw(
				"SELECT (SELECT popularity FROM things WHERE id = ?), (SELECT popularity FROM things WHERE id = ?)", first.ID,
				last.ID).
				Scan(t.Context(), &of[0], &of[1])
			if err != nil {
				t.Fatal(err)
			}
			return of
		}
		download := func(username string, files ...*models.File) {
			t.Helper()
			u := cataloguetest.NewUser(t, s, username)
			for _, f := range files {
				if _, _, err := s.Activity.RecordDownload(t.Context(), u, f.ID); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := s.Activity.FoldDownloads(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		rank := func(want int) {
			t.Helper()
			if got, err := s.Maintenance.RankThings(t.Context()); got != want || err != nil {
				t.Errorf("%d things ranked (%v), want %d", got, err, want)
			}
		}

		rank(0)
		download("bob", file, lastFile)
		if got := popularity(); got != [2]int64{} {
			t.Errorf("popularity after folding: %d, want none yet", got)
		}
		rank(2)
		of := popularity()
		if of[0] == 0 || of[1] != of[0] {
			t.Errorf("popularity after one download each: %d", of)
		}
		rank(0)
		download("cyd", file) // the thing with the lower ID, below the last one that was ranked
		rank(1)
		if got := popularity(); got != [2]int64{of[0] + models.PopularityUnit, of[1]} { // twice
			t.Errorf("popularity after another download of the first: %d, was %d", got, of)
		}
		rank(0)
	})
}

// TestFailedRankingIsRepeated checks that RankThings does not continue behind things that a failed
// transaction did not rank.
func TestFailedRankingIsRepeated(t *testing.T) {
	cataloguetest.Each(t, func(t *testing.T, s *catalogue.Catalogue, ada auth.Caller) {
		ctx := t.Context()
		thing, _ := cataloguetest.Published(t, s, ada)
		exec := func(query string, args ...any) {
			t.Helper()
			if _, err := s.DB.Write.NewRaw(query, args...).Exec(ctx); err != nil {
				t.Fatal(err)
			}
		}
		exec("INSERT INTO unranked_things (thing_id) VALUES (?)", thing.ID)
		exec("ALTER TABLE things RENAME COLUMN popularity TO renamed")
		if n, err := s.Maintenance.RankThings(ctx); n != 0 || err == nil {
			t.Errorf("%d things ranked (%v) without their column, want an error", n, err)
		}
		exec("ALTER TABLE things RENAME COLUMN renamed TO popularity")
		if got := s.Maintenance.RankedTo(); got != 0 {
			t.Errorf("the next call continues behind thing %d, want 0", got)
		}
		if n, err := s.Maintenance.RankThings(ctx); n != 1 || err != nil || s.Maintenance.RankedTo() != thing.ID {
			t.Errorf("%d things ranked (%v) up to %d, want 1 up to %d", n, err, s.Maintenance.RankedTo(), thing.ID)
		}
	})
}
