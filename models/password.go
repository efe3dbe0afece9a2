package models

import (
	"context"
	"database/sql"
	"errors"
	"time"
	"unicode/utf8"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
)

// password is the stored password of a user. It is in a table of its own, so that no list reads it.
type password struct {
	bun.BaseModel `bun:"table:passwords,alias:pw"`

	UserID    int64 `bun:",pk"`
	Hash      string
	ChangedAt time.Time
}

// SetPassword sets the password of the user with a name, without a caller, and signs the user out
// everywhere. Access tokens stay valid.
func (a Admin) SetPassword(ctx context.Context, username, text string) error {
	s := a.store
	if len(text) < auth.MinPassword || len(text) > auth.MaxPassword || !utf8.ValidString(text) {
		return badInput("password", "password: must be %d to %d bytes of UTF-8", auth.MinPassword, auth.MaxPassword)
	}
	u, err := s.User(ctx, auth.Caller{}, username)
	if err != nil {
		return err
	}
	hash, err := auth.HashPassword(ctx, text)
	if err != nil {
		return err
	}
	return s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		row := &password{UserID: u.ID, Hash: hash, ChangedAt: now()}
		_, err := tx.NewInsert().Model(row).On("CONFLICT (user_id) DO UPDATE").Set("hash = EXCLUDED.hash").Set("changed_at = EXCLUDED.changed_at").Exec(ctx)
		return errors.Join(err, endSessions(ctx, tx, u.ID),
			s.record(ctx, tx, auth.Caller{}, ModerationEntry{Action: SetUserPassword, UserID: u.ID, Reason: byOperator}))
	})
}

// CheckPassword returns the ID of the user who has this name and password. Anything else is
// Unauthenticated, with the same message and after the same time. The name is compared unchanged,
// ignoring case, so that attempts can be counted by name.
func (s *Store) CheckPassword(ctx context.Context, username, text string) (userID int64, err error) {
	if !auth.IsUsername(username) {
		return 0, fail(Unauthenticated, "the user name or the password is wrong")
	}
	row := new(password)
	if len(text) > auth.MaxPassword {
		text = ""
	}
	err = s.db.Read.NewSelect().Model(row).Join("JOIN users AS u ON u.id = pw.user_id").Where("lower(u.username) = lower(?)", username).Scan(ctx)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, err
	}
	good, err := auth.CheckPassword(ctx, text, row.Hash)
	if err != nil {
		return 0, err
	}
	if !good {
		return 0, fail(Unauthenticated, "the user name or the password is wrong")
	}
	return row.UserID, nil
}
