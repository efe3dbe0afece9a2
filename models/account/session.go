package account

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models"
)

// Session is a session of a user who is signed in with a browser. Only the hash of the browser's
// secret is stored.
type Session struct {
	bun.BaseModel `bun:"table:sessions,alias:se"`

	ID         int64 `bun:",pk,autoincrement"`
	UserID     int64
	SHA256     string `bun:"sha256"`
	UserAgent  string // of the browser that signed in
	CreatedAt  time.Time
	ExpiresAt  time.Time
	LastUsedAt *time.Time // accurate to usedEvery; nil: not since it began
}

// LastUsed returns when the session was last used, accurate to usedEvery.
func (s *Session) LastUsed() time.Time {
	if s.LastUsedAt == nil {
		return s.CreatedAt
	}
	return *s.LastUsedAt
}

// maxSessions is the maximum number of sessions of a user. A further sign-in ends the session that
// has been unused for the longest time.
const maxSessions = 100

// sessionLifetime is how long a user stays signed in.
const sessionLifetime = 14 * 24 * time.Hour

// SignIn creates a session of a user and returns its secret. userAgent is what the browser sent in
// the header User-Agent. It returns Forbidden if the user is suspended, NotFound if the account was
// deleted, and Unauthenticated if the password has changed since it was checked.
func (s *Store) SignIn(ctx context.Context, who auth.Verified, userAgent string) (secret string, err error) {
	secret = auth.NewSecret()
	at, userID := models.Now(), who.UserID
	err = s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		u := new(models.User)
		if err := s.core.DB.ForShare(tx.NewSelect().Model(u).Column("u.id", "u.suspended_at", "u.suspension_reason").
			Where("u.id = ? AND u.deleted_at IS NULL", userID)).Scan(ctx); err != nil {
			return models.NoSuchIfNoRows(err, "user", userID)
		}
		if err := u.CheckActive(); err != nil {
			return err
		}
		if who.PasswordHash != "" {
			same, err := tx.NewSelect().Model((*password)(nil)).Where("pw.user_id = ? AND pw.hash = ?", userID,
				who.PasswordHash).Exists(ctx)
			if err != nil {
				return err
			}
			if !same {
				return errPassword
			}
		}
		kept := tx.NewSelect().Model((*Session)(nil)).Column("se.id").Where("se.user_id = ?", userID).
			OrderExpr("coalesce(se.last_used_at, se.created_at) DESC, se.id DESC").Limit(maxSessions - 1)
		if _, err := tx.NewDelete().Model((*Session)(nil)).Where("user_id = ? AND id NOT IN (?)", userID, kept).
			Exec(ctx); err != nil {
			return err
		}
		row := &Session{UserID: userID, SHA256: auth.HashSecret(secret), UserAgent: models.CleanText(userAgent,
			models.MaxUserAgent), CreatedAt: at, ExpiresAt: at.Add(sessionLifetime)}
		_, err := tx.NewInsert().Model(row).Exec(ctx)
		return err
	})
	if err != nil {
		return "", err
	}
	// The caller was not known yet. The session may be one of a user who was created a moment ago.
	if err := s.core.DB.Wrote(ctx, auth.Caller{UserID: userID}.Account()); err != nil {
		return "", err
	}
	return secret, nil
}

// Session returns the user who is signed in with a secret, as a caller with all scopes of the
// user's role. ok is false if there is no such session, or if the user is suspended.
func (s *Store) Session(ctx context.Context, secret string) (who auth.SignedIn, ok bool, err error) {
	var sessionID, userID int64
	var of privileges
	var first, last string
	var lastUsed, lastActive *time.Time
	at := models.Now()
	err = s.core.DB.Retry(ctx, func(ctx context.Context) error {
		return selectPrivileges(s.core.DB.Read.NewSelect().TableExpr("sessions AS se")).
			ColumnExpr("se.id, se.last_used_at, u.id, u.username, u.first_name, u.last_name, u.last_active_at, u.avatar_id <> 0").Join("JOIN users AS u ON u.id = se.user_id").
			Where("se.sha256 = ? AND se.expires_at > ? AND u.suspended_at IS NULL", auth.HashSecret(secret), at).
			Scan(ctx, &of.isAdmin, &of.isModerator, &of.hidesNSFW, &of.hidesAI, &of.suspended, &sessionID, &lastUsed, &userID,
				&who.Username, &first, &last, &lastActive, &who.HasAvatar)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return who, false, nil
	}
	if err != nil {
		return who, false, err
	}
	scopes := auth.Scopes{auth.Read, auth.Write}
	if of.isAdmin || of.isModerator {
		scopes = append(scopes, auth.Admin)
	}
	who.Caller = of.caller(userID, scopes)
	who.SessionID = sessionID
	who.Name = strings.TrimSpace(first + " " + last)
	if lastUsed == nil || at.Sub(*lastUsed) > usedEvery {
		s.uses.note(&s.uses.sessions, sessionID, at)
	}
	if lastActive == nil || at.Sub(*lastActive) > activeEvery {
		s.uses.note(&s.uses.users, userID, at)
	}
	return who, true, nil
}

// Sessions returns the sessions of the caller's user that have not ended, the most recently used
// first. It returns Forbidden for an application.
func (s *Store) Sessions(ctx context.Context, caller auth.Caller) (sessions []*Session, err error) {
	if err := checkSessions(caller); err != nil {
		return nil, err
	}
	err = s.core.DB.Read.NewSelect().Model(&sessions).ExcludeColumn("sha256").Where("se.user_id = ? AND se.expires_at > ?",
		caller.UserID, models.Now()).
		OrderExpr("coalesce(se.last_used_at, se.created_at) DESC, se.id DESC").Limit(maxSessions).Scan(ctx)
	return sessions, err
}

func checkSessions(caller auth.Caller) error {
	if caller.ApplicationID != 0 {
		return models.Fail(models.Forbidden, "an application has no access to sessions")
	}
	return models.RequireUser(caller)
}

// EndSessions ends the sessions with the given IDs. If one of them is not a session of the caller's
// user, it ends none and returns NotFound. If ids is nil, it ends all sessions except the one that
// the caller uses. It returns the IDs of the sessions that it ended, and Forbidden for an
// application.
func (s *Store) EndSessions(ctx context.Context, caller auth.Caller, ids []int64) (ended []int64, err error) {
	if err := checkSessions(caller); err != nil {
		return nil, err
	}
	if len(ids) > maxSessions {
		return nil, models.TooMany("ids", len(ids), maxSessions)
	}
	err = s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		ended = nil // drop the result of a rolled-back attempt
		q := tx.NewDelete().Model((*Session)(nil)).Where("user_id = ?", caller.UserID).Returning("id")
		if ids == nil {
			q = q.Where("id <> ?", caller.SessionID)
		} else {
			q = q.Where("id IN (?)", bun.List(ids))
		}
		if err := models.IgnoreNoRows(q.Scan(ctx, &ended)); err != nil {
			return err
		}
		for _, id := range ids {
			if !slices.Contains(ended, id) {
				return models.NoSuch("session", id)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.Sort(ended)
	return ended, nil
}

// SignOut ends the session with a secret.
func (s *Store) SignOut(ctx context.Context, secret string) error {
	_, err := s.core.DB.Write.NewDelete().Model((*Session)(nil)).Where("sha256 = ?", auth.HashSecret(secret)).Exec(ctx)
	return err
}

// endSessions ends all sessions of a user.
func endSessions(ctx context.Context, tx bun.Tx, userID int64) error {
	_, err := tx.NewDelete().Model((*Session)(nil)).Where("user_id = ?", userID).Exec(ctx)
	return err
}

// forgetSignIns removes expired sessions, codes, refresh tokens, links and invitations.
func (s *Store) forgetSignIns(ctx context.Context) error {
	at := models.Now()
	for _, expired := range []*bun.DeleteQuery{
		s.core.DB.Write.NewDelete().Model((*Session)(nil)).Where("expires_at <= ?", at),
		s.core.DB.Write.NewDelete().Model((*grant)(nil)).Where("created_at <= ?", at.Add(-grantsKept)),
		s.core.DB.Write.NewDelete().Model((*refreshToken)(nil)).Where("expires_at <= ?", at),
		s.core.DB.Write.NewDelete().Model((*accountLink)(nil)).Where("expires_at <= ?", at),
		s.core.DB.Write.NewDelete().Model((*Invitation)(nil)).Where("used_at IS NULL AND expires_at <= ?", at),
	} {
		if _, err := s.core.DB.ExecAgain(ctx, expired); err != nil {
			return err
		}
	}
	return nil
}
