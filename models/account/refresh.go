package account

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/auth/oauth"
	"github.com/meshyard/meshyard/models"
)

// refreshToken is a stored refresh token. It can be exchanged once, for an access token and the
// next refresh token of the same sign-in.
type refreshToken struct {
	bun.BaseModel `bun:"table:refresh_tokens,alias:rt"`

	SHA256    string `bun:"sha256,pk"`
	SignIn    string // the hash of the first refresh token of the sign-in
	TokenID   int64  // of the access token that was issued with it
	ExpiresAt time.Time
	UsedAt    *time.Time
}

// issueWithRefresh issues an access token that expires, and a refresh token. signIn is empty for
// the first tokens of a sign-in.
func (s *Store) issueWithRefresh(ctx context.Context, tx bun.Tx, row *Token, signIn string) (*oauth.Token, error) {
	at := models.Now()
	expires := at.Add(oauth.AccessLifetime)
	row.ExpiresAt = &expires
	token, err := s.issue(ctx, tx, row)
	if err != nil {
		return nil, err
	}
	token.Refresh = auth.NewSecret()
	next := &refreshToken{SHA256: auth.HashSecret(token.Refresh), SignIn: signIn, TokenID: row.ID,
		ExpiresAt: at.Add(oauth.RefreshLifetime)}
	if signIn == "" {
		next.SignIn = next.SHA256
	}
	_, err = tx.NewInsert().Model(next).Exec(ctx)
	return token, err
}

// Refresh exchanges a refresh token of an application for a new access token and a new refresh
// token, and revokes the access token that was issued with it. If a refresh token is used a second
// time, one of the two uses was by a thief, so all tokens of its sign-in are revoked. It returns
// BadInput if the refresh token cannot be used, such as that of a suspended user.
func (s *Store) Refresh(ctx context.Context, a *oauth.Application, refresh string) (token *oauth.Token, err error) {
	err = s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		token, err = s.refresh(ctx, tx, a, refresh)
		return err
	})
	if err != nil {
		return nil, err
	}
	if token == nil {
		return nil, errRefresh
	}
	return token, nil
}

var errRefresh = models.Fail(models.BadInput,
	"the refresh_token is unknown, expired, revoked or used, or it was issued to another application")

// refresh is Refresh within a transaction. It returns neither a token nor an error if it has
// revoked the tokens of the sign-in.
func (s *Store) refresh(ctx context.Context, tx bun.Tx, a *oauth.Application, refresh string) (*oauth.Token, error) {
	row, old := new(refreshToken), new(Token)
	read := func() error {
		err := tx.NewSelect().Model(row).Where("rt.sha256 = ?", auth.HashSecret(refresh)).Scan(ctx)
		if err == nil {
			err = tx.NewSelect().Model(old).Column("tk.id", "tk.user_id", "tk.application_id", "tk.scopes", "tk.revoked_at").
				Where("tk.id = ?", row.TokenID).Scan(ctx)
		}
		return err
	}
	err := read()
	if err == nil {
		// Transactions that revoke several tokens of the user lock the user, too. Without the lock, they
		// would miss the new token.
		if err = s.lockHolder(ctx, tx, old); err == nil {
			err = read()
		}
	}
	switch {
	case errors.Is(err, sql.ErrNoRows), models.CodeOf(err) == models.NotFound, models.CodeOf(err) == models.Forbidden:
		return nil, errRefresh
	case err != nil:
		return nil, err
	case old.ApplicationID != a.ID, !models.Now().Before(row.ExpiresAt):
		return nil, errRefresh
	case row.UsedAt != nil:
		return nil, endSignIn(ctx, tx, row.TokenID)
	case old.RevokedAt != nil:
		return nil, errRefresh
	}
	at := models.Now()
	row.UsedAt = &at
	if _, err := tx.NewUpdate().Model(row).Column("used_at").WherePK().Exec(ctx); err != nil {
		return nil, err
	}
	if _, err := tx.NewUpdate().Model((*Token)(nil)).Set("revoked_at = ?", at).Where("id = ?", old.ID).
		Exec(ctx); err != nil {
		return nil, err
	}
	return s.issueWithRefresh(ctx, tx, &Token{UserID: old.UserID, ApplicationID: a.ID, Name: a.Name, Scopes: old.Scopes},
		row.SignIn)
}

// endSignIn revokes an access token and all others of the sign-in that it belongs to, if any. The
// caller has locked the user. This also ends its refresh tokens: Refresh rejects a refresh token
// whose access token is revoked.
func endSignIn(ctx context.Context, tx bun.Tx, tokenID int64) error {
	_, err := tx.NewRaw(`UPDATE tokens SET revoked_at = coalesce(revoked_at, ?0) WHERE id = ?1 OR id IN (SELECT of_sign_in.token_id
		FROM refresh_tokens AS rt JOIN refresh_tokens AS of_sign_in ON of_sign_in.sign_in = rt.sign_in WHERE rt.token_id = ?1)`, models.Now(), tokenID).Exec(ctx)
	return err
}
