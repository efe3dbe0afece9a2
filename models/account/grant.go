package account

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/auth/oauth"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/models"
)

// grant is a stored authorization code: the authorization that a user gave an application, which
// exchanges the code for a token.
type grant struct {
	bun.BaseModel `bun:"table:grants,alias:gr"`

	SHA256        string `bun:"sha256,pk"`
	ApplicationID int64
	UserID        int64
	Redirect      string
	Scopes        string
	Challenge     string
	CreatedAt     time.Time
	ExpiresAt     time.Time
	// TokenID is the ID of the token that was issued for the code; 0 if there is none yet.
	TokenID int64 `bun:",nullzero"`
}

// grantsKept is how long a code is stored: a second use within that time shows that it leaked.
const grantsKept = 24 * time.Hour

// Authorize stores the authorization that a user gives an application, and returns the code for it.
// It returns Forbidden if the user is suspended. It opens a transaction.
func (s *Store) Authorize(ctx context.Context, g oauth.Grant) (code string, err error) {
	code = auth.NewSecret()
	at := models.Now()
	row := &grant{
		SHA256: auth.HashSecret(code), ApplicationID: g.Application.ID, UserID: g.UserID, Redirect: g.Redirect,
		Scopes: g.Scopes.String(), Challenge: g.Challenge,
		CreatedAt: at, ExpiresAt: at.Add(oauth.CodeLifetime),
	}
	err = s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if _, err := s.core.LockActive(ctx, tx, g.UserID); err != nil {
			return err
		}
		_, err := tx.NewInsert().Model(row).Exec(ctx)
		return err
	})
	if database.IsForeignKey(err) { // it was deleted in the meantime
		err = models.NoSuch("application", row.ApplicationID)
	}
	return code, err
}

// AuthorizeImplicitly immediately issues the token that a user authorized (the implicit grant). It
// opens a transaction.
func (s *Store) AuthorizeImplicitly(ctx context.Context, g oauth.Grant) (*oauth.Token, error) {
	expires := models.Now().Add(oauth.ImplicitLifetime)
	return s.issueNow(ctx, &Token{UserID: g.UserID, ApplicationID: g.Application.ID, Name: g.Application.Name,
		Scopes: g.Scopes.String(), ExpiresAt: &expires})
}

// IssueOwn issues a token that belongs to an application itself and no user. It permits reading
// public data. It opens a transaction.
func (s *Store) IssueOwn(ctx context.Context, a *oauth.Application) (*oauth.Token, error) {
	expires := models.Now().Add(oauth.ApplicationLifetime)
	return s.issueNow(ctx, &Token{ApplicationID: a.ID, Name: a.Name, Scopes: string(auth.Read), ExpiresAt: &expires})
}

func (s *Store) issueNow(ctx context.Context, row *Token) (token *oauth.Token, err error) {
	err = s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		token, err = s.issue(ctx, tx, row)
		return err
	})
	if err != nil {
		return nil, err
	}
	return token, nil
}

// issue issues a token to an application. It keeps the last maxApplicationTokens tokens of a user,
// or of the application itself, and revokes older ones.
func (s *Store) issue(ctx context.Context, tx bun.Tx, row *Token) (*oauth.Token, error) {
	if err := s.lockHolder(ctx, tx, row); err != nil {
		return nil, err
	}
	token, err := insertToken(ctx, tx, row)
	if err != nil {
		return nil, err
	}
	same := func(q bun.QueryBuilder) bun.QueryBuilder {
		return q.Where("application_id = ? AND coalesce(user_id, 0) = ? AND revoked_at IS NULL", row.ApplicationID,
			row.UserID)
	}
	oldest := tx.NewSelect().Table("tokens").Column("id").ApplyQueryBuilder(same).Order("id DESC").Limit(1).
		Offset(maxApplicationTokens)
	_, err = tx.NewUpdate().Table("tokens").Set("revoked_at = ?", models.Now()).ApplyQueryBuilder(same).
		Where("id <= (?)", oldest).Exec(ctx)
	if err != nil {
		return nil, err
	}
	return &oauth.Token{Text: token, Scopes: row.ScopeList(), ExpiresAt: row.ExpiresAt}, nil
}

// lockHolder locks the user of a new token, or the application if the token belongs to none, until
// tx ends. It also prevents the deletion of the application. It returns NotFound if one of them
// does not exist any more, and Forbidden if the user is suspended.
func (s *Store) lockHolder(ctx context.Context, tx bun.Tx, row *Token) error {
	lock := s.core.DB.ForUpdate
	if row.UserID != 0 {
		if _, err := s.core.LockActive(ctx, tx, row.UserID); err != nil {
			return err
		}
		lock = s.core.DB.ForShare
	}
	var id int64
	err := lock(tx.NewSelect().Table("applications").Column("id").Where("id = ?", row.ApplicationID)).Scan(ctx, &id)
	return models.NoSuchIfNoRows(err, "application", row.ApplicationID)
}

// Redeem exchanges a code for a token, once, for the application that it was issued to. redirect is
// the redirect URI of the authorization request; an application with a secret may omit it. verifier
// is the PKCE code verifier. The token of an application that uses PKCE expires and comes with a
// refresh token; that of an old application, which only has a secret, does not expire. It returns
// BadInput if the code or one of the other arguments does not match, or if the user is suspended. A
// code that is used a second time has leaked: its token is revoked, and so are the tokens that were
// refreshed from it.
func (s *Store) Redeem(ctx context.Context, a *oauth.Application, code, redirect,
	verifier string) (token *oauth.Token, err error) {
	refused := models.Fail(models.BadInput,
		"the code is unknown, expired or used, or it is not for this client_id, redirect_uri and code_verifier")
	leaked := false
	err = s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		token, leaked = nil, false
		row := new(grant)
		read := func() error {
			return tx.NewSelect().Model(row).Where("gr.sha256 = ?", auth.HashSecret(code)).Scan(ctx)
		}
		err := read()
		if err == nil { // lock the user, as in refresh
			if err = s.lockHolder(ctx, tx, &Token{UserID: row.UserID, ApplicationID: row.ApplicationID}); err == nil {
				err = read()
			}
		}
		switch {
		case errors.Is(err, sql.ErrNoRows), models.CodeOf(err) == models.NotFound, models.CodeOf(err) == models.Forbidden:
			return refused
		case err != nil:
			return err
		case row.ApplicationID != a.ID:
			return refused
		case row.TokenID != 0:
			leaked = true
			return endSignIn(ctx, tx, row.TokenID)
		case !models.Now().Before(row.ExpiresAt), redirect != row.Redirect && (redirect != "" || a.Public),
			!oauth.MatchesChallenge(verifier, row.Challenge), a.Public && row.Challenge == "":
			return refused
		}
		made := &Token{UserID: row.UserID, ApplicationID: a.ID, Name: a.Name, Scopes: row.Scopes}
		if row.Challenge != "" {
			token, err = s.issueWithRefresh(ctx, tx, made, "")
		} else {
			token, err = s.issue(ctx, tx, made)
		}
		if err != nil {
			return err
		}
		row.TokenID = made.ID
		_, err = tx.NewUpdate().Model(row).Column("token_id").WherePK().Exec(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	if leaked {
		return nil, refused
	}
	return token, nil
}
