package auth

import (
	"context"

	"github.com/meshyard/meshyard/internal/apierror"
)

// Identified returns the caller of the request, or an Unauthenticated error if there is none.
func Identified(ctx context.Context) (Caller, error) {
	caller, err := From(ctx)
	if err == nil && !caller.Known() {
		err = apierror.New(apierror.Unauthenticated, "an access token is required")
	}
	return caller, err
}

// Authorize returns nil if the caller's token has the scope, and otherwise an Unauthenticated or
// Forbidden error.
func Authorize(ctx context.Context, scope Scope) error {
	caller, err := Identified(ctx)
	switch {
	case err != nil:
		return err
	case caller.Suspended != "" && scope != Read:
		return apierror.New(apierror.Forbidden, "your account is suspended and can only read: %s", caller.Suspended)
	case scope == Admin && caller.Role != Moderator && caller.Role != Administrator:
		return apierror.New(apierror.Forbidden, "requires a moderator or an administrator")
	case !caller.Scopes.Has(scope):
		return apierror.New(apierror.Forbidden, "the access token lacks the scope %s", scope)
	}
	return nil
}
