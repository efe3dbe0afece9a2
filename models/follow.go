package models

import (
	"context"
	"database/sql"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
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
func (s *Store) Follow(ctx context.Context, caller auth.Caller, username string) (*User, error) {
	return s.changeFollow(ctx, caller, username, 1, func(ctx context.Context, tx bun.Tx, userID int64) (sql.Result, error) {
		return tx.NewInsert().Model(&follow{FollowerID: caller.UserID, FollowedID: userID, CreatedAt: Now()}).
			On("CONFLICT (follower_id, followed_id) DO NOTHING").Exec(ctx)
	})
}

// Unfollow makes the caller stop following another user. It is not an error if the caller does not
// follow the user. It opens a transaction.
func (s *Store) Unfollow(ctx context.Context, caller auth.Caller, username string) (*User, error) {
	return s.changeFollow(ctx, caller, username, -1, func(ctx context.Context, tx bun.Tx, userID int64) (sql.Result, error) {
		return tx.NewDelete().Model((*follow)(nil)).Where("follower_id = ? AND followed_id = ?", caller.UserID, userID).Exec(ctx)
	})
}

func (s *Store) changeFollow(ctx context.Context, caller auth.Caller, username string, by int64, change func(ctx context.Context, tx bun.Tx, userID int64) (sql.Result, error)) (*User, error) {
	u, err := s.User(ctx, caller, UserAccess, username)
	if err != nil {
		return nil, err
	}
	if u.ID == caller.UserID {
		return nil, Invalid("username", "username: you cannot follow yourself")
	}
	err = s.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		done, err := change(ctx, tx, u.ID)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); n == 0 || err != nil {
			return err
		}
		follower := Target{OnUser, caller.UserID}
		if by > 0 {
			err = notify(ctx, tx, NotifyFollow, caller.UserID, follower, u.ID)
		} else {
			_, err = tx.NewDelete().Model((*Notification)(nil)).
				Where("user_id = ? AND kind = ? AND actor_id = ?", u.ID, NotifyFollow, caller.UserID).Exec(ctx)
		}
		if err != nil {
			return err
		}
		return count(ctx, tx, userFollowers.by(by, u.ID), userFollowing.by(by, caller.UserID))
	})
	if err != nil {
		return nil, err
	}
	return s.UserByID(ctx, caller, AllUserFields, u.ID)
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
func (s *Store) Followers() List {
	return List{DB: s.DB.DB, By: database.Order{ID: "fw.id", Node: "fw.follower_id"}, Rows: followers{}}
}

// Following lists the users that users follow, most recent first.
func (s *Store) Following() List {
	return List{DB: s.DB.DB, By: database.Order{ID: "fw.id", Node: "fw.followed_id"}, Rows: following{}}
}

// disconnect deletes all follows by and of a user, and updates the counts. It also deletes the
// user's watches, and the notifications to and about the user.
func disconnect(ctx context.Context, tx bun.Tx, userID int64) error {
	for _, statement := range []string{
		"DELETE FROM watches WHERE user_id = ?0",
		"DELETE FROM notifications WHERE user_id = ?0 OR actor_id = ?0 OR target_type = 'user' AND target_id = ?0",
	} {
		if _, err := tx.NewRaw(statement, userID).Exec(ctx); err != nil {
			return err
		}
	}
	var followed, followers []int64
	err := tx.NewDelete().Model((*follow)(nil)).Where("follower_id = ?", userID).Returning("followed_id").Scan(ctx, &followed)
	if err := IgnoreNoRows(err); err != nil {
		return err
	}
	err = tx.NewDelete().Model((*follow)(nil)).Where("followed_id = ?", userID).Returning("follower_id").Scan(ctx, &followers)
	if err := IgnoreNoRows(err); err != nil {
		return err
	}
	return count(ctx, tx, userFollowers.by(-1, followed...), userFollowing.by(-1, followers...),
		userFollowing.by(-int64(len(followed)), userID), userFollowers.by(-int64(len(followers)), userID))
}
