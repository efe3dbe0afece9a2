package graph

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/meshyard/meshyard/models"
)

// How long the addresses of bytes work that carry a signature instead of being public.
const (
	directFor   = time.Hour        // one that stands in a record and may be kept for a while
	downloadFor = 10 * time.Minute // one that a tracked download leads to
)

func userID(u *models.User) int64   { return u.ID }
func thingID(t *models.Thing) int64 { return t.ID }

func makeID(m *models.Make) int64       { return m.ID }
func commentID(c *models.Comment) int64 { return c.ID }

// shownTo leaves out a thing that is taken down since somebody made it, unless the caller may see it all the same.
func shownTo(ctx context.Context) func(*models.Thing) *models.Thing {
	return func(t *models.Thing) *models.Thing {
		if t == nil || t.Allows(caller(ctx)) != nil {
			return nil
		}
		return t
	}
}

// fileShownTo leaves out a file that the caller may see no more: it hangs on a draft that he saw as one of the staff.
func fileShownTo(ctx context.Context) func(*models.File) *models.File {
	return func(f *models.File) *models.File {
		if f == nil || f.Allows(caller(ctx)) != nil {
			return nil
		}
		return f
	}
}

// listed is a list that is empty where there is none, and not null.
func listed[V any](list []V) []V {
	if list == nil {
		return []V{}
	}
	return list
}

// between checks a number that was given.
func between(name string, n, least, most int32) error {
	if n < least || n > most {
		e := BadInput(name, "%s: %d is not between %d and %d", name, n, least, most)
		e.Limit = int64(most)
		return e
	}
	return nil
}

// thingList names the list of things in an order.
func thingList(sort models.Sort) string { return "things " + string(sort) }

// listing gives a numbered page of all published things in an order.
func (r *Resolver) listing(ctx context.Context, sort models.Sort, page, perPage int32, after *string) ([]*models.Thing, error) {
	if err := between("perPage", perPage, 1, maxFirst); err != nil {
		return nil, err
	}
	list, err := r.Store.Things(models.Filter{}, sort)
	if err != nil {
		return nil, err
	}
	at := span{first: &perPage, page: &page, after: after}
	if after != nil {
		at.page = nil
	}
	c, err := thingsOf(ctx, thingList(sort), list, at, loadersOf(ctx).whole, rootID)
	if err != nil {
		return nil, err
	}
	return c.Nodes, nil
}

// names gives the names of the first things that were found, none twice.
func (r *Resolver) names(ctx context.Context, found *models.Found, wanted int) ([]string, error) {
	pages, err := found.Page(ctx, []int64{0}, models.Slice{First: maxFirst})
	if err != nil {
		return nil, err
	}
	entries := pages[0].Entries
	gather(loadersOf(ctx), entries)
	things, err := each(ctx, entries, &loadersOf(ctx).things, func(e *models.Entry) int64 { return e.NodeID }, same)
	names, seen := []string{}, make(map[string]bool)
	for _, t := range things {
		if t != nil && len(names) < wanted && !seen[strings.ToLower(t.Name)] {
			seen[strings.ToLower(t.Name)] = true
			names = append(names, t.Name)
		}
	}
	return names, err
}

// liked gives what was liked, or is no more.
func (r *Resolver) liked(ctx context.Context, target models.Target) (LikeTarget, error) {
	if target.Type == models.OnMake {
		return r.Store.Make(ctx, caller(ctx), target.ID)
	}
	return r.Store.Thing(ctx, caller(ctx), target.ID)
}

// explain tells what makes up the popularity of a thing.
func explain(days []models.PopularityDay) *Popularity {
	shown := &Popularity{Days: make([]*models.PopularityDay, len(days))}
	for i, d := range days {
		shown.Days[i] = &d
		shown.Score += d.Points()
	}
	return shown
}

// filesOn gives for each object the first of its files that are wanted.
func filesOn[O comparable](ctx context.Context, objs []O, on models.TargetType, id func(O) int64, first int32, kinds []models.FileKind, ids []int64) ([][]*models.File, error) {
	if first < 1 || first > models.MaxFiles {
		e := BadInput("first", "first: %d is not between 1 and %d", first, models.MaxFiles)
		e.Limit = models.MaxFiles
		return nil, e
	}
	return each(ctx, objs, loadersOf(ctx).filesOn[on], id, func(files []*models.File) []*models.File {
		shown := make([]*models.File, 0, min(len(files), int(first)))
		for _, f := range files {
			if len(shown) < int(first) && (kinds == nil || slices.Contains(kinds, f.Kind)) && (ids == nil || slices.Contains(ids, f.ID)) {
				shown = append(shown, f)
			}
		}
		return shown
	})
}

// formatSize writes a size in steps of 1024, cut and not rounded, as clients of the old API show it.
func formatSize(n int64) string {
	unit := 0
	for n >= 1024 && unit < 4 {
		n /= 1024
		unit++
	}
	return fmt.Sprintf("%d %s", n, [...]string{"b", "kb", "mb", "gb", "tb"}[unit])
}

// unlessNil is nil for a nil pointer.
func unlessNil[V any](v *V) any {
	if v == nil {
		return nil
	}
	return v
}

// targets gives for each object what it refers to, in one statement for each type of target.
func targets[T any, O comparable](ctx context.Context, objs []O, of func(O) (models.Target, bool)) ([]T, error) {
	l := loadersOf(ctx)
	shown := make([]T, len(objs))
	for i, o := range objs {
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
			found, err = each(ctx, objs[i:i+1], &l.things, key, unlessNil)
		case models.OnMake:
			found, err = each(ctx, objs[i:i+1], &l.makes, key, unlessNil)
		default:
			found, err = each(ctx, objs[i:i+1], &l.comments, key, unlessNil)
		}
		if err != nil {
			return nil, err
		}
		if found[0] == nil {
			return nil, errChanged
		}
		if err := shows(ctx, found[0]); err != nil {
			return nil, err
		}
		shown[i] = found[0].(T)
	}
	return shown, nil
}

// shows tells whether what something refers to shows itself to the caller: it may have been taken down, or be a draft that he saw as one of the staff.
func shows(ctx context.Context, target any) error {
	switch t := target.(type) {
	case *models.Thing:
		return t.Allows(caller(ctx))
	case *models.Make:
		return t.Allows(caller(ctx))
	case *models.Comment:
		_, err := targets[CommentTarget](ctx, []*models.Comment{t}, targetOfComment)
		return err
	}
	return nil
}

func targetOfComment(c *models.Comment) (models.Target, bool) {
	return models.Target{Type: c.TargetType, ID: c.TargetID}, true
}
