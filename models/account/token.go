package account

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/apierror"
	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/internal/fieldset"
	"github.com/meshyard/meshyard/models"
)

// Token is an access token. Only its hash is stored.
type Token struct {
	bun.BaseModel `bun:"table:tokens,alias:tk"`
	database.Listed

	ID            int64 `bun:",pk,autoincrement" reads:"UserID"`
	UserID        int64 `bun:",nullzero"` // 0: it belongs to an application itself
	ApplicationID int64 `bun:",nullzero"` // 0: it was not issued to an application
	Name          string
	SHA256        string `bun:"sha256"`
	Scopes        string // separated by spaces
	CreatedAt     time.Time
	ExpiresAt     *time.Time // nil: never
	RevokedAt     *time.Time
	LastUsedAt    *time.Time // accurate to usedEvery; nil: never
}

// TokenFields is a set of fields of a token.
type TokenFields = fieldset.Set[Token]

var tokens = database.NewTable(func(t *Token) (int64, *database.Listed) { return t.ID, &t.Listed })

// AllTokenFields has all fields of a token except its hash.
var AllTokenFields = tokens.All().Without(fieldset.Of[Token]("SHA256"))

// ScopeList returns the scopes as a list.
func (t *Token) ScopeList() []auth.Scope {
	scopes, _ := auth.ParseScopes(strings.Fields(t.Scopes)) // they were parsed before they were stored
	return scopes
}

// insertToken stores a new token and returns it. The token cannot be read again.
func insertToken(ctx context.Context, tx bun.Tx, row *Token) (token string, err error) {
	token = auth.NewToken()
	row.SHA256, _ = auth.Hash(token)
	row.CreatedAt = models.Now()
	_, err = tx.NewInsert().Model(row).Exec(ctx)
	return token, err
}

// CreateToken creates an access token of the user with a name and returns it. The token cannot be
// read again. If lifetime is 0, it does not expire. It returns BadInput if a member is to get the
// scope admin, and Forbidden if the user is suspended. It opens a transaction.
func (a Admin) CreateToken(ctx context.Context, username, name string, scopes auth.Scopes,
	lifetime time.Duration) (string, error) {
	s := a.store
	if err := models.CheckLine("name", name, models.MaxName); err != nil {
		return "", err
	}
	u, err := s.core.User(ctx, auth.Caller{}, models.UserAccess, username)
	if err != nil {
		return "", err
	}
	if scopes.Has(auth.Admin) && u.Role() == auth.Member {
		return "", models.Invalid("scopes", "scope admin: %s is not an administrator or moderator", u.Username)
	}
	row := &Token{UserID: u.ID, Name: name, Scopes: scopes.String()}
	if lifetime > 0 {
		expires := models.Now().Add(lifetime)
		row.ExpiresAt = &expires
	}
	token := ""
	err = s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if _, err := s.core.LockActive(ctx, tx, u.ID); err != nil {
			return err
		}
		token, err = insertToken(ctx, tx, row)
		return err
	})
	return token, err
}

// NewToken is the input of CreateToken.
type NewToken struct {
	Name      string
	Scopes    []auth.Scope
	ExpiresAt *time.Time // nil: when the caller's token expires
}

// CreateToken creates an access token of the caller's user and returns it. The token cannot be read
// again. It has no scopes that the caller's token lacks, and does not expire later. For an
// application it returns Forbidden, because users could not revoke the tokens that an application
// creates. It also returns Forbidden if the user was suspended, and Unauthenticated if the caller's
// token was revoked, since the request was authenticated. It returns Conflict if the user has too
// many tokens. It opens a transaction.
func (s *Store) CreateToken(ctx context.Context, caller auth.Caller, n NewToken) (string, *Token, error) {
	if caller.ApplicationID != 0 {
		return "", nil, models.Fail(models.Forbidden, "an application cannot create tokens")
	}
	names := make([]string, len(n.Scopes))
	for i, scope := range n.Scopes {
		if !caller.Scopes.Has(scope) {
			return "", nil, models.Fail(models.Forbidden, "the access token lacks the scope %s, so it cannot grant it", scope)
		}
		names[i] = string(scope)
	}
	err := models.CheckLine("name", n.Name, models.MaxName)
	scopes, wrong := auth.ParseScopes(names)
	if wrong != nil { // there are none: each was found among the scopes of the caller
		err = errors.Join(err, models.Invalid("scopes", "%s", wrong).WithFieldCode(apierror.FieldRequired))
	}
	row := &Token{UserID: caller.UserID, Name: n.Name, Scopes: scopes.String()}
	if n.ExpiresAt != nil {
		at := n.ExpiresAt.UTC().Truncate(time.Microsecond)
		if !models.Now().Before(at) || at.Year() > 9999 {
			err = errors.Join(err, models.Invalid("expiresAt", "expiresAt: must be in the future").
				WithFieldCode(apierror.FieldOutOfRange))
		}
		row.ExpiresAt = &at
	}
	if err != nil {
		return "", nil, err
	}
	if limit := caller.ExpiresAt; !limit.IsZero() {
		switch {
		case row.ExpiresAt == nil:
			row.ExpiresAt = &limit
		case row.ExpiresAt.After(limit):
			return "", nil, models.Invalid("expiresAt",
				"expiresAt: must be at most %s, when the access token of the request expires", limit.Format(time.RFC3339)).
				WithFieldCode(apierror.FieldOutOfRange)
		}
	}
	token := ""
	err = s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := s.checkTokenCount(ctx, tx, caller.UserID); err != nil {
			return err
		}
		if err := checkNotRevoked(ctx, tx, caller); err != nil {
			return err
		}
		token, err = insertToken(ctx, tx, row)
		return err
	})
	if err != nil {
		return "", nil, err
	}
	return token, row, nil
}

const (
	maxTokens            = 100 // valid tokens that a user created
	maxApplicationTokens = 50  // of one user for one application, and of an application itself
	maxListedTokens      = 1_000
)

// checkNotRevoked returns Unauthenticated if the token of the caller was revoked. The user is
// locked, as in transactions that revoke tokens.
func checkNotRevoked(ctx context.Context, tx bun.Tx, caller auth.Caller) error {
	if caller.TokenID == 0 {
		return nil
	}
	valid, err := tx.NewSelect().Model((*Token)(nil)).Where("tk.id = ? AND tk.revoked_at IS NULL", caller.TokenID).
		Exists(ctx)
	if err == nil && !valid {
		err = models.Fail(models.Unauthenticated, "the access token was revoked")
	}
	return err
}

// checkTokenCount returns Conflict if the user has the maximum number of valid tokens of their own,
// and Forbidden if the user is suspended. It locks the user until tx ends, so that no other token
// is created for the user meanwhile.
func (s *Store) checkTokenCount(ctx context.Context, tx bun.Tx, userID int64) error {
	if _, err := s.core.LockActive(ctx, tx, userID); err != nil {
		return err
	}
	n, err := tx.NewSelect().Model((*Token)(nil)).
		Where("tk.user_id = ? AND tk.application_id IS NULL AND tk.revoked_at IS NULL", userID).
		Where("tk.expires_at IS NULL OR tk.expires_at > ?", models.Now()).Count(ctx)
	if err != nil || n < maxTokens {
		return err
	}
	e := models.Fail(models.Conflict, "you have %d access tokens, and at most %d are allowed: revoke one first", n,
		maxTokens)
	e.Limit = maxTokens
	return e
}

type ownTokens struct{}

func (ownTokens) Select(b *database.Builder, _ any) *bun.SelectQuery {
	return b.Select().TableExpr("tokens AS tk").Where("tk.user_id = ? AND tk.revoked_at IS NULL",
		b.Arg(database.CallerArg))
}

// Tokens lists the access tokens of the caller's user that are not revoked, the latest first. They
// may have expired.
func (s *Store) Tokens(caller auth.Caller) (models.List, error) {
	if err := models.RequireUser(caller); err != nil {
		return models.List{}, err
	}
	return models.List{DB: s.core.DB.DB, By: database.Order{ID: "tk.id"}, Rows: ownTokens{}, Caller: caller.UserID}, nil
}

// WorkingTokens returns the access tokens of the caller's user that give access, the latest first.
// They include those of applications, also if they have expired and can be refreshed: ExpiresAt is
// when the access ends.
func (s *Store) WorkingTokens(ctx context.Context, caller auth.Caller) (tokens []*Token, err error) {
	if err := models.RequireUser(caller); err != nil {
		return nil, err
	}
	const expires = "coalesce(rt.expires_at, tk.expires_at)"
	err = s.core.DB.Read.NewSelect().Model(&tokens).ExcludeColumn("sha256", "expires_at").
		ColumnExpr(expires+" AS expires_at").
		Join("LEFT JOIN refresh_tokens AS rt ON rt.token_id = tk.id").Where("tk.user_id = ? AND tk.revoked_at IS NULL",
		caller.UserID).
		Where(expires+" IS NULL OR "+expires+" > ?", models.Now()).Order("tk.id DESC").Limit(maxListedTokens).Scan(ctx)
	return tokens, err
}

// Allows returns nil if the token belongs to the caller's user, else NotFound.
func (t *Token) Allows(caller auth.Caller) error {
	if caller.UserID == 0 || t.UserID != caller.UserID {
		return models.NoSuch("token", t.ID)
	}
	return nil
}

// TokensOf returns the access tokens of the user with a name that are not revoked, the latest
// first.
func (a Admin) TokensOf(ctx context.Context, username string) (tokens []*Token, err error) {
	s := a.store
	u, err := s.core.User(ctx, auth.Caller{}, models.UserAccess, username)
	if err != nil {
		return nil, err
	}
	err = s.core.DB.Read.NewSelect().Model(&tokens).ExcludeColumn("sha256").
		Where("tk.user_id = ? AND tk.revoked_at IS NULL", u.ID).Order("tk.id DESC").Scan(ctx)
	return tokens, err
}

// RevokeToken revokes an access token of the caller's user. If an application got it by a sign-in,
// all tokens of the sign-in are revoked, including those that were refreshed from it. RevokeToken
// returns NotFound for a token of another user. An application can revoke only the token that it
// uses, and otherwise gets Forbidden. It opens a transaction.
func (s *Store) RevokeToken(ctx context.Context, caller auth.Caller, id int64) (*Token, error) {
	if caller.ApplicationID != 0 && caller.TokenID != id {
		return nil, models.Fail(models.Forbidden, "an application can revoke only its own token")
	}
	return s.revoke(ctx, id, "tk.user_id = ?", caller.UserID)
}

// RevokeAnyToken revokes an access token of any user or application, in the same way as
// [Store.RevokeToken]. It opens a transaction.
func (a Admin) RevokeAnyToken(ctx context.Context, id int64) (*Token, error) {
	return a.store.revoke(ctx, id, "1 = 1")
}

// revoke revokes a token that a condition permits, with its sign-in. A token that was revoked
// before keeps the time of its revocation.
func (s *Store) revoke(ctx context.Context, id int64, whose string, args ...any) (*Token, error) {
	t := new(Token)
	err := s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		read := tx.NewSelect().Model(t).Where("tk.id = ?", id).Where(whose, args...)
		if err := read.Scan(ctx); err != nil {
			return err
		}
		if t.UserID != 0 { // lock the user, as in refresh
			_, err := s.core.LockAccount(ctx, tx, t.UserID)
			if models.CodeOf(err) == models.NotFound { // the account was deleted since, with its tokens
				return sql.ErrNoRows
			}
			if err != nil {
				return err
			}
		}
		if err := endSignIn(ctx, tx, id); err != nil {
			return err
		}
		return read.Scan(ctx)
	})
	if err != nil {
		return nil, models.NoSuchIfNoRows(err, "token", id)
	}
	return t, nil
}

// TokenInfo returns the application that a valid token was issued to, or "" for none, and its user,
// or 0 for none.
func (s *Store) TokenInfo(ctx context.Context, token string) (clientID string, userID int64, err error) {
	caller, err := s.Authenticate(ctx, token)
	if err != nil || caller.ApplicationID == 0 {
		return "", caller.UserID, err
	}
	found, err := s.ApplicationsByID(ctx, AllApplicationFields, []int64{caller.ApplicationID})
	if err != nil {
		return "", 0, err
	}
	if found[caller.ApplicationID] == nil {
		return "", 0, models.Fail(models.Unauthenticated, "the access token is unknown")
	}
	return found[caller.ApplicationID].ClientID, caller.UserID, nil
}

// NodeID returns the node ID of the access token.
func (t *Token) NodeID() string { return models.NodeRef{Type: "AccessToken", ID: t.ID}.NodeID() }
