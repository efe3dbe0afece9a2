package account

import (
	"context"
	"database/sql"
	"errors"
	"time"
	"unicode/utf8"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models"
)

// password is the stored password of a user. It is in a table of its own, so that no list reads it.
type password struct {
	bun.BaseModel `bun:"table:passwords,alias:pw"`

	UserID    int64 `bun:",pk"`
	Hash      string
	ChangedAt time.Time
}

// SetPassword sets the password of the user with a name and ends all their sessions. Access tokens
// stay valid. It opens a transaction.
func (a Admin) SetPassword(ctx context.Context, username, text string) error {
	s := a.store
	hash, err := hashPassword(ctx, text)
	if err != nil {
		return err
	}
	u, err := s.core.User(ctx, auth.Caller{}, models.UserAccess, username)
	if err != nil {
		return err
	}
	return s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if _, err := s.core.LockAccount(ctx, tx, u.ID); err != nil {
			return err
		}
		return errors.Join(replacePassword(ctx, tx, u.ID, hash), endSessions(ctx, tx, u.ID),
			s.core.Record(ctx, tx, auth.Caller{}, models.ModerationEntry{Action: models.SetUserPassword, UserID: u.ID,
				Reason: models.ByOperator}))
	})
}

// replacePassword stores the hash of a new password of a locked user, and deletes the user's
// password reset links.
func replacePassword(ctx context.Context, tx bun.Tx, userID int64, hash string) error {
	row := &password{UserID: userID, Hash: hash, ChangedAt: models.Now()}
	_, err := tx.NewInsert().Model(row).On("CONFLICT (user_id) DO UPDATE").Set("hash = EXCLUDED.hash").
		Set("changed_at = EXCLUDED.changed_at").Exec(ctx)
	if err != nil {
		return err
	}
	_, err = tx.NewDelete().Model((*accountLink)(nil)).Where("user_id = ? AND purpose = ?", userID, models.ResetLink).
		Exec(ctx)
	return err
}

// ChangePassword changes the password of the caller and ends their other sessions. It returns
// Forbidden if present is not the current password or the user is suspended. Access tokens stay
// valid. It opens a transaction.
func (s *Store) ChangePassword(ctx context.Context, caller auth.Caller, present, text string) error {
	if err := models.RequireUser(caller); err != nil {
		return err
	}
	stored := func(ctx context.Context, db bun.IDB) (hash string, err error) {
		err = db.NewSelect().Model((*password)(nil)).Column("pw.hash").Where("pw.user_id = ?", caller.UserID).Scan(ctx, &hash)
		return hash, models.IgnoreNoRows(err)
	}
	checked, err := stored(ctx, s.core.DB.Read)
	if err != nil {
		return err
	}
	if len(present) > auth.MaxPassword {
		present = ""
	}
	good, err := auth.CheckPassword(ctx, present, checked)
	if err != nil {
		return err
	}
	wrong := models.About("present", models.Fail(models.Forbidden, "the current password is wrong"))
	if !good {
		return wrong
	}
	hash, err := hashPassword(ctx, text)
	if err != nil {
		return err
	}
	return s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if _, err := s.core.LockActive(ctx, tx, caller.UserID); err != nil {
			return err
		}
		// It may have been reset while the passwords were hashed.
		if latest, err := stored(ctx, tx); err != nil {
			return err
		} else if latest != checked {
			return wrong
		}
		if err := replacePassword(ctx, tx, caller.UserID, hash); err != nil {
			return err
		}
		_, err := tx.NewDelete().Model((*Session)(nil)).Where("user_id = ? AND id <> ?", caller.UserID, caller.SessionID).
			Exec(ctx)
		return err
	})
}

// ResetPassword sets the password of the user that a reset link was created for, ends all their
// sessions, and returns their ID. Access tokens stay valid. It returns NotFound if the link is not
// valid, or if the user has changed the e-mail address since, and Forbidden if the user is
// suspended. It opens a transaction.
func (s *Store) ResetPassword(ctx context.Context, secret, text string) (userID int64, err error) {
	hash, err := hashPassword(ctx, text)
	if err != nil {
		return 0, err
	}
	err = s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		l, err := useLink(ctx, tx, secret, models.ResetLink)
		if err != nil {
			return err
		}
		u, err := s.core.LockActive(ctx, tx, l.UserID)
		if err != nil {
			return err
		}
		if u.Email != l.Email {
			return errLink // the user has changed the address since
		}
		userID = l.UserID
		if err := replacePassword(ctx, tx, userID, hash); err != nil {
			return err
		}
		return endSessions(ctx, tx, userID)
	})
	return userID, err
}

var errPassword = models.Fail(models.Unauthenticated, "the username or the password is wrong")

// CheckPassword returns the user with the given username and password. If there is no such user, or
// the password is wrong, it returns Unauthenticated, with the same message and after the same time.
// Case is ignored in the username, but spaces around it are not, and an e-mail address does not
// work. So callers can count attempts by the lower-case username.
func (s *Store) CheckPassword(ctx context.Context, username, text string) (auth.Verified, error) {
	if !auth.IsUsername(username) {
		return auth.Verified{}, errPassword
	}
	row := new(password)
	if len(text) > auth.MaxPassword {
		text = ""
	}
	err := s.core.DB.Read.NewSelect().Model(row).Join("JOIN users AS u ON u.id = pw.user_id").
		Where("u.sort_name = ?", models.FoldUsername(username)).Scan(ctx)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return auth.Verified{}, err
	}
	good, err := auth.CheckPassword(ctx, text, row.Hash)
	if err != nil {
		return auth.Verified{}, err
	}
	if !good {
		return auth.Verified{}, errPassword
	}
	return auth.Verified{UserID: row.UserID, PasswordHash: row.Hash}, nil
}

// hashPassword returns the hash of a new password. It returns BadInput if the password is too
// short, too long, or not valid UTF-8.
func hashPassword(ctx context.Context, text string) (hash string, err error) {
	if len(text) < auth.MinPassword || len(text) > auth.MaxPassword || !utf8.ValidString(text) {
		return "", models.Invalid("password", "password: must be %d to %d bytes of UTF-8", auth.MinPassword, auth.MaxPassword)
	}
	return auth.HashPassword(ctx, text)
}
