package account

import (
	"context"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/auth/oauth"
)

// Internals that the tests of package account_test use.

const PurgeAgain = purgeAgain

type (
	AccountLink = accountLink
	LinkedID    = identity
)

var (
	InsertToken  = insertToken
	InsertLink   = insertLink
	ConfirmEmail = confirmEmail
	Lifetime     = lifetime
)

func (s *Store) ApplyRoles(ctx context.Context, userID int64, id auth.Identity) error {
	return s.applyRoles(ctx, userID, id)
}

func (a *Application) OAuth() *oauth.Application { return a.oauth() }
