package fsck

import (
	"context"
	"strconv"

	"golang.org/x/sync/errgroup"

	"github.com/meshyard/meshyard/models"
)

// atOnce calls fn with each of the items, with as many concurrently as there are workers.
func atOnce[T any](ctx context.Context, workers int, items []T, fn func(context.Context, T) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(workers)
	for _, item := range items {
		group.Go(func() error { return fn(ctx, item) })
	}
	return group.Wait()
}

// idAfter returns the ID of a position.
func idAfter(position string) int64 {
	id, _ := strconv.ParseInt(position, 10, 64) // 0: the beginning
	return id
}

// eachID calls fn with the IDs of a table, in pages.
func (r *run) eachID(ctx context.Context, table, after string, done func(string), fn func(ids []int64) error) error {
	for last := idAfter(after); ; done(strconv.FormatInt(last, 10)) {
		var ids []int64
		err := r.db().NewSelect().Table(table).Column("id").Where("id > ?", last).Order("id").Limit(models.ObjectsAtOnce).
			Scan(ctx, &ids)
		if err != nil || len(ids) == 0 {
			return err
		}
		if err := fn(ids); err != nil {
			return err
		}
		last = ids[len(ids)-1]
	}
}
