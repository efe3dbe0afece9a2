package models

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
)

// Token is what is kept of an access token: never the token itself.
type Token struct {
	bun.BaseModel `bun:"table:tokens,alias:tk"`

	ID            int64 `bun:",pk,autoincrement"`
	UserID        int64 `bun:",nullzero"` // 0: an application's own
	ApplicationID int64 `bun:",nullzero"` // 0: no application's
	Name          string
	SHA256        string `bun:"sha256"`
	Scopes        string // separated by spaces
	CreatedAt     time.Time
	ExpiresAt     *time.Time // nil: never
	RevokedAt     *time.Time
	LastUsedAt    *time.Time // give or take usedEvery; nil: never
}

// ScopeList returns the scopes one by one.
func (t *Token) ScopeList() []auth.Scope {
	scopes, _ := auth.ParseScopes(strings.Fields(t.Scopes)) // they were parsed before they were kept
	return scopes
}

// insertToken makes the row of a new token and gives the token, the only time that it can be seen.
func insertToken(ctx context.Context, db bun.IDB, row *Token) (token string, err error) {
	token = auth.NewToken()
	row.SHA256, _ = auth.Hash(token)
	row.CreatedAt = now()
	_, err = db.NewInsert().Model(row).Exec(ctx)
	return token, err
}

// Authenticate returns the caller that an access token stands for. One that is unknown, expired or
// revoked is Unauthenticated. A good result is remembered for a second: a token that is revoked by
// another process dies within that, one that is revoked here at once.
func (s *Store) Authenticate(ctx context.Context, token string) (auth.Caller, error) {
	hash, ok := auth.Hash(token)
	if !ok {
		return auth.Caller{}, fail(Unauthenticated, "the access token is unknown")
	}
	caller, ok, known := s.tokens.get(hash)
	if ok {
		return caller, nil
	}
	var row Token
	var of privileges
	var lastActive *time.Time
	ctx = database.WithRemembered(ctx)
	err := selectPrivileges(s.db.Read.NewSelect().Model(&row)).
		Column("tk.id", "tk.scopes", "tk.expires_at", "tk.revoked_at", "tk.last_used_at").
		ColumnExpr("coalesce(tk.user_id, 0) AS user_id, coalesce(tk.application_id, 0) AS application_id, u.last_active_at AS last_active_at").
		Join("LEFT JOIN users AS u ON u.id = tk.user_id").Where("tk.sha256 = ?", hash).
		Scan(ctx, &of.isAdmin, &of.isModerator, &of.hidesNSFW, &of.hidesAI, &of.suspended, &row.ID, &row.Scopes, &row.ExpiresAt, &row.RevokedAt, &row.LastUsedAt, &row.UserID, &row.ApplicationID, &lastActive)
	at := now()
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return auth.Caller{}, fail(Unauthenticated, "the access token is unknown")
	case err != nil:
		return auth.Caller{}, err
	case row.RevokedAt != nil:
		return auth.Caller{}, fail(Unauthenticated, "the access token was revoked")
	case row.ExpiresAt != nil && !at.Before(*row.ExpiresAt):
		return auth.Caller{}, fail(Unauthenticated, "the access token expired")
	}
	scopes, err := auth.ParseScopes(strings.Fields(row.Scopes))
	if err != nil {
		return auth.Caller{}, err
	}
	caller = of.caller(row.UserID, scopes)
	caller.TokenID, caller.ApplicationID = row.ID, row.ApplicationID
	if row.ExpiresAt != nil {
		caller.ExpiresAt = *row.ExpiresAt
	}
	if row.LastUsedAt == nil || at.Sub(*row.LastUsedAt) > usedEvery {
		s.activity.noteUse(row.ID, at)
	}
	if row.UserID != 0 && (lastActive == nil || at.Sub(*lastActive) > activeEvery) {
		s.activity.noteActive(row.UserID, at)
	}
	s.tokens.put(hash, caller, caller.ExpiresAt, known)
	return caller, nil
}

// privileges is what decides what a user may do.
type privileges struct {
	isAdmin, isModerator bool
	suspended            string // why; empty: not suspended
	hidesNSFW, hidesAI   bool
}

// selectPrivileges selects privileges, field by field, of the users u, of which there may be none.
func selectPrivileges(q *bun.SelectQuery) *bun.SelectQuery {
	return q.ColumnExpr("coalesce(u.is_admin, ?0) AS is_admin, coalesce(u.is_moderator, ?0) AS is_moderator, coalesce(u.hides_nsfw, ?0) AS hides_nsfw, coalesce(u.hides_ai, ?0) AS hides_ai", false).
		ColumnExpr("CASE WHEN u.suspended_at IS NULL THEN '' ELSE u.suspension_reason END AS suspended")
}

func (p privileges) caller(userID int64, scopes auth.Scopes) auth.Caller {
	return auth.Caller{UserID: userID, Role: roleOf(p.isAdmin, p.isModerator), Suspended: p.suspended, Scopes: scopes, HidesNSFW: p.hidesNSFW, HidesAI: p.hidesAI}
}

const (
	tokenMemory     = time.Second
	tokenMemorySize = 10_000
)

// tokenCache remembers good verdicts: without it every request would begin with a statement about
// the same token.
type tokenCache struct {
	mu   sync.Mutex
	good map[string]cachedCaller
	age  int64 // how often all was forgotten
}

type cachedCaller struct {
	caller auth.Caller
	until  time.Time
}

func newTokenCache() *tokenCache { return &tokenCache{good: make(map[string]cachedCaller)} }

// get returns a result that is remembered. age is for put, which comes after the database was
// asked.
func (c *tokenCache) get(hash string) (caller auth.Caller, ok bool, age int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v, ok := c.good[hash]
	return v.caller, ok && time.Now().Before(v.until), c.age
}

// put remembers a result, until it expires at the latest, unless all was forgotten since it was
// looked for.
func (c *tokenCache) put(hash string, caller auth.Caller, expires time.Time, age int64) {
	until := time.Now().Add(tokenMemory)
	if !expires.IsZero() && expires.Before(until) {
		until = expires
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if age != c.age {
		return
	}
	if len(c.good) >= tokenMemorySize {
		clear(c.good) // a second's memory: starting over is cheaper than keeping an order
	}
	c.good[hash] = cachedCaller{caller, until}
}

// forget forgets all verdicts, after something was committed that may have changed one.
func (c *tokenCache) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.good)
	c.age++
}
