package graph

import (
	"context"
	"fmt"
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

func tags(names []string) []*Tag {
	shown := make([]*Tag, len(names))
	for i, name := range names {
		shown[i] = &Tag{Name: name}
	}
	return shown
}

// filesOn gives for each object the first of its files that are wanted.
func filesOn[O comparable](ctx context.Context, objs []O, on models.TargetType, id func(O) int64, first int32, wanted func(*models.File) bool) ([][]*models.File, error) {
	if first < 1 || first > models.MaxFiles {
		e := BadInput("first", "first: %d is not between 1 and %d", first, models.MaxFiles)
		e.Limit = models.MaxFiles
		return nil, e
	}
	return each(ctx, objs, loadersOf(ctx).filesOn[on], id, func(files []*models.File) []*models.File {
		shown := make([]*models.File, 0, min(len(files), int(first)))
		for _, f := range files {
			if len(shown) < int(first) && wanted(f) {
				shown = append(shown, f)
			}
		}
		return shown
	})
}

func anyFile(*models.File) bool { return true }

// formatSize writes a size in steps of 1024, cut and not rounded, as clients of the old API show it.
func formatSize(n int64) string {
	unit := 0
	for n >= 1024 && unit < 4 {
		n /= 1024
		unit++
	}
	return fmt.Sprintf("%d %s", n, [...]string{"b", "kb", "mb", "gb", "tb"}[unit])
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
			found, err = each(ctx, objs[i:i+1], &l.things, key, func(t *models.Thing) any { return t })
		case models.OnMake:
			found, err = each(ctx, objs[i:i+1], &l.makes, key, func(m *models.Make) any { return m })
		default:
			found, err = each(ctx, objs[i:i+1], &l.comments, key, func(c *models.Comment) any { return c })
		}
		if err != nil {
			return nil, err
		}
		shown[i] = found[0].(T)
	}
	return shown, nil
}
