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

// Authenticate returns the caller that an access token belongs to. It returns Unauthenticated if
// the token is unknown, expired or revoked. A successful result is cached for a second: a token
// that is revoked by another process remains valid until then, one that is revoked by this process
// does not.
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
	ctx = database.WithCachedResult(ctx)
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
		s.activity.note(&s.activity.tokens, row.ID, at)
	}
	if row.UserID != 0 && (lastActive == nil || at.Sub(*lastActive) > activeEvery) {
		s.activity.note(&s.activity.users, row.UserID, at)
	}
	s.tokens.put(hash, caller, caller.ExpiresAt, known)
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
	return q.ColumnExpr("coalesce(u.is_admin, ?0) AS is_admin, coalesce(u.is_moderator, ?0) AS is_moderator, coalesce(u.hides_nsfw, ?0) AS hides_nsfw, coalesce(u.hides_ai, ?0) AS hides_ai", false).
		ColumnExpr("CASE WHEN u.suspended_at IS NULL THEN '' ELSE coalesce(nullif(u.suspension_reason, ''), 'no reason was given') END AS suspended")
}

func (p privileges) caller(userID int64, scopes auth.Scopes) auth.Caller {
	return auth.Caller{UserID: userID, Role: roleOf(p.isAdmin, p.isModerator), Suspended: p.suspended, Scopes: scopes, HidesNSFW: p.hidesNSFW, HidesAI: p.hidesAI}
}

const (
	tokenMemory     = time.Second
	tokenMemorySize = 10_000
)

// tokenCache caches successful authentications. Without it, every request would start with a query
// of its token.
type tokenCache struct {
	mu   sync.Mutex
	good map[string]cachedCaller
	age  int64 // how often the cache was cleared
}

type cachedCaller struct {
	caller auth.Caller
	until  time.Time
}

func newTokenCache() *tokenCache { return &tokenCache{good: make(map[string]cachedCaller)} }

// get returns a cached result. If there is none, the caller queries the database and passes age to
// put.
func (c *tokenCache) get(hash string) (caller auth.Caller, ok bool, age int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v, ok := c.good[hash]
	return v.caller, ok && time.Now().Before(v.until), c.age
}

// put caches a result, at most until it expires. It does nothing if the cache was cleared since get
// returned age.
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
		clear(c.good) // entries live for a second, so an LRU list would cost more
	}
	c.good[hash] = cachedCaller{caller, until}
}

// forget clears the cache. It must be called after a transaction that may change a cached result is
// committed.
func (c *tokenCache) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.good)
	c.age++
}
