package maintenance

import (
	"testing"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/markdown"
	"github.com/meshyard/meshyard/models"
)

// TestRenderStaleVersions checks that one run renders all stale rows if they have several versions,
// and a row with a high ID has an older version than rows with lower IDs.
func TestRenderStaleVersions(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, ada auth.Caller) {
		ctx := t.Context()
		var ids []int64
		for range staleBatch + 10 {
			thing, err := s.core.CreateThing(ctx, ada, models.NewThing{Name: "a", Description: "*a*", License: models.CC,
				Category: "Art"})
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, thing.ID)
		}
		for version, of := range map[int][]int64{markdown.Version - 1: ids[:10], markdown.Version - 2: ids[10:]} {
			if _, err := s.core.DB.Write.NewRaw("UPDATE things SET html_version = ?, description_html = 'old' WHERE id IN (?)",
				version, bun.List(of)).Exec(ctx); err != nil {
				t.Fatal(err)
			}
		}
		updated, err := s.RenderStale(ctx)
		if err != nil || updated != len(ids) {
			t.Errorf("%d rows were rendered (%v), want %d", updated, err, len(ids))
		}
		stale, err := s.core.DB.Read.NewSelect().Table("things").Where("html_version < ? OR description_html = 'old'",
			markdown.Version).Count(ctx)
		if err != nil || stale != 0 {
			t.Errorf("%d things are stale (%v), want none", stale, err)
		}
	})
}
