package graph

import (
	"context"
	"slices"

	"github.com/meshyard/meshyard/graph/batch"
	"github.com/meshyard/meshyard/graph/model"
	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models"
)

func userID(u *models.User) int64       { return u.ID }
func thingID(t *models.Thing) int64     { return t.ID }
func makeID(m *models.Make) int64       { return m.ID }
func commentID(c *models.Comment) int64 { return c.ID }
func webhookID(w *models.Webhook) int64 { return w.ID }

// ownID returns a function that returns the id of the caller, and 0 for other users, whose private
// lists are neither shown nor read.
func ownID(ctx context.Context) func(*models.User) int64 {
	own := caller(ctx).UserID
	return func(u *models.User) int64 {
		if u.ID == own {
			return own
		}
		return 0
	}
}

// asActor returns a user as an actor, nil if there is none.
func asActor(u *models.User) model.Actor {
	if u == nil {
		return nil
	}
	return u
}

// visibleThing returns a function that replaces a thing that the caller may not see by nil, such as
// one that was taken down after it was made.
func visibleThing(ctx context.Context) func(*models.Thing) *models.Thing {
	return func(t *models.Thing) *models.Thing {
		if t == nil || t.Allows(caller(ctx)) != nil {
			return nil
		}
		return t
	}
}

// visibleFile returns a function that replaces a file that the caller may not see by nil.
func visibleFile(ctx context.Context) func(*models.File) *models.File {
	return func(f *models.File) *models.File {
		if f == nil || f.Allows(caller(ctx)) != nil {
			return nil
		}
		return f
	}
}

// filesOn returns, for each object, the first of its files that match.
func filesOn[O comparable](ctx context.Context, objects []O, on models.TargetType, id func(O) int64, first int32, kinds []models.FileKind, ids []int64) ([][]*models.File, error) {
	if err := inRange("first", first, 1, models.MaxFiles); err != nil {
		return nil, err
	}
	return batch.LoadAs(ctx, objects, loadersOf(ctx).filesOn[on], id, func(files []*models.File) []*models.File {
		matching := make([]*models.File, 0, min(len(files), int(first)))
		for _, f := range files {
			if len(matching) < int(first) && (kinds == nil || slices.Contains(kinds, f.Kind)) && (ids == nil || slices.Contains(ids, f.ID)) {
				matching = append(matching, f)
			}
		}
		return matching
	})
}

// countOf returns how many files have one of the kinds. No list means all kinds.
func countOf(counts map[models.FileKind]int64, kinds []models.FileKind) (n int32) {
	for kind, count := range counts {
		if kinds == nil || slices.Contains(kinds, kind) {
			n += int32(count)
		}
	}
	return n
}

// markFunc likes or watches a target, or takes that back.
type markFunc func(context.Context, auth.Caller, models.Target) error

// afterThing calls mark on a thing and returns the thing, or nil if a mark was taken back of one
// that the caller can no longer see.
func (r *Resolver) afterThing(ctx context.Context, mark markFunc, id int64) (*models.Thing, error) {
	if err := mark(ctx, caller(ctx), models.Target{Type: models.OnThing, ID: id}); err != nil {
		return nil, err
	}
	return unlessHidden(r.Store.Thing(ctx, caller(ctx), id))
}

// afterMake does for makes what afterThing does for things.
func (r *Resolver) afterMake(ctx context.Context, mark markFunc, id int64) (*models.Make, error) {
	if err := mark(ctx, caller(ctx), models.Target{Type: models.OnMake, ID: id}); err != nil {
		return nil, err
	}
	return unlessHidden(r.Store.Make(ctx, caller(ctx), id))
}

// afterCollection does for collections what afterThing does for things.
func (r *Resolver) afterCollection(ctx context.Context, mark markFunc, id int64) (*models.Collection, error) {
	if err := mark(ctx, caller(ctx), models.Target{Type: models.OnCollection, ID: id}); err != nil {
		return nil, err
	}
	return unlessHidden(r.Store.Collection(ctx, caller(ctx), id))
}

// unlessHidden returns nil for an object that the caller may not see.
func unlessHidden[O any](object *O, err error) (*O, error) {
	if models.CodeOf(err) == models.Forbidden {
		return nil, nil
	}
	return object, err
}

// targets returns the object that each of objects refers to. It takes one statement for each type
// of target.
func targets[T any, O comparable](ctx context.Context, objects []O, of func(O) (models.Target, bool)) ([]T, error) {
	l := loadersOf(ctx)
	results := make([]T, len(objects))
	for i, o := range objects {
		target, ok := of(o)
		if !ok {
			continue
		}
		key := func(o O) int64 {
			if t, ok := of(o); ok && t.Type == target.Type {
				return t.ID
			}
			return 0
		}
		var found []any
		var err error
		switch target.Type {
		case models.OnThing:
			found, err = batch.LoadAs(ctx, objects[i:i+1], l.things, key, nilOrValue)
		case models.OnMake:
			found, err = batch.LoadAs(ctx, objects[i:i+1], l.makes, key, nilOrValue)
		default:
			found, err = batch.LoadAs(ctx, objects[i:i+1], l.comments, key, nilOrValue)
		}
		if err != nil {
			return nil, err
		}
		if found[0] == nil {
			return nil, stale(ctx)
		}
		if err := checkVisible(ctx, found[0]); err != nil {
			return nil, err
		}
		results[i] = found[0].(T)
	}
	return results, nil
}

// nilOrValue converts a pointer to an interface that is nil if the pointer is.
func nilOrValue[V any](v *V) any {
	if v == nil {
		return nil
	}
	return v
}

// checkVisible returns an error if the caller may not see the target, which may have been taken
// down.
func checkVisible(ctx context.Context, target any) error {
	switch t := target.(type) {
	case *models.Thing:
		return t.Allows(caller(ctx))
	case *models.Make:
		return checkVisibleMake(ctx, t)
	case *models.File:
		return t.Allows(caller(ctx))
	case *models.Collection:
		return t.Allows(caller(ctx))
	case *models.User:
		if t.DeletedAt != nil {
			return &models.Error{Code: models.NotFound, Message: "the user was deleted"}
		}
	case *models.Comment:
		_, err := targets[model.Commentable](ctx, []*models.Comment{t}, commentTarget)
		return err
	}
	return nil
}

// checkVisibleMake returns an error if the caller may not see the make. The creator of a make sees
// it whatever became of its thing.
func checkVisibleMake(ctx context.Context, m *models.Make) error {
	if err := m.Allows(caller(ctx)); err != nil || m.ThingID == 0 || m.OwnerID == caller(ctx).UserID {
		return err
	}
	things, err := batch.Load(ctx, []*models.Make{m}, loadersOf(ctx).things, func(m *models.Make) int64 { return m.ThingID })
	if err != nil || things[0] == nil { // deleted since the make was read
		return err
	}
	return things[0].Allows(caller(ctx))
}

// fileTarget returns what a file is attached to. The images of users are attached to no object of
// the interface Attachable.
func fileTarget(f *models.File) (models.Target, bool) {
	t, ok := f.Target()
	return t, ok && t.Type != models.OnAvatar && t.Type != models.OnCover
}

func commentTarget(c *models.Comment) (models.Target, bool) {
	return models.Target{Type: c.TargetType, ID: c.TargetID}, true
}
