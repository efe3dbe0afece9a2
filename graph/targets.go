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

// ownID returns a function that returns the ID of the caller, or 0 for other users. The private
// lists of other users are neither read nor returned.
func ownID(ctx context.Context) func(*models.User) int64 {
	own := caller(ctx).UserID
	return func(u *models.User) int64 {
		if u.ID == own {
			return own
		}
		return 0
	}
}

// asActor converts a user to an actor, and a nil user to nil.
func asActor(u *models.User) model.Actor {
	if u == nil {
		return nil
	}
	return u
}

// visibleThing returns a function that returns nil for a thing that the caller is not allowed to
// see, for example a thing that was taken down after a make of it was posted.
func visibleThing(ctx context.Context) func(*models.Thing) *models.Thing {
	return func(t *models.Thing) *models.Thing {
		if t == nil || t.Allows(caller(ctx)) != nil {
			return nil
		}
		return t
	}
}

// visibleFile returns a function that returns nil for a file that the caller is not allowed to see.
func visibleFile(ctx context.Context) func(*models.File) *models.File {
	return func(f *models.File) *models.File {
		if f == nil || f.Allows(caller(ctx)) != nil {
			return nil
		}
		return f
	}
}

// filesOn returns the first matching files of each object. Nil kinds or ids match all files.
func filesOn[O comparable](ctx context.Context, objects []O, on models.TargetType, id func(O) int64, first int32, kinds []models.FileKind, ids []int64) ([][]*models.File, error) {
	if err := inRange("first", first, models.MaxFiles); err != nil {
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

// countOf returns the number of files of the given kinds. Nil kinds means all kinds.
func countOf(counts map[models.FileKind]int64, kinds []models.FileKind) (n int32) {
	for kind, count := range counts {
		if kinds == nil || slices.Contains(kinds, kind) {
			n += int32(count)
		}
	}
	return n
}

// markFunc likes or watches a target, or removes the like or watch.
type markFunc func(context.Context, auth.Caller, models.Target) error

// readFunc returns an object that the caller can see, by its ID.
type readFunc[O any] func(context.Context, auth.Caller, int64) (*O, error)

// afterMark calls mark, which adds a like or watch, and returns the object that it marks.
func afterMark[O any](ctx context.Context, mark markFunc, on models.TargetType, id int64, read readFunc[O]) (*O, error) {
	if err := mark(ctx, caller(ctx), models.Target{Type: on, ID: id}); err != nil {
		return nil, err
	}
	return read(ctx, caller(ctx), id)
}

// afterUnmark calls unmark, which removes a like or watch, and returns the object. It returns nil
// if the caller can no longer see the object, or if it was deleted in the meantime: the like or
// watch is removed in any case.
func afterUnmark[O any](ctx context.Context, unmark markFunc, on models.TargetType, id int64, read readFunc[O]) (*O, error) {
	if err := unmark(ctx, caller(ctx), models.Target{Type: on, ID: id}); err != nil {
		return nil, err
	}
	object, err := read(ctx, caller(ctx), id)
	if code := models.CodeOf(err); code == models.Forbidden || code == models.NotFound {
		return nil, nil
	}
	return object, err
}

// targets returns the target of each object. If a target was deleted in the meantime, it returns
// errStale and marks the operation as stale.
func targets[T any, O comparable](ctx context.Context, objects []O, of func(O) (models.Target, bool)) ([]T, error) {
	results := make([]T, len(objects))
	for i, o := range objects {
		if _, ok := of(o); !ok {
			continue
		}
		found, err := targetOf(ctx, o, of)
		if err != nil {
			return nil, err
		}
		if found == nil {
			return nil, stale(ctx)
		}
		if err := checkVisible(ctx, found); err != nil {
			return nil, err
		}
		results[i] = found.(T)
	}
	return results, nil
}

// visibleTargets returns the target of each object, or nil if it was deleted or the caller is not
// allowed to see it.
func visibleTargets[T any, O comparable](ctx context.Context, objects []O, of func(O) (models.Target, bool)) ([]T, error) {
	results := make([]T, len(objects))
	for i, o := range objects {
		found, err := targetOf(ctx, o, of)
		if err != nil {
			return nil, err
		}
		if found != nil && checkVisible(ctx, found) == nil {
			results[i] = found.(T)
		}
	}
	return results, nil
}

// targetOf returns the target of an object, or nil if it was deleted. It executes one statement for
// each type of target of the objects in the batch.
func targetOf[O comparable](ctx context.Context, object O, of func(O) (models.Target, bool)) (any, error) {
	l := loadersOf(ctx)
	switch t, _ := of(object); t.Type {
	case models.OnThing:
		return loadTarget(ctx, object, t.Type, of, l.things)
	case models.OnMake:
		return loadTarget(ctx, object, t.Type, of, l.makes)
	case models.OnComment:
		return loadTarget(ctx, object, t.Type, of, l.comments)
	case models.OnCollection:
		return loadTarget(ctx, object, t.Type, of, l.collections)
	case models.OnFile:
		return loadTarget(ctx, object, t.Type, of, l.files)
	default:
		return loadTarget(ctx, object, t.Type, of, l.targetUsers)
	}
}

func loadTarget[O comparable, V any](ctx context.Context, object O, on models.TargetType, of func(O) (models.Target, bool), loader *batch.Loader[*V]) (any, error) {
	found, err := batch.LoadAs(ctx, []O{object}, loader, func(o O) int64 {
		if t, ok := of(o); ok && t.Type == on {
			return t.ID
		}
		return 0
	}, nilOrValue)
	if err != nil {
		return nil, err
	}
	return found[0], nil
}

// inOrder reads at most maxFirst objects and returns them in the order of their IDs, without
// those that do not exist or that the caller cannot see.
func inOrder[O any](ctx context.Context, ids []int64, read func(context.Context, []int64) (map[int64]*O, error)) ([]*O, error) {
	ids = ids[:min(len(ids), maxFirst)]
	found, err := read(ctx, ids)
	objects := make([]*O, 0, len(found))
	for _, id := range ids {
		if o := found[id]; o != nil && checkVisible(ctx, o) == nil {
			objects = append(objects, o)
		}
	}
	batch.Add(batch.FromContext(ctx), objects)
	return objects, err
}

// nilOrValue converts a pointer to an interface. A nil pointer becomes a nil interface.
func nilOrValue[V any](v *V) any {
	if v == nil {
		return nil
	}
	return v
}

// checkVisible returns Forbidden or NotFound if the caller is not allowed to see an object, for
// example because it was taken down.
func checkVisible(ctx context.Context, target any) error {
	switch t := target.(type) {
	case *models.Make:
		return checkVisibleMake(ctx, t)
	case *models.User:
		if t.DeletedAt != nil {
			return &models.Error{Code: models.NotFound, Message: "the user was deleted"}
		}
	case *models.Comment:
		_, err := targets[model.Commentable](ctx, []*models.Comment{t}, commentTarget)
		return err
	case interface{ Allows(auth.Caller) error }:
		return t.Allows(caller(ctx))
	}
	return nil
}

// checkVisibleMake returns an error if the caller is not allowed to see the make. The creator of a
// make can always see it, even if its thing is hidden or deleted.
func checkVisibleMake(ctx context.Context, m *models.Make) error {
	if err := m.Allows(caller(ctx)); err != nil || m.ThingID == 0 || m.OwnerID == caller(ctx).UserID {
		return err
	}
	things, err := batch.Load(ctx, []*models.Make{m}, loadersOf(ctx).things, func(m *models.Make) int64 { return m.ThingID })
	if err != nil || things[0] == nil { // the thing was deleted after the make was read
		return err
	}
	return things[0].Allows(caller(ctx))
}

// fileTarget returns the object that a file is attached to. ok is false for a pending upload and
// for the images of users, which are not Attachable in the schema.
func fileTarget(f *models.File) (models.Target, bool) {
	t, ok := f.Target()
	return t, ok && t.Type != models.OnAvatar && t.Type != models.OnCover
}

func commentTarget(c *models.Comment) (models.Target, bool) {
	return models.Target{Type: c.TargetType, ID: c.TargetID}, true
}
