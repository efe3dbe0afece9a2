package account

import (
	"context"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/models"
)

// Authenticate returns the caller that an access token belongs to. It returns Unauthenticated if
// the token is unknown, expired or revoked. It never uses a result that was read before the call
// began, so a revocation or a suspension by any process applies to the next request. Concurrent
// calls with the same token share a statement.
func (s *Store) Authenticate(ctx context.Context, token string) (auth.Caller, error) {
	hash, ok := auth.Hash(token)
	if !ok {
		return auth.Caller{}, models.Fail(models.Unauthenticated, "the access token is unknown")
	}
	found, err := s.authenticating.Do(ctx, hash, func(ctx context.Context) authentication {
		caller, err := s.authenticate(ctx, hash)
		return authentication{caller, err}
	})
	if err != nil {
		return auth.Caller{}, err
	}
	return found.caller, found.err
}

// authentication is a result of Authenticate that concurrent calls share.
type authentication struct {
	caller auth.Caller
	err    error
}

// tokenKey reads the token whose hash is argument 0, with the privileges of its user.
type tokenKey struct{}

// tokenRow is a row of tokenKey.
type tokenRow struct {
	ID            int64
	UserID        int64
	ApplicationID int64
	Scopes        string
	ExpiresAt     *time.Time
	RevokedAt     *time.Time
	LastUsedAt    *time.Time
	LastActiveAt  *time.Time
	IsAdmin       bool
	IsModerator   bool
	HidesNSFW     bool `bun:"hides_nsfw"`
	HidesAI       bool `bun:"hides_ai"`
	Suspended     string
}

// Text implements [database.Key].
func (tokenKey) Text(b *database.Builder) (string, error) {
	return b.Text(selectPrivileges(b.Select().TableExpr("tokens AS tk")).
		ColumnExpr("tk.id, coalesce(tk.user_id, 0) AS user_id, coalesce(tk.application_id, 0) AS application_id, tk.scopes").
		ColumnExpr("tk.expires_at, tk.revoked_at, tk.last_used_at, u.last_active_at").
		Join("LEFT JOIN users AS u ON u.id = tk.user_id").Where("tk.sha256 = ?", b.Arg(0)))
}

// authenticate is Authenticate for the hash of a token.
func (s *Store) authenticate(ctx context.Context, hash string) (auth.Caller, error) {
	var rows []*tokenRow
	// The primary has the last revocation. While it is away, tokens cannot be revoked.
	err := database.Read(s.core.DB.OrReplica(database.WithSharedResult(ctx)), s.core.DB.DB, tokenKey{}, &rows, hash)
	if err != nil {
		return auth.Caller{}, err
	}
	if len(rows) == 0 {
		return auth.Caller{}, models.Fail(models.Unauthenticated, "the access token is unknown")
	}
	row, at := rows[0], models.Now()
	switch {
	case row.RevokedAt != nil:
		return auth.Caller{}, models.Fail(models.Unauthenticated, "the access token was revoked")
	case row.ExpiresAt != nil && !at.Before(*row.ExpiresAt):
		return auth.Caller{}, models.Fail(models.Unauthenticated, "the access token expired")
	}
	scopes, err := auth.ParseScopes(strings.Fields(row.Scopes))
	if err != nil {
		return auth.Caller{}, err
	}
	of := privileges{isAdmin: row.IsAdmin, isModerator: row.IsModerator, suspended: row.Suspended,
		hidesNSFW: row.HidesNSFW, hidesAI: row.HidesAI}
	caller := of.caller(row.UserID, scopes)
	caller.TokenID, caller.ApplicationID = row.ID, row.ApplicationID
	if row.ExpiresAt != nil {
		caller.ExpiresAt = *row.ExpiresAt
	}
	if row.LastUsedAt == nil || at.Sub(*row.LastUsedAt) > usedEvery {
		s.uses.note(&s.uses.tokens, row.ID, at)
	}
	if row.UserID != 0 && (row.LastActiveAt == nil || at.Sub(*row.LastActiveAt) > activeEvery) {
		s.uses.note(&s.uses.users, row.UserID, at)
	}
	return caller, nil
}

// privileges are the properties of a user that determine the user's permissions.
type privileges struct {
	isAdmin, isModerator bool
	suspended            string // the reason; empty: not suspended
	hidesNSFW, hidesAI   bool
}

// selectPrivileges selects the fields of privileges of the user u. They have zero values if an
// outer join has found no user. The reason of a suspension is never empty, even if the operator or
// an imported archive gave none.
func selectPrivileges(q *bun.SelectQuery) *bun.SelectQuery {
	return q.ColumnExpr(
		"coalesce(u.is_admin, ?0) AS is_admin, coalesce(u.is_moderator, ?0) AS is_moderator, coalesce(u.hides_nsfw, ?0) AS hides_nsfw, coalesce(u.hides_ai, ?0) AS hides_ai", false).
		ColumnExpr("CASE WHEN u.suspended_at IS NULL THEN '' ELSE coalesce(nullif(u.suspension_reason, ''), 'no reason was given') END AS suspended")
}

func (p privileges) caller(userID int64, scopes auth.Scopes) auth.Caller {
	return auth.Caller{UserID: userID, Role: models.RoleOf(p.isAdmin, p.isModerator), Suspended: p.suspended,
		Scopes: scopes, HidesNSFW: p.hidesNSFW, HidesAI: p.hidesAI}
}
