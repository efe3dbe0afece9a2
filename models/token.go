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
)

// Token is what is kept of an access token: never the token itself.
type Token struct {
	bun.BaseModel `bun:"table:tokens,alias:tk"`

	ID        int64 `bun:",pk,autoincrement"`
	UserID    int64
	Name      string
	SHA256    string `bun:"sha256"`
	Scopes    string // separated by spaces
	CreatedAt time.Time
	ExpiresAt *time.Time // nil: never
	RevokedAt *time.Time
}

// CreateToken makes an access token of the user of that name and gives it, the only time that it can be seen.
// lifetime 0 is for ever.
func (s *Store) CreateToken(ctx context.Context, username, name string, scopes auth.Scopes, lifetime time.Duration) (string, error) {
	u, err := s.User(ctx, auth.Caller{}, username)
	if err != nil {
		return "", err
	}
	if scopes.Has(auth.Admin) && !u.IsAdmin {
		return "", badInput("scopes", "scope admin: %s is not an administrator", u.Username)
	}
	token := auth.NewToken()
	hash, _ := auth.Hash(token)
	row := &Token{UserID: u.ID, Name: name, SHA256: hash, Scopes: scopes.String(), CreatedAt: now()}
	if lifetime > 0 {
		expires := row.CreatedAt.Add(lifetime)
		row.ExpiresAt = &expires
	}
	if _, err := s.db.write.NewInsert().Model(row).Exec(ctx); err != nil {
		return "", err
	}
	return token, nil
}

// Authenticate gives the caller that an access token stands for. One that is unknown, expired or revoked is
// Unauthenticated. A good verdict is remembered for a second, so a revoked token dies within that.
func (s *Store) Authenticate(ctx context.Context, token string) (auth.Caller, error) {
	hash, ok := auth.Hash(token)
	if !ok {
		return auth.Caller{}, fail(Unauthenticated, "the access token is unknown")
	}
	if caller, ok := s.tokens.get(hash); ok {
		return caller, nil
	}
	var row struct {
		Token   `bun:",extend"`
		IsAdmin bool
	}
	err := s.db.read.NewSelect().Model(&row.Token).Column("tk.id", "tk.user_id", "tk.scopes", "tk.expires_at", "tk.revoked_at").ColumnExpr("u.is_admin").
		Join("JOIN users AS u ON u.id = tk.user_id").Where("tk.sha256 = ?", hash).
		Scan(ctx, &row.ID, &row.UserID, &row.Scopes, &row.ExpiresAt, &row.RevokedAt, &row.IsAdmin)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return auth.Caller{}, fail(Unauthenticated, "the access token is unknown")
	case err != nil:
		return auth.Caller{}, err
	case row.RevokedAt != nil:
		return auth.Caller{}, fail(Unauthenticated, "the access token was revoked")
	case row.ExpiresAt != nil && !now().Before(*row.ExpiresAt):
		return auth.Caller{}, fail(Unauthenticated, "the access token expired")
	}
	scopes, err := auth.ParseScopes(strings.Fields(row.Scopes))
	if err != nil {
		return auth.Caller{}, err
	}
	caller := auth.Caller{TokenID: row.ID, UserID: row.UserID, IsAdmin: row.IsAdmin, Scopes: scopes}
	until := time.Now().Add(tokenMemory)
	if row.ExpiresAt != nil && row.ExpiresAt.Before(until) {
		until = *row.ExpiresAt
	}
	s.tokens.put(hash, caller, until)
	return caller, nil
}

const (
	tokenMemory     = time.Second
	tokenMemorySize = 10_000
)

// tokenCache remembers good verdicts: without it every request would begin with a statement about the same token.
type tokenCache struct {
	mu   sync.Mutex
	good map[string]verdict
}

type verdict struct {
	caller auth.Caller
	until  time.Time
}

func newTokenCache() *tokenCache { return &tokenCache{good: make(map[string]verdict)} }

func (c *tokenCache) get(hash string) (auth.Caller, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v, ok := c.good[hash]
	return v.caller, ok && time.Now().Before(v.until)
}

func (c *tokenCache) put(hash string, caller auth.Caller, until time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.good) >= tokenMemorySize {
		clear(c.good) // a second's memory: starting over is cheaper than keeping an order
	}
	c.good[hash] = verdict{caller, until}
}
