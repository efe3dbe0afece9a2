package graph

import (
	"context"
	"slices"

	"github.com/meshyard/meshyard/graph/model"
	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/fieldset"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/printer"
	"github.com/meshyard/meshyard/models/webhook"
)

func userID(u *models.User) int64        { return u.ID }
func thingID(t *models.Thing) int64      { return t.ID }
func makeID(m *models.Make) int64        { return m.ID }
func commentID(c *models.Comment) int64  { return c.ID }
func webhookID(w *webhook.Webhook) int64 { return w.ID }
func printerID(p *printer.Printer) int64 { return p.ID }

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

// visibleThings returns the thing of each object, or nil for a thing that the caller is not allowed
// to see, for example a thing that was taken down after a make of it was posted.
func visibleThings[O any](ctx context.Context, r *Resolver, objs []O, id func(O) int64) ([]*models.Thing, error) {
	found, err := loadValues(objs, id, func(ids []int64) (map[int64]*models.Thing, error) {
		return thingRows.read(ctx, r, ids, models.ThingAccess)
	})
	return convert(found, err, func(t *models.Thing) *models.Thing {
		if t == nil || t.Allows(caller(ctx)) != nil {
			return nil
		}
		return t
	})
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

// fileKind has the fields of a file by which files are chosen.
var fileKind = fieldset.Of[models.File]("Kind")

// filesOn returns the first matching files of each object after those to skip. Nil kinds or ids
// match all files.
func filesOn[O any](ctx context.Context, r *Resolver, objects []O, on models.TargetType, id func(O) int64, first,
	offset int32, kinds []models.FileKind, ids []int64) ([][]*models.File, error) {
	if err := inRange("first", first, models.MaxFiles); err != nil {
		return nil, err
	}
	if offset < 0 {
		return nil, models.Invalid("offset", "offset: must be at least 0 (got %d)", offset)
	}
	lists, err := loadValues(objects, id, func(targets []int64) (map[int64][]*models.File, error) {
		return r.Store.FilesOn(ctx, selected(ctx, models.AllFileFields).With(fileKind), on, targets)
	})
	return convert(lists, err, func(files []*models.File) []*models.File {
		matching := make([]*models.File, 0, min(len(files), int(first)))
		skip := int(offset)
		for _, f := range files {
			switch {
			case len(matching) == int(first) || kinds != nil && !slices.Contains(kinds, f.Kind) || ids != nil &&
				!slices.Contains(ids, f.ID):
			case skip > 0:
				skip--
			default:
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

// readFunc returns an object that the caller can see, with some fields, by its ID.
type readFunc[O any] = func(context.Context, auth.Caller, fieldset.Set[O], int64) (*O, error)

// afterMark calls mark, which adds a like or watch, and returns the object that it marks.
func afterMark[O any](ctx context.Context, mark markFunc, on models.TargetType, id int64,
	read readFunc[O]) (*O, error) {
	if err := mark(ctx, caller(ctx), models.Target{Type: on, ID: id}); err != nil {
		return nil, err
	}
	return read(ctx, caller(ctx), selected(ctx, models.AllFields[O]()), id)
}

// afterUnmark calls unmark, which removes a like or watch, and returns the object. It returns nil
// if the caller can no longer see the object, or if it was deleted in the meantime: the like or
// watch is removed in any case.
func afterUnmark[O any](ctx context.Context, unmark markFunc, on models.TargetType, id int64,
	read readFunc[O]) (*O, error) {
	if err := unmark(ctx, caller(ctx), models.Target{Type: on, ID: id}); err != nil {
		return nil, err
	}
	object, err := read(ctx, caller(ctx), selected(ctx, models.AllFields[O]()), id)
	if code := models.CodeOf(err); code == models.Forbidden || code == models.NotFound {
		return nil, nil
	}
	return object, err
}

// inOrder reads at most maxFirst objects and returns them in the order of their IDs, without
// those that do not exist or that the caller cannot see.
func inOrder[O any, P interface {
	*O
	model.Node
}](ctx context.Context, r *Resolver, ids []int64, of rows[O]) ([]*O, error) {
	ids = ids[:min(len(ids), maxFirst)]
	found, err := of.read(ctx, r, ids, accessTo[O]())
	if err != nil {
		return nil, err
	}
	objects := make([]*O, 0, len(found))
	all := make([]model.Node, 0, len(found))
	for _, o := range found {
		all = append(all, P(o))
	}
	hidden, err := r.hidden(ctx, all)
	for _, id := range ids {
		if o := found[id]; o != nil && hidden[P(o)] == nil {
			objects = append(objects, o)
		}
	}
	return objects, err
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
