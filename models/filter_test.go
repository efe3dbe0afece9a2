package models_test

import (
	"testing"
	"time"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/catalogue"
	"github.com/meshyard/meshyard/models/catalogue/cataloguetest"
	"github.com/meshyard/meshyard/models/lists"
	"github.com/meshyard/meshyard/models/search"
)

// TestPeriodsOfFilters checks that the beginning of a period is inclusive and its end exclusive.
func TestPeriodsOfFilters(t *testing.T) {
	cataloguetest.Each(t, func(t *testing.T, s *catalogue.Catalogue, ada auth.Caller) {
		made, _ := cataloguetest.Published(t, s, ada)
		thing, err := s.Thing(t.Context(), ada, models.AllThingFields, made.ID)
		if err != nil {
			t.Fatal(err)
		}
		at, later := *thing.PublishedAt, thing.PublishedAt.Add(time.Microsecond)
		changed, afterChange := thing.ModifiedAt, thing.ModifiedAt.Add(time.Microsecond)
		for name, c := range map[string]struct {
			filter lists.Filter
			want   int64
		}{
			"published after its publication":        {lists.Filter{PublishedAfter: &at}, 1},
			"published a moment after it":            {lists.Filter{PublishedAfter: &later}, 0},
			"published before its publication":       {lists.Filter{PublishedBefore: &at}, 0},
			"published before a moment after it":     {lists.Filter{PublishedBefore: &later}, 1},
			"changed after its last change":          {lists.Filter{UpdatedAfter: &changed}, 1},
			"changed a moment after its last change": {lists.Filter{UpdatedAfter: &afterChange}, 0},
			"changed before its last change":         {lists.Filter{UpdatedBefore: &changed}, 0},
			"changed before a moment after it":       {lists.Filter{UpdatedBefore: &afterChange}, 1},
		} {
			found, err := s.Search.Search(t.Context(), search.SearchThings, "", c.filter, lists.ByRelevance)
			if err != nil {
				t.Fatal(err)
			}
			if n, err := found.Count(t.Context(), []int64{1}); n[1] != c.want || err != nil {
				t.Errorf("%s: %d found, want %d (%v)", name, n[1], c.want, err)
			}
		}
	})
}
