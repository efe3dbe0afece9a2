package fsck

import (
	"context"
	"fmt"
	"strconv"

	"github.com/meshyard/meshyard/models"
)

// counts returns the check of the stored counts of a table.
func (r *run) counts(table string) func(context.Context, string, func(string)) error {
	return func(ctx context.Context, after string, done func(string)) error {
		return r.eachID(ctx, table, after, done, func(ids []int64) error {
			wrong, err := r.upkeep.Miscounts(ctx, table, ids)
			for _, c := range wrong {
				text := fmt.Sprintf("%s %d: %s is %d, not %d (meshyard recount corrects it)", table, c.ID, c.Column, c.Stored,
					c.Right)
				err := r.found(ctx, text, func(ctx context.Context) (string, error) {
					_, err := r.upkeep.RecountSome(ctx, table, []int64{c.ID})
					return "recounted", err
				})
				if err != nil {
					return err
				}
			}
			return err
		})
	}
}

// index returns the check that the search index has all objects of a type that everyone can find,
// and no others.
func (r *run) index(ix *models.Index) func(context.Context, string, func(string)) error {
	return func(ctx context.Context, after string, done func(string)) error {
		for last := idAfter(after); ; done(strconv.FormatInt(last, 10)) {
			ids, err := r.core.DB.Misindexed(ctx, ix, last, models.ObjectsAtOnce)
			if err != nil || len(ids) == 0 {
				return err
			}
			for _, id := range ids {
				err := r.found(ctx, fmt.Sprintf("%s %d: its row in the search index is missing or left over", ix.Noun, id),
					func(ctx context.Context) (string, error) {
						return "indexed again", r.core.DB.Reindex(ctx, ix, id)
					})
				if err != nil {
					return err
				}
				last = id
			}
		}
	}
}
