package models_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/meshyard/meshyard/internal/apierror"
	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/catalogue"
	"github.com/meshyard/meshyard/models/catalogue/cataloguetest"
)

// TestUnusedTagsAreRemoved checks that garbage collection removes the tags that no thing has, keeps
// those of drafts, and waits for the end of an import.
func TestUnusedTagsAreRemoved(t *testing.T) {
	cataloguetest.Each(t, func(t *testing.T, s *catalogue.Catalogue, ada auth.Caller) {
		ctx := t.Context()
		collect := func(want ...string) {
			t.Helper()
			if _, err := s.FoldCounts(ctx); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Maintenance.CollectGarbage(ctx, 0, false); err != nil {
				t.Fatal(err)
			}
			var slugs []string
			if err := s.DB.Read.NewSelect().Model((*models.Tag)(nil)).Column("g.slug").Order("g.slug").
				Scan(ctx, &slugs); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(slugs, want) {
				t.Errorf("got the tags %q, want %q", slugs, want)
			}
		}
		set := func(thing int64, tags ...string) {
			t.Helper()
			if _, err := s.UpdateThing(ctx, ada, models.ThingChange{ID: thing, Tags: tags}); err != nil {
				t.Fatal(err)
			}
		}
		public, _ := cataloguetest.Published(t, s, ada)
		draft, err := s.CreateThing(ctx, ada, models.NewThing{Name: "b", License: models.CC, Category: "Art"})
		if err != nil {
			t.Fatal(err)
		}
		set(public.ID, "shared", "old", "older")
		set(draft.ID, "shared", "private", "old")
		collect("old", "older", "private", "shared")
		set(public.ID, "shared", "new")
		collect("new", "old", "private", "shared")
		set(draft.ID, "private")
		for _, row := range []any{&models.ImportRow{Source: "a catalogue", StartedAt: models.Now()},
			&models.ArchiveImport{Source: "an archive", Noun: "things", LeftOut: "{}", StartedAt: models.Now()}} {
			if _, err := s.DB.Write.NewInsert().Model(row).Exec(ctx); err != nil {
				t.Fatal(err)
			}
			collect("new", "old", "private", "shared")
			if _, err := s.DB.Write.NewDelete().Model(row).WherePK().Exec(ctx); err != nil {
				t.Fatal(err)
			}
		}
		collect("new", "private", "shared")
		if _, err := s.DeleteThing(ctx, ada, public.ID, ""); err != nil {
			t.Fatal(err)
		}
		collect("private")
		set(draft.ID, "new", "Old")
		collect("new", "old")
		if changed, err := s.Maintenance.Recount(ctx); changed != 0 || err != nil {
			t.Errorf("a recount changed %d counts (%v), want 0", changed, err)
		}
	})
}

// TestNumberOfTags checks that a thing can have 100 tags, that equal ones count once, and that the
// error for more names the limit.
func TestNumberOfTags(t *testing.T) {
	cataloguetest.Each(t, func(t *testing.T, s *catalogue.Catalogue, ada auth.Caller) {
		var tags []string
		for i := range 100 {
			tags = append(tags, fmt.Sprint("tag ", i))
		}
		create := func(tags []string) (*models.Thing, error) {
			return s.CreateThing(t.Context(), ada, models.NewThing{Name: "a", License: models.CC, Category: "Art", Tags: tags})
		}
		thing, err := create(append(tags, "TAG 0"))
		if err != nil {
			t.Fatal(err)
		}
		of, err := s.TagsOf(t.Context(), models.AllTagFields, []int64{thing.ID})
		if n := len(of[thing.ID]); err != nil || n != 100 {
			t.Errorf("got %d tags (%v), want 100", n, err)
		}
		_, err = create(append(tags, "one more"))
		e, _ := errors.AsType[*apierror.Error](err)
		if e == nil || e.Code != models.BadInput || e.Message != "tags: must have at most 100 entries (got 101)" ||
			e.Limit != 100 {
			t.Errorf("101 tags: got %+v, want %s with the limit 100", err, models.BadInput)
		}
	})
}
