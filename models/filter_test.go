package models

import (
	"testing"
	"time"

	"github.com/meshyard/meshyard/internal/auth"
)

// TestPeriodsOfFilters checks that the beginning of a period is inclusive and its end exclusive.
func TestPeriodsOfFilters(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, ada auth.Caller) {
		made, _ := published(t, s, ada)
		thing, err := s.Thing(t.Context(), ada, AllThingFields, made.ID)
		if err != nil {
			t.Fatal(err)
		}
		at, later := *thing.PublishedAt, thing.PublishedAt.Add(time.Microsecond)
		changed, afterChange := thing.ModifiedAt, thing.ModifiedAt.Add(time.Microsecond)
		for name, c := range map[string]struct {
			filter Filter
			want   int64
		}{
			"published after its publication":        {Filter{PublishedAfter: &at}, 1},
			"published a moment after it":            {Filter{PublishedAfter: &later}, 0},
			"published before its publication":       {Filter{PublishedBefore: &at}, 0},
			"published before a moment after it":     {Filter{PublishedBefore: &later}, 1},
			"changed after its last change":          {Filter{UpdatedAfter: &changed}, 1},
			"changed a moment after its last change": {Filter{UpdatedAfter: &afterChange}, 0},
			"changed before its last change":         {Filter{UpdatedBefore: &changed}, 0},
			"changed before a moment after it":       {Filter{UpdatedBefore: &afterChange}, 1},
		} {
			found, err := s.Search(t.Context(), SearchThings, "", c.filter, ByRelevance)
			if err != nil {
				t.Fatal(err)
			}
			if n, err := found.Count(t.Context(), []int64{1}); n[1] != c.want || err != nil {
				t.Errorf("%s: %d found, want %d (%v)", name, n[1], c.want, err)
			}
		}
	})
}
