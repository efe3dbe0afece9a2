package social

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/models"
)

// watch is a user's subscription to notifications about a thing, a make or a collection.
type watch struct {
	bun.BaseModel `bun:"table:watches,alias:w"`

	ID         int64 `bun:",pk,autoincrement"`
	UserID     int64
	TargetType models.TargetType
	TargetID   int64
	CreatedAt  time.Time
}

// Watch adds a watch of the caller to a thing, a make or a collection that the caller can see. If
// there is one already, nothing changes.
func (s *Store) Watch(ctx context.Context, caller auth.Caller, target models.Target) error {
	return s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if _, err := s.core.LockVisibleLikeable(ctx, tx, caller, target); err != nil {
			return err
		}
		return addWatch(ctx, tx, caller.UserID, target)
	})
}

// Unwatch removes a watch of the caller, even if the caller can no longer see the target. If there
// is none, it returns Forbidden for a target that the caller cannot see, and otherwise changes
// nothing.
func (s *Store) Unwatch(ctx context.Context, caller auth.Caller, target models.Target) error {
	_, err := s.removeOrAdd(ctx, caller, target, removeWatch, nil)
	return err
}

// ToggleWatch removes the caller's watch of a target if there is one, and otherwise adds one. It
// returns whether the caller watches the target now.
func (s *Store) ToggleWatch(ctx context.Context, caller auth.Caller, target models.Target) (watched bool, err error) {
	removed, err := s.removeOrAdd(ctx, caller, target, removeWatch,
		func(ctx context.Context, tx bun.Tx, _ int64) error {
			return addWatch(ctx, tx, caller.UserID, target)
		})
	return !removed, err
}

func addWatch(ctx context.Context, tx bun.Tx, userID int64, target models.Target) error {
	_, err := tx.NewInsert().Model(&watch{UserID: userID, TargetType: target.Type, TargetID: target.ID,
		CreatedAt: models.Now()}).
		On("CONFLICT (user_id, target_type, target_id) DO NOTHING").Exec(ctx)
	return err
}

func removeWatch(ctx context.Context, tx bun.Tx, userID int64, target models.Target) (removed bool, err error) {
	done, err := tx.NewDelete().Model((*watch)(nil)).
		Where("user_id = ? AND target_type = ? AND target_id = ?", userID, target.Type, target.ID).Exec(ctx)
	if err != nil {
		return false, err
	}
	n, err := done.RowsAffected()
	return n > 0, err
}

type watchedThings struct{}

func (watchedThings) Select(b *database.Builder, userID any) *bun.SelectQuery {
	return b.Select().TableExpr("watches AS w").Where("w.user_id = ? AND w.target_type = ?", userID, models.OnThing).
		Where(models.IsPublished, bun.Safe("w.target_id"))
}

// WatchedThings lists the published things that the caller watches, the latest watch first. It
// returns Forbidden if userID is another user.
func (s *Store) WatchedThings(caller auth.Caller, userID int64) (models.List, error) {
	if err := models.RequireSelf(caller, userID, "watched things"); err != nil {
		return models.List{}, err
	}
	return models.List{DB: s.core.DB.DB, By: database.Order{ID: "w.id", Node: "w.target_id"}, Rows: watchedThings{}}, nil
}
