package models

import (
	"slices"
	"testing"

	"github.com/meshyard/meshyard/internal/auth"
)

// TestUnusedTagsAreRemoved checks that garbage collection removes the tags that no thing has, keeps
// those of drafts, and waits for the end of an import.
func TestUnusedTagsAreRemoved(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, ada auth.Caller) {
		ctx := t.Context()
		collect := func(want ...string) {
			t.Helper()
			if _, err := s.FoldCounts(ctx); err != nil {
				t.Fatal(err)
			}
			if _, err := s.CollectGarbage(ctx, 0, false); err != nil {
				t.Fatal(err)
			}
			var slugs []string
			if err := s.db.Read.NewSelect().Model((*Tag)(nil)).Column("g.slug").Order("g.slug").Scan(ctx, &slugs); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(slugs, want) {
				t.Errorf("got the tags %q, want %q", slugs, want)
			}
		}
		set := func(thing int64, tags ...string) {
			t.Helper()
			if _, err := s.UpdateThing(ctx, ada, ThingChange{ID: thing, Tags: tags}); err != nil {
				t.Fatal(err)
			}
		}
		public, _ := published(t, s, ada)
		draft, err := s.CreateThing(ctx, ada, NewThing{Name: "b", License: CC, Category: "Art"})
		if err != nil {
			t.Fatal(err)
		}
		set(public.ID, "shared", "old", "older")
		set(draft.ID, "shared", "private", "old")
		collect("old", "older", "private", "shared")
		set(public.ID, "shared", "new")
		collect("new", "old", "private", "shared")
		set(draft.ID, "private")
		for _, row := range []any{&importRow{Source: "a catalogue", StartedAt: now()}, &archiveImport{Source: "an archive", Noun: "things", LeftOut: "{}", StartedAt: now()}} {
			if _, err := s.db.Write.NewInsert().Model(row).Exec(ctx); err != nil {
				t.Fatal(err)
			}
			collect("new", "old", "private", "shared")
			if _, err := s.db.Write.NewDelete().Model(row).WherePK().Exec(ctx); err != nil {
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
		if changed, err := s.Recount(ctx); changed != 0 || err != nil {
			t.Errorf("a recount changed %d counts (%v), want 0", changed, err)
		}
	})
}
