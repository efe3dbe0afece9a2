package social

import (
	"context"
	"database/sql"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/models"
)

type follow struct {
	bun.BaseModel `bun:"table:follows,alias:fw"`

	ID         int64 `bun:",pk,autoincrement"`
	FollowerID int64
	FollowedID int64
	CreatedAt  time.Time
}

// Follow makes the caller a follower of another user. It is not an error if the caller already
// follows the user. It returns BadInput if the user is the caller. It opens a transaction.
func (s *Store) Follow(ctx context.Context, caller auth.Caller, username string) (*models.User, error) {
	return s.changeFollow(ctx, caller, username, 1, func(ctx context.Context, tx bun.Tx,
		userID int64) (sql.Result, error) {
		return tx.NewInsert().Model(&follow{FollowerID: caller.UserID, FollowedID: userID, CreatedAt: models.Now()}).
			On("CONFLICT (follower_id, followed_id) DO NOTHING").Exec(ctx)
	})
}

// Unfollow makes the caller stop following another user. It is not an error if the caller does not
// follow the user. It opens a transaction.
func (s *Store) Unfollow(ctx context.Context, caller auth.Caller, username string) (*models.User, error) {
	return s.changeFollow(ctx, caller, username, -1, func(ctx context.Context, tx bun.Tx,
		userID int64) (sql.Result, error) {
		return tx.NewDelete().Model((*follow)(nil)).Where("follower_id = ? AND followed_id = ?", caller.UserID, userID).
			Exec(ctx)
	})
}

func (s *Store) changeFollow(ctx context.Context, caller auth.Caller, username string, by int64,
	change func(ctx context.Context, tx bun.Tx, userID int64) (sql.Result, error)) (*models.User, error) {
	u, err := s.core.User(ctx, caller, models.UserAccess, username)
	if err != nil {
		return nil, err
	}
	if u.ID == caller.UserID {
		return nil, models.Invalid("username", "username: you cannot follow yourself")
	}
	err = s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		done, err := change(ctx, tx, u.ID)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); n == 0 || err != nil {
			return err
		}
		follower := models.Target{Type: models.OnUser, ID: caller.UserID}
		if by > 0 {
			err = notify(ctx, tx, NotifyFollow, caller.UserID, follower, u.ID)
		} else {
			_, err = tx.NewDelete().Model((*Notification)(nil)).
				Where("user_id = ? AND kind = ? AND actor_id = ?", u.ID, NotifyFollow, caller.UserID).Exec(ctx)
		}
		if err != nil {
			return err
		}
		return models.AddCounts(ctx, tx, models.UserFollowers.By(by, u.ID), models.UserFollowing.By(by, caller.UserID))
	})
	if err != nil {
		return nil, err
	}
	return s.core.UserByID(ctx, caller, models.AllUserFields, u.ID)
}

type followers struct{}

func (followers) Select(b *database.Builder, userID any) *bun.SelectQuery {
	return b.Select().TableExpr("follows AS fw").Where("fw.followed_id = ?", userID)
}

type following struct{}

func (following) Select(b *database.Builder, userID any) *bun.SelectQuery {
	return b.Select().TableExpr("follows AS fw").Where("fw.follower_id = ?", userID)
}

// Followers lists the followers of users, most recent first.
func (s *Store) Followers() models.List {
	return models.List{DB: s.core.DB.DB, By: database.Order{ID: "fw.id", Node: "fw.follower_id"}, Rows: followers{}}
}

// Following lists the users that users follow, most recent first.
func (s *Store) Following() models.List {
	return models.List{DB: s.core.DB.DB, By: database.Order{ID: "fw.id", Node: "fw.followed_id"}, Rows: following{}}
}

// Disconnect deletes all follows by and of a user, and updates the counts. It also deletes the
// user's watches, and the notifications to and about the user.
func Disconnect(ctx context.Context, tx bun.Tx, userID int64) error {
	for _, statement := range []string{
		"DELETE FROM watches WHERE user_id = ?0",
		"DELETE FROM notifications WHERE user_id = ?0 OR actor_id = ?0 OR target_type = 'user' AND target_id = ?0",
	} {
		if _, err := tx.NewRaw(statement, userID).Exec(ctx); err != nil {
			return err
		}
	}
	var followed, followers []int64
	err := tx.NewDelete().Model((*follow)(nil)).Where("follower_id = ?", userID).Returning("followed_id").
		Scan(ctx, &followed)
	if err := models.IgnoreNoRows(err); err != nil {
		return err
	}
	err = tx.NewDelete().Model((*follow)(nil)).Where("followed_id = ?", userID).Returning("follower_id").
		Scan(ctx, &followers)
	if err := models.IgnoreNoRows(err); err != nil {
		return err
	}
	return models.AddCounts(ctx, tx, models.UserFollowers.By(-1, followed...), models.UserFollowing.By(-1, followers...),
		models.UserFollowing.By(-int64(len(followed)), userID), models.UserFollowers.By(-int64(len(followers)), userID))
}
