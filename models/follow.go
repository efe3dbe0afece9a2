package models

import (
	"context"
	"database/sql"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"

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
		return tx.NewInsert().Model(&follow{FollowerID: caller.UserID, FollowedID: userID, CreatedAt: now()}).
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
	u, err := s.User(ctx, caller, username)
	if err != nil {
		return nil, err
	}
	if u.ID == caller.UserID {
		return nil, badInput("username", "username: you cannot follow yourself")
	}
	err = s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
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
	return s.userByID(ctx, u.ID)
}

// FollowedBy returns the users among ids that a user follows.
func (s *Store) FollowedBy(ctx context.Context, userID int64, ids []int64) (map[int64]bool, error) {
	if userID == 0 {
		return nil, nil
	}
	var followed []int64
	err := s.db.ForIDs(ctx, "followed by", ids, &followed, func(among, user schema.QueryAppender) *bun.SelectQuery {
		return s.db.Read.NewSelect().Model((*follow)(nil)).Column("fw.followed_id").Where("fw.followed_id ? AND fw.follower_id = ?", among, user)
	}, userID)
	return setOf(followed), err
}

// Followers lists the followers of users, most recent first.
func (s *Store) Followers() List {
	return List{DB: s.db.DB, Name: "followers", By: database.Order{ID: "fw.id", Node: "fw.follower_id"}, Rows: func(userID, _ any) *bun.SelectQuery {
		return s.db.Read.NewSelect().TableExpr("follows AS fw").Where("fw.followed_id = ?", userID)
	}}
}

// Following lists the users that users follow, most recent first.
func (s *Store) Following() List {
	return List{DB: s.db.DB, Name: "following", By: database.Order{ID: "fw.id", Node: "fw.followed_id"}, Rows: func(userID, _ any) *bun.SelectQuery {
		return s.db.Read.NewSelect().TableExpr("follows AS fw").Where("fw.follower_id = ?", userID)
	}}
}
