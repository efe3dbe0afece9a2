package bulk

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/meshyard/meshyard/internal/apierror"
	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/account"
	"github.com/meshyard/meshyard/models/collections"
	"github.com/meshyard/meshyard/models/comments"
	"github.com/meshyard/meshyard/models/maintenance"
	"github.com/meshyard/meshyard/models/modelstest"
	"github.com/meshyard/meshyard/models/moderation"
	"github.com/meshyard/meshyard/models/previews"
	"github.com/meshyard/meshyard/models/social"
	"github.com/meshyard/meshyard/models/uploads"
)

// eachStore runs a test on a store of each engine, with a user.
func eachStore(t *testing.T, test func(t *testing.T, s *Store, ada auth.Caller)) {
	modelstest.Each(t, func() {}, func(t *testing.T, core *models.Store, ada auth.Caller) {
		test(t, New(core, collections.New(core)), ada)
	})
}

// thing returns a thing with its tags.
func thing(t *testing.T, s *Store, caller auth.Caller, id int64) (*models.Thing, string) {
	t.Helper()
	found, err := s.core.Thing(t.Context(), caller, models.AllThingFields, id)
	if err != nil {
		t.Fatalf("thing %d: %v", id, err)
	}
	tags, err := s.core.TagsOf(t.Context(), models.AllTagFields, []int64{id})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, g := range tags[id] {
		names = append(names, g.Name)
	}
	return found, strings.Join(names, " ")
}

func update(t *testing.T, s *Store, caller auth.Caller, c Change) *Updated {
	t.Helper()
	u, err := s.Update(t.Context(), caller, c)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// expired ends the time in which updates can be undone.
func expired(t *testing.T, s *Store) {
	t.Helper()
	if _, err := s.core.DB.Write.NewUpdate().Model((*bulkUpdate)(nil)).
		Set("expires_at = ?", models.Now().Add(-time.Second)).Where("1 = 1").Exec(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestUpdateAndUndo(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, ada auth.Caller) {
		ctx := t.Context()
		draft, err := s.core.CreateThing(ctx, ada, models.NewThing{Name: "d", LicenseID: "MIT", Category: "Art",
			Tags: []string{"Old One", "kept"}})
		if err != nil {
			t.Fatal(err)
		}
		published := modelstest.Published(t, s.core, ada)
		collection, err := s.collections.CreateCollection(ctx, ada, collections.NewCollection{Name: "c"})
		if err != nil {
			t.Fatal(err)
		}
		u := update(t, s, ada, Change{
			IDs: []int64{draft.ID, published.ID}, AddTags: []string{"new"}, RemoveTags: []string{"old_one"},
			Category:  new("Toys & Games"),
			LicenseID: new("CC0-1.0"), AddToCollectionIDs: []int64{collection.ID}, State: new(models.Unlisted),
		})
		// The draft has no description, so it cannot be published, and nothing of it may change.
		if err := u.Results[0].Err; err == nil || len(err.Fields) != 2 {
			t.Errorf("draft: got the error %v", err)
		}
		if got, tags := thing(t, s, ada, draft.ID); tags != "Old One kept" || got.SPDX() != "MIT" ||
			got.CategoryID != draft.CategoryID {
			t.Errorf("draft: got the tags %q, the license %s", tags, got.SPDX())
		}
		got, tags := thing(t, s, ada, published.ID)
		if u.Results[1].Err != nil || tags != "new" || got.SPDX() != "CC0-1.0" || got.State != models.Unlisted ||
			got.CategoryID == published.CategoryID || !got.Collected {
			t.Errorf("published: got %+v with the tags %q", got, tags)
		}

		results, err := s.Undo(ctx, ada, u.ID)
		if err != nil || len(results) != 1 || results[0].ID != published.ID || results[0].Err != nil {
			t.Fatalf("undo: got %v and the error %v", results, err)
		}
		got, tags = thing(t, s, ada, published.ID)
		if tags != "" || got.SPDX() != models.CC.SPDX("") || got.State != models.Published ||
			got.CategoryID != published.CategoryID || got.Collected {
			t.Errorf("restored: got %+v with the tags %q", got, tags)
		}
		if _, err := s.Undo(ctx, ada, u.ID); models.CodeOf(err) != models.Conflict {
			t.Errorf("undo again: got the error %v", err)
		}
		// The draft with what it lacks.
		u = update(t, s, ada, Change{IDs: []int64{draft.ID}, AddTags: []string{"OLD one", "new"},
			RemoveTags: []string{"kept", "absent"}})
		if _, tags := thing(t, s, ada, draft.ID); tags != "Old One new" {
			t.Errorf("tags: got %q", tags)
		}
		if _, err := s.core.UpdateThing(ctx, ada, models.ThingChange{ID: draft.ID, Name: new("changed")}); err != nil {
			t.Fatal(err)
		}
		results, err = s.Undo(ctx, ada, u.ID)
		if err != nil || results[0].Err == nil || results[0].Err.Code != models.Conflict {
			t.Errorf("undo of a changed thing: got %v and the error %v", results, err)
		}
		if _, tags := thing(t, s, ada, draft.ID); tags != "Old One new" {
			t.Errorf("a changed thing has the tags %q", tags)
		}
	})
}

func TestDelete(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, ada auth.Caller) {
		ctx := t.Context()
		kept, gone := modelstest.Published(t, s.core, ada), modelstest.Published(t, s.core, ada)
		u := update(t, s, ada, Change{IDs: []int64{kept.ID}, Delete: true})
		if got, _ := thing(t, s, ada, kept.ID); !u.Results[0].IsDeleted || got.State != models.Draft || got.DeletesAt == nil {
			t.Errorf("scheduled: got %+v", got)
		}
		if _, err := s.core.UpdateThing(ctx, ada, models.ThingChange{ID: kept.ID, Name: new("b")}); models.CodeOf(
			err) != models.NotFound {
			t.Errorf("update: got the error %v", err)
		}
		if u := update(t, s, ada, Change{IDs: []int64{kept.ID}, AddTags: []string{"a"}}); u.ID != 0 ||
			u.Results[0].Err.Code != models.NotFound {
			t.Errorf("bulk update: got %+v", u)
		}
		if err := s.Finish(ctx, u.ID); err != nil { // too early
			t.Fatal(err)
		}
		if _, err := s.Undo(ctx, ada, u.ID); err != nil {
			t.Fatal(err)
		}
		if got, _ := thing(t, s, ada, kept.ID); got.State != models.Published || got.DeletesAt != nil {
			t.Errorf("restored: got %+v", got)
		}
		u = update(t, s, ada, Change{IDs: []int64{gone.ID}, Delete: true})
		expired(t, s)
		if _, err := s.Undo(ctx, ada, u.ID); models.CodeOf(err) != models.Conflict ||
			!strings.Contains(err.Error(), "can no longer be undone") {
			t.Errorf("late undo: got the error %v", err)
		}
		// The garbage collection finishes updates whose job was lost.
		if _, err := maintenance.New(s.core, previews.New(s.core), uploads.New(s.core)).
			CollectGarbage(ctx, 0, false); err != nil {
			t.Fatal(err)
		}
		if _, err := s.core.Thing(ctx, ada, models.AllThingFields, gone.ID); models.CodeOf(err) != models.NotFound {
			t.Errorf("deleted: got the error %v", err)
		}
		if n, err := s.core.DB.Read.NewSelect().Model((*bulkUpdate)(nil)).Count(ctx); n != 0 || err != nil {
			t.Errorf("%d updates are left, error %v", n, err)
		}
	})
}

// TestInterruptedUndo checks that a job finishes an undo whose process died after the first thing.
func TestInterruptedUndo(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, ada auth.Caller) {
		var ids []int64
		for range 3 {
			ids = append(ids, modelstest.Published(t, s.core, ada).ID)
		}
		u := update(t, s, ada, Change{IDs: ids, Delete: true})
		// The request ends while the second thing is restored.
		ctx, cancel := context.WithCancel(t.Context())
		s.restored = func(n int) {
			if n == 1 {
				cancel()
			}
		}
		if _, err := s.Undo(ctx, ada, u.ID); err == nil {
			t.Fatal("the undo was not interrupted")
		}
		s.restored = func(int) {}
		expired(t, s)
		if err := s.Finish(t.Context(), u.ID); err != nil {
			t.Fatal(err)
		}
		for _, id := range ids {
			if got, _ := thing(t, s, ada, id); got.State != models.Published {
				t.Errorf("thing %d is a %s", id, got.State)
			}
		}
	})
}

func TestForeignThings(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, ada auth.Caller) {
		ctx := t.Context()
		bob := modelstest.NewUser(t, s.core, "bob")
		mod := modelstest.NewUser(t, s.core, "mod")
		mod.Role, mod.Scopes = auth.Moderator, append(mod.Scopes, auth.Admin)
		published := modelstest.Published(t, s.core, ada)
		draft, err := s.core.CreateThing(ctx, ada, models.NewThing{Name: "d", LicenseID: "MIT", Category: "Art"})
		if err != nil {
			t.Fatal(err)
		}
		own, err := s.collections.CreateCollection(ctx, bob, collections.NewCollection{Name: "c"})
		if err != nil {
			t.Fatal(err)
		}
		ids := []int64{published.ID, draft.ID, 999_999}
		for name, c := range map[string]Change{
			"tags":       {IDs: ids, AddTags: []string{"a"}},
			"state":      {IDs: ids, State: new(models.Draft)},
			"delete":     {IDs: ids, Delete: true},
			"collection": {IDs: ids, AddToCollectionIDs: []int64{own.ID}},
		} {
			for _, r := range update(t, s, bob, c).Results {
				if r.Err == nil || r.Err.Code != models.NotFound || !strings.Contains(r.Err.Message, "does not exist") {
					t.Errorf("%s: thing %d: got %v", name, r.ID, r.Err)
				}
			}
		}
		if got, _ := thing(t, s, ada, published.ID); got.State != models.Published || got.CollectCount != 0 {
			t.Errorf("got %+v", got)
		}
		// A moderator may delete, with a reason, but not change.
		if r := update(t, s, mod, Change{IDs: ids[:1], AddTags: []string{"a"}}).Results[0]; r.Err == nil ||
			r.Err.Code != models.NotFound {
			t.Errorf("moderator: got %v", r.Err)
		}
		if r := update(t, s, mod, Change{IDs: ids[:1], Delete: true}).Results[0]; r.Err == nil || r.Err.Field != "reason" {
			t.Errorf("without a reason: got %v", r.Err)
		}
		u := update(t, s, mod, Change{IDs: ids[:1], Delete: true, Reason: "spam"})
		if _, err := s.Undo(ctx, ada, u.ID); models.CodeOf(err) != models.NotFound {
			t.Errorf("undo by the owner: got the error %v", err)
		}
		expired(t, s)
		if err := s.Finish(ctx, u.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := maintenance.New(s.core, previews.New(s.core), uploads.New(s.core)).
			CollectGarbage(ctx, 0, false); err != nil {
			t.Fatal(err)
		}
		if n, err := s.core.DB.Read.NewSelect().Table("moderation_log").Where("reason = 'spam' AND actor_id = ?", mod.UserID).
			Count(ctx); n != 1 || err != nil {
			t.Errorf("%d entries in the moderation log, error %v", n, err)
		}
	})
}

// TestUndoAfterTakedown checks that undoing an update does not publish what was taken down since.
func TestUndoAfterTakedown(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, ada auth.Caller) {
		mod := modelstest.NewUser(t, s.core, "mod")
		mod.Role, mod.Scopes = auth.Moderator, append(mod.Scopes, auth.Admin)
		published := modelstest.Published(t, s.core, ada)
		u := update(t, s, ada, Change{IDs: []int64{published.ID}, AddTags: []string{"a"}})
		if _, err := moderation.New(s.core, account.New(s.core, account.Objects{Social: social.New(s.core)}),
			comments.New(s.core)).TakeDownThing(t.Context(), mod, published.ID, "spam"); err != nil {
			t.Fatal(err)
		}
		results, err := s.Undo(t.Context(), ada, u.ID)
		if err != nil || results[0].Err == nil || results[0].Err.Code != models.Conflict {
			t.Errorf("got %v and the error %v", results, err)
		}
		if got, _ := thing(t, s, ada, published.ID); got.State != models.Draft || !got.IsTakenDown() {
			t.Errorf("got %+v", got)
		}
	})
}

func TestInvalidUpdates(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, ada auth.Caller) {
		many := make([]int64, MaxThings+1)
		for i := range many {
			many[i] = int64(i + 1)
		}
		one := []int64{1}
		var manyTags []string
		for i := range 101 {
			manyTags = append(manyTags, fmt.Sprint("tag", i))
		}
		for field, c := range map[string]Change{
			"ids":                   {AddTags: []string{"a"}},
			"ids ":                  {IDs: many, AddTags: []string{"a"}},
			"ids  ":                 {IDs: []int64{1, 2, 1}, AddTags: []string{"a"}},
			"addTags[0]":            {IDs: one, AddTags: []string{strings.Repeat("x", 101)}},
			"removeTags":            {IDs: one, RemoveTags: manyTags},
			"licenseId":             {IDs: one, LicenseID: new("nope")},
			"category":              {IDs: one, Category: new("nope")},
			"addToCollectionIds[0]": {IDs: one, AddToCollectionIDs: []int64{77}},
			"delete":                {IDs: one, Delete: true, AddTags: []string{"a"}},
			"reason":                {IDs: one, Delete: true, Reason: "\x00"},
			"":                      {IDs: one},
		} {
			_, err := s.Update(t.Context(), ada, c)
			code := models.CodeOf(err)
			faults := []string{}
			for _, fault := range apierror.Faults(err) {
				faults = append(faults, fault.Field)
			}
			if len(faults) == 0 {
				faults = append(faults, "")
			}
			if code != models.BadInput && code != models.NotFound || !slices.Contains(faults, strings.TrimSpace(field)) {
				t.Errorf("%q: got the error %v about %q", field, err, faults)
			}
		}
		if n, err := s.core.DB.Read.NewSelect().Model((*bulkUpdate)(nil)).Count(t.Context()); n != 0 || err != nil {
			t.Errorf("%d updates are stored, error %v", n, err)
		}
	})
}
