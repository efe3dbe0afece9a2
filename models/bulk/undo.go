package bulk

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models"
)

// Undo restores the values that things had before an update of the caller, which ended less than a
// minute ago. Each thing is restored in a transaction of its own. If that is interrupted, a job
// restores the rest. A thing that was changed since the update is left as it is, with Conflict in
// its result. Undo returns NotFound if the caller has no such update, and Conflict if it is too
// late.
func (s *Store) Undo(ctx context.Context, caller auth.Caller, id int64) ([]*Result, error) {
	u := new(bulkUpdate)
	err := s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		q := s.core.DB.ForUpdate(tx.NewSelect().Model(u).Where("bu.id = ? AND bu.user_id = ?", id, caller.UserID))
		if err := q.Scan(ctx); err != nil {
			return models.NoSuchIfNoRows(err, "update", id)
		}
		at := models.Now()
		if u.UndoneAt != nil {
			return models.Fail(models.Conflict, "update %d was already undone", id)
		}
		if !at.Before(u.ExpiresAt) {
			return models.Fail(models.Conflict, "update %d can no longer be undone: the time for that ended at %s", id,
				u.ExpiresAt.UTC().Format("15:04:05 MST"))
		}
		u.UndoneAt = &at
		if _, err := tx.NewUpdate().Model(u).Column("undone_at").WherePK().Exec(ctx); err != nil {
			return err
		}
		return s.core.Enqueue(ctx, tx, models.Work{FinishUpdate: id, At: at.Add(undoable)})
	})
	if err != nil {
		return nil, err
	}
	return s.restore(ctx, u)
}

// Finish ends an update that was undone, or that can no longer be undone: it restores or deletes
// the things that are left. It does nothing if it is too early. It can be repeated.
func (s *Store) Finish(ctx context.Context, id int64) error {
	u := new(bulkUpdate)
	if err := s.core.DB.Write.NewSelect().Model(u).Where("bu.id = ?", id).Scan(ctx); err != nil {
		return models.IgnoreNoRows(err)
	}
	switch {
	case u.UndoneAt != nil:
		if _, err := s.restore(ctx, u); err != nil {
			return err
		}
	case models.Now().Before(u.ExpiresAt):
		return nil
	default:
		if err := s.delete(ctx, u); err != nil {
			return err
		}
	}
	_, err := s.core.DB.Write.NewDelete().Model(u).WherePK().Exec(ctx)
	return err
}

// expire finishes the updates whose job was lost, and forgets the others.
func (s *Store) expire(ctx context.Context) error {
	var ids []int64
	if err := s.core.DB.Write.NewSelect().Model((*bulkUpdate)(nil)).Column("bu.id").
		Where("bu.expires_at <= ?", models.Now()).Order("bu.id").Scan(ctx, &ids); err != nil {
		return err
	}
	for _, id := range ids {
		if err := s.Finish(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// rows returns the things of an update that are left, in the order of their IDs.
func (s *Store) rows(ctx context.Context, u *bulkUpdate, where string) (rows []*updatedThing, err error) {
	err = s.core.DB.Write.NewSelect().Model(&rows).Where("bt.update_id = ?", u.ID).Where(where).Order("bt.thing_id").
		Scan(ctx)
	return rows, err
}

// restore restores the things of an update that are left.
func (s *Store) restore(ctx context.Context, u *bulkUpdate) ([]*Result, error) {
	rows, err := s.rows(ctx, u, "1 = 1")
	if err != nil {
		return nil, err
	}
	owner := auth.Caller{UserID: u.UserID}
	results := make([]*Result, len(rows))
	for i, row := range rows {
		err := s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
			if gone, err := s.take(ctx, tx, row); err != nil || gone {
				return err
			}
			for _, collectionID := range row.BeforeUpdate.CollectionIDs {
				err := s.collections.UncollectIn(ctx, tx, owner, collectionID, row.ThingID)
				if err != nil && models.CodeOf(err) != models.NotFound { // the collection may have been deleted
					return err
				}
			}
			return s.RevertThing(ctx, tx, row.ThingID, row.ModifiedAt, row.BeforeUpdate.ThingValues)
		})
		if results[i], err = resultOf(row.ThingID, err); err != nil {
			return nil, fmt.Errorf("undo update %d: %w", u.ID, err)
		}
		s.restored(i + 1)
	}
	return results, nil
}

// take deletes the row of a thing, so that no other process restores or deletes the thing, too.
func (s *Store) take(ctx context.Context, tx bun.Tx, row *updatedThing) (gone bool, err error) {
	done, err := tx.NewDelete().Model(row).WherePK().Exec(ctx)
	if err != nil {
		return false, err
	}
	n, err := done.RowsAffected()
	return n == 0, err
}

// delete deletes the things of an update that are to be deleted and are left.
func (s *Store) delete(ctx context.Context, u *bulkUpdate) error {
	rows, err := s.rows(ctx, u, "bt.deletes")
	if err != nil {
		return err
	}
	// The update has checked the permissions.
	caller := auth.Caller{UserID: u.UserID, Role: auth.Administrator, Scopes: auth.Scopes{auth.Read, auth.Write,
		auth.Admin}}
	for _, row := range rows {
		err := s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
			if gone, err := s.take(ctx, tx, row); err != nil || gone {
				return err
			}
			_, err := s.core.RemoveThing(ctx, tx, caller, row.ThingID, u.Reason)
			return err
		})
		if err != nil && models.CodeOf(err) != models.NotFound {
			return fmt.Errorf("update %d: delete thing %d: %w", u.ID, row.ThingID, err)
		}
	}
	return nil
}
