package social

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/models"
)

type like struct {
	bun.BaseModel `bun:"table:likes,alias:l"`

	ID         int64 `bun:",pk,autoincrement"`
	UserID     int64
	TargetType models.TargetType
	TargetID   int64
	CreatedAt  time.Time
}

// Like adds the caller's like to a thing, a make or a collection. If there is one already, nothing
// changes. It returns BadInput if the target belongs to the caller.
func (s *Store) Like(ctx context.Context, caller auth.Caller, target models.Target) error {
	return s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		owner, err := s.core.LockVisibleLikeable(ctx, tx, caller, target)
		if err != nil {
			return err
		}
		return addLike(ctx, tx, caller.UserID, owner, target, "id")
	})
}

// ToggleLike removes the caller's like of a target if there is one, even if the caller can no
// longer see the target, and otherwise adds one. It returns whether the caller likes the target
// now.
func (s *Store) ToggleLike(ctx context.Context, caller auth.Caller, target models.Target) (liked bool, err error) {
	removed, err := s.removeOrAdd(ctx, caller, target, removeLike,
		func(ctx context.Context, tx bun.Tx, owner int64) error {
			return addLike(ctx, tx, caller.UserID, owner, target, "target")
		})
	return !removed, err
}

// removeOrAdd removes a like or a watch of the caller, even if the caller can no longer see the
// target. If there is none, it returns Forbidden or NotFound for a target that the caller cannot
// see, and otherwise calls add, unless it is nil. It opens a transaction.
func (s *Store) removeOrAdd(ctx context.Context, caller auth.Caller, target models.Target,
	remove func(ctx context.Context, tx bun.Tx, userID int64, target models.Target) (removed bool, err error),
	add func(ctx context.Context, tx bun.Tx, owner int64) error) (removed bool, err error) {
	err = s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) (err error) {
		owner, hidden := s.core.LockVisibleLikeable(ctx, tx, caller, target)
		if hidden != nil && owner == 0 {
			return hidden
		}
		if removed, err = remove(ctx, tx, caller.UserID, target); err != nil || removed {
			return err
		}
		if hidden != nil || add == nil {
			return hidden
		}
		return add(ctx, tx, owner)
	})
	return removed, err
}

// addLike adds a like, if there is none. input is the name of the input that contains the target,
// for errors.
func addLike(ctx context.Context, tx bun.Tx, userID, owner int64, target models.Target, input string) error {
	if owner == userID {
		return models.Invalid(input, "%s: %s %d is your own", input, target.Type, target.ID)
	}
	done, err := tx.NewInsert().Model(&like{UserID: userID, TargetType: target.Type, TargetID: target.ID,
		CreatedAt: models.Now()}).
		On("CONFLICT (user_id, target_type, target_id) DO NOTHING").Exec(ctx)
	if err != nil {
		return err
	}
	if n, err := done.RowsAffected(); n == 0 || err != nil {
		return err
	}
	if err := notify(ctx, tx, NotifyLike, userID, target, owner); err != nil {
		return err
	}
	return countLike(ctx, tx, target, userID, 1)
}

func removeLike(ctx context.Context, tx bun.Tx, userID int64, target models.Target) (removed bool, err error) {
	done, err := tx.NewDelete().Model((*like)(nil)).
		Where("user_id = ? AND target_type = ? AND target_id = ?", userID, target.Type, target.ID).Exec(ctx)
	if err != nil {
		return false, err
	}
	if n, err := done.RowsAffected(); n == 0 || err != nil {
		return false, err
	}
	if err := forgetNotification(ctx, tx, NotifyLike, userID, target); err != nil {
		return false, err
	}
	return true, countLike(ctx, tx, target, userID, -1)
}

// Unlike removes the caller's like of a target, even if the caller can no longer see the target. If
// there is no like, it returns Forbidden for a target that the caller cannot see, and otherwise
// changes nothing.
func (s *Store) Unlike(ctx context.Context, caller auth.Caller, target models.Target) error {
	_, err := s.removeOrAdd(ctx, caller, target, removeLike, nil)
	return err
}

func countLike(ctx context.Context, tx bun.Tx, target models.Target, userID, by int64) error {
	switch target.Type {
	case models.OnCollection:
		return models.AddCounts(ctx, tx, models.CollectionLikes.By(by, target.ID))
	case models.OnMake:
		return models.AddCounts(ctx, tx, models.MakeLikes.By(by, target.ID))
	}
	return models.AddCounts(ctx, tx, models.ThingLikes.By(by, target.ID), models.UserLikes.By(by, userID))
}

// deleteLikes removes all likes of a target that is being deleted.
func deleteLikes(ctx context.Context, tx bun.Tx, target models.Target) error {
	var userIDs []int64
	err := tx.NewDelete().Model((*like)(nil)).Where("target_type = ? AND target_id = ?", target.Type, target.ID).
		Returning("user_id").Scan(ctx, &userIDs)
	if err != nil || target.Type != models.OnThing {
		return models.IgnoreNoRows(err)
	}
	return models.AddCounts(ctx, tx, models.UserLikes.By(-1, userIDs...))
}

type likesOn struct{ on models.TargetType }

func (l likesOn) Select(b *database.Builder, id any) *bun.SelectQuery {
	return b.Select().TableExpr("likes AS l").Where("l.target_type = ? AND l.target_id = ?", l.on, id)
}

type likedThings struct{}

func (likedThings) Select(b *database.Builder, userID any) *bun.SelectQuery {
	return b.Select().TableExpr("likes AS l").Where("l.user_id = ? AND l.target_type = ?", userID, models.OnThing).
		Where(models.IsPublished, bun.Safe("l.target_id"))
}

// Likers lists the users who like a target of the given type, the latest like first.
func (s *Store) Likers(on models.TargetType) models.List {
	return models.List{DB: s.core.DB.DB, By: database.Order{Key: "l.created_at", Time: true, ID: "l.id",
		Node: "l.user_id"}, Rows: likesOn{on}}
}

// LikedThings lists the published things that a user likes, the latest like first.
func (s *Store) LikedThings() models.List {
	return models.List{DB: s.core.DB.DB, By: database.Order{ID: "l.id", Node: "l.target_id"}, Rows: likedThings{}}
}

// LikedThingIDs returns the IDs of the published things that a user likes, most recently liked
// first, at most 10,000.
func (s *Store) LikedThingIDs(ctx context.Context, userID int64) (ids []int64, err error) {
	err = s.core.DB.Read.NewSelect().TableExpr("likes AS l").Column("l.target_id").
		Join("JOIN things AS t ON t.id = l.target_id AND t.state = ?", models.Published).
		Where("l.user_id = ? AND l.target_type = ?", userID, models.OnThing).OrderExpr("l.id DESC").Limit(models.MaxIDs).
		Scan(ctx, &ids)
	return ids, err
}

// PurgeLike removes the like with the given ID.
func (s *Store) PurgeLike(ctx context.Context, id int64) error {
	return s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		l := new(like)
		if err := tx.NewSelect().Model(l).Where("l.id = ?", id).Scan(ctx); err != nil {
			return models.NoSuchIfNoRows(err, "like", id)
		}
		_, err := removeLike(ctx, tx, l.UserID, models.Target{Type: l.TargetType, ID: l.TargetID})
		return err
	})
}
