package models

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
)

// session is what is kept of a user's being signed in in a browser: never the secret that the
// browser holds.
type session struct {
	bun.BaseModel `bun:"table:sessions,alias:se"`

	ID        int64 `bun:",pk,autoincrement"`
	UserID    int64
	SHA256    string `bun:"sha256"`
	CreatedAt time.Time
	ExpiresAt time.Time
}

// SessionLifetime is how long a user stays signed in.
const SessionLifetime = 14 * 24 * time.Hour

// SignIn begins a session of a user and gives the secret for the browser. Who is suspended is
// Forbidden.
func (s *Store) SignIn(ctx context.Context, userID int64) (secret string, err error) {
	secret = auth.NewSecret()
	at := now()
	err = s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		u := new(User)
		if err := s.db.ForShare(tx.NewSelect().Model(u).Column("u.id", "u.suspended_at", "u.suspension_reason").Where("u.id = ?", userID)).Scan(ctx); err != nil {
			return notFoundIfNoRows(err, "user", userID)
		}
		if u.SuspendedAt != nil {
			return fail(Forbidden, "this account is suspended: %s", u.SuspensionReason)
		}
		row := &session{UserID: userID, SHA256: auth.HashSecret(secret), CreatedAt: at, ExpiresAt: at.Add(SessionLifetime)}
		_, err := tx.NewInsert().Model(row).Exec(ctx)
		return err
	})
	if err != nil {
		return "", err
	}
	return secret, nil
}

// Session returns the user who is signed in with a secret, as a caller with all scopes that the
// user may have; ok is false if there is no such session. A user who is suspended is not signed in.
func (s *Store) Session(ctx context.Context, secret string) (who auth.SignedIn, ok bool, err error) {
	var sessionID, userID int64
	var of privileges
	var first, last string
	err = selectPrivileges(s.db.Read.NewSelect().TableExpr("sessions AS se")).ColumnExpr("se.id, u.id, u.username, u.first_name, u.last_name").Join("JOIN users AS u ON u.id = se.user_id").
		Where("se.sha256 = ? AND se.expires_at > ? AND u.suspended_at IS NULL", auth.HashSecret(secret), now()).
		Scan(ctx, &of.isAdmin, &of.isModerator, &of.hidesNSFW, &of.hidesAI, &of.suspended, &sessionID, &userID, &who.Username, &first, &last)
	if errors.Is(err, sql.ErrNoRows) {
		return who, false, nil
	}
	scopes := auth.Scopes{auth.Read, auth.Write}
	if of.isAdmin || of.isModerator {
		scopes = append(scopes, auth.Admin)
	}
	who.Caller = of.caller(userID, scopes)
	who.SessionID = sessionID
	who.Name = strings.TrimSpace(first + " " + last)
	return who, err == nil, err
}

// SignOut ends the session of a secret.
func (s *Store) SignOut(ctx context.Context, secret string) error {
	_, err := s.db.Write.NewDelete().Model((*session)(nil)).Where("sha256 = ?", auth.HashSecret(secret)).Exec(ctx)
	return err
}

// endSessions signs a user out everywhere.
func endSessions(ctx context.Context, tx bun.Tx, userID int64) error {
	_, err := tx.NewDelete().Model((*session)(nil)).Where("user_id = ?", userID).Exec(ctx)
	return err
}
