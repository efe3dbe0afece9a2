package graph

import (
	"context"
	"slices"

	"github.com/meshyard/meshyard/graph/model"
	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/fieldset"
	"github.com/meshyard/meshyard/models"
)

// An object can refer to others that the caller is not allowed to see, for example because they
// were taken down. The functions in this file read such objects of several types, and check which
// of them the caller may see: one statement for each type, and one for each type on which that
// depends.

// accessTo returns the fields of a row that decide who may see it.
func accessTo[T any]() (set fieldset.Set[T]) {
	switch set := any(&set).(type) {
	case *models.ThingFields:
		*set = models.ThingAccess
	case *models.MakeFields:
		*set = models.MakeAccess
	case *models.CommentFields:
		*set = models.CommentAccess
	case *models.CollectionFields:
		*set = models.CollectionAccess
	case *models.FileFields:
		*set = models.FileAccess
	case *models.UserFields:
		*set = models.UserAccess
	}
	return set // the IDs of other rows are read with what Allows needs
}

// readAny reads rows of one type, with the fields that the operation selects and those that decide
// who may see them.
func readAny[T any, P interface {
	*T
	model.Node
}](of rows[T]) nodeReader {
	return func(ctx context.Context, r *Resolver, ids []int64) (map[int64]model.Node, error) {
		found, err := of.read(ctx, r, ids, accessTo[T]())
		objects := make(map[int64]model.Node, len(found))
		for id, o := range found {
			objects[id] = P(o)
		}
		return objects, err
	}
}

// nodeReader reads the objects with the given IDs.
type nodeReader func(ctx context.Context, r *Resolver, ids []int64) (map[int64]model.Node, error)

// readerOf returns the function that reads the targets of one type.
func readerOf(on models.TargetType) nodeReader {
	switch on {
	case models.OnThing:
		return readAny(thingRows)
	case models.OnMake:
		return readAny(makeRows)
	case models.OnComment:
		return readAny(commentRows)
	case models.OnCollection:
		return readAny(collectionRows)
	case models.OnFile:
		return readAny(fileRows)
	}
	return readAny(userRows)
}

// readTargets returns the targets that exist, by type and ID, and why the caller may not see some
// of them.
func (r *Resolver) readTargets(ctx context.Context,
	wanted []models.Target) (found map[models.Target]model.Node, hidden map[model.Node]error, err error) {
	ids := make(map[models.TargetType][]int64)
	for _, t := range wanted {
		if !slices.Contains(ids[t.Type], t.ID) {
			ids[t.Type] = append(ids[t.Type], t.ID)
		}
	}
	found = make(map[models.Target]model.Node, len(wanted))
	var all []model.Node
	for on, ids := range ids {
		read, err := readerOf(on)(ctx, r, ids)
		if err != nil {
			return nil, nil, err
		}
		for id, o := range read {
			found[models.Target{Type: on, ID: id}] = o
			all = append(all, o)
		}
	}
	hidden, err = r.hidden(ctx, all)
	return found, hidden, err
}

// hidden returns, for each object that the caller is not allowed to see, the reason: Forbidden or
// NotFound.
func (r *Resolver) hidden(ctx context.Context, objects []model.Node) (map[model.Node]error, error) {
	reasons := make(map[model.Node]error)
	var ofMakes []*models.Make       // those that are visible if their things are
	var ofComments []*models.Comment // those that are visible if their targets are
	for _, o := range objects {
		switch o := o.(type) {
		case *models.Make:
			if err := o.Allows(caller(ctx)); err != nil {
				reasons[o] = err
			} else if o.ThingID != 0 && o.OwnerID != caller(ctx).UserID {
				// The creator of a make can always see it, even if its thing is hidden or deleted.
				ofMakes = append(ofMakes, o)
			}
		case *models.Comment:
			ofComments = append(ofComments, o)
		case *models.User:
			if o.DeletedAt != nil {
				reasons[o] = &models.Error{Code: models.NotFound, Message: "the user was deleted"}
			}
		case interface {
			model.Node
			Allows(auth.Caller) error
		}:
			if err := o.Allows(caller(ctx)); err != nil {
				reasons[o] = err
			}
		}
	}
	thingsOfMakes, err := loadValues(ofMakes, func(m *models.Make) int64 { return m.ThingID },
		func(ids []int64) (map[int64]*models.Thing, error) {
			return models.ByIDs(ctx, r.Store.Store, caller(ctx), models.ThingAccess, ids)
		})
	if err != nil {
		return nil, err
	}
	for i, t := range thingsOfMakes {
		if t == nil {
			continue // deleted after the make was read
		}
		if err := t.Allows(caller(ctx)); err != nil {
			reasons[ofMakes[i]] = err
		}
	}
	if len(ofComments) == 0 {
		return reasons, nil
	}
	return reasons, r.hiddenComments(ctx, ofComments, reasons)
}

// hiddenComments adds the reasons why the caller is not allowed to see comments: those of their
// targets.
func (r *Resolver) hiddenComments(ctx context.Context, comments []*models.Comment, reasons map[model.Node]error) error {
	of := func(on models.TargetType) func(*models.Comment) int64 {
		return func(c *models.Comment) int64 {
			if c.TargetType != on {
				return 0
			}
			return c.TargetID
		}
	}
	onThings, err := loadValues(comments, of(models.OnThing), func(ids []int64) (map[int64]*models.Thing, error) {
		return models.ByIDs(ctx, r.Store.Store, caller(ctx), models.ThingAccess, ids)
	})
	if err != nil {
		return err
	}
	onMakes, err := loadValues(comments, of(models.OnMake), func(ids []int64) (map[int64]*models.Make, error) {
		return models.ByIDs(ctx, r.Store.Store, caller(ctx), models.MakeAccess, ids)
	})
	if err != nil {
		return err
	}
	var targets []model.Node
	for i := range comments {
		switch {
		case onThings[i] != nil:
			targets = append(targets, onThings[i])
		case onMakes[i] != nil:
			targets = append(targets, onMakes[i])
		default:
			return stale(ctx) // deleted after the comment was read
		}
	}
	hidden, err := r.hidden(ctx, targets)
	for i, c := range comments {
		if reason := hidden[targets[i]]; reason != nil {
			reasons[c] = reason
		}
	}
	return err
}

// targets returns the target of each object. If a target was deleted in the meantime, it returns
// errStale and marks the operation as stale.
func targets[T, O any](ctx context.Context, r *Resolver, objects []O, of func(O) (models.Target, bool)) ([]T, error) {
	results := make([]T, len(objects))
	found, hidden, err := r.readTargets(ctx, targetsOf(objects, of))
	if err != nil {
		return nil, err
	}
	for i, o := range objects {
		t, ok := of(o)
		if !ok {
			continue
		}
		target := found[t]
		if target == nil {
			return nil, stale(ctx)
		}
		if err := hidden[target]; err != nil {
			return nil, err
		}
		results[i] = target.(T)
	}
	return results, nil
}

// visibleTargets returns the target of each object, or nil if it was deleted or the caller is not
// allowed to see it.
func visibleTargets[T, O any](ctx context.Context, r *Resolver, objects []O,
	of func(O) (models.Target, bool)) ([]T, error) {
	results := make([]T, len(objects))
	found, hidden, err := r.readTargets(ctx, targetsOf(objects, of))
	for i, o := range objects {
		if t, ok := of(o); ok && found[t] != nil && hidden[found[t]] == nil {
			results[i] = found[t].(T)
		}
	}
	return results, err
}

func targetsOf[O any](objects []O, of func(O) (models.Target, bool)) []models.Target {
	var all []models.Target
	for _, o := range objects {
		if t, ok := of(o); ok {
			all = append(all, t)
		}
	}
	return all
}

// fileTargets returns the target of each file, or nil for one that the caller is not allowed to
// see, such as a comment on a thing that was taken down.
func (r *Resolver) fileTargets(ctx context.Context, files []*models.File) ([]model.Attachable, error) {
	results := make([]model.Attachable, len(files))
	// A file is read with what decides who may see its thing, so a thing of which only the ID is
	// selected need not be read.
	onlyID := fieldset.Of[models.Thing]("ID").Has(selected(ctx, models.AllThingFields))
	var others []models.Target
	for i, f := range files {
		t, ok := fileTarget(f)
		switch {
		case !ok:
		case onlyID && t.Type == models.OnThing && f.ThingState != "":
			if thing := f.Thing(); thing.Allows(caller(ctx)) == nil {
				results[i] = thing
			}
		default:
			others = append(others, t)
		}
	}
	if len(others) == 0 {
		return results, nil
	}
	found, hidden, err := r.readTargets(ctx, others)
	if err != nil {
		return nil, err
	}
	for i, f := range files {
		t, ok := fileTarget(f)
		if !ok || results[i] != nil || onlyID && t.Type == models.OnThing && f.ThingState != "" {
			continue
		}
		target := found[t]
		if target == nil {
			return nil, stale(ctx)
		}
		switch reason := hidden[target]; {
		case reason == nil:
			results[i] = target.(model.Attachable)
		case models.CodeOf(reason) != models.Forbidden:
			return nil, reason
		}
	}
	return results, nil
}
