package graph

import (
	"context"

	"github.com/99designs/gqlgen/graphql"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models"
)

// identified gives who makes the request, or Unauthenticated where that is nobody.
func identified(ctx context.Context) (auth.Caller, error) {
	caller, err := auth.From(ctx)
	if err == nil && !caller.Known() {
		err = &models.Error{Code: models.Unauthenticated, Message: "an access token is needed"}
	}
	return caller, err
}

// Authorize tells whether the caller's token carries a scope: nil, Unauthenticated or Forbidden.
func Authorize(ctx context.Context, scope auth.Scope) error {
	caller, err := identified(ctx)
	switch {
	case err != nil:
		return err
	case caller.Suspended != "" && scope != auth.Read:
		return &models.Error{Code: models.Forbidden, Message: "your account is suspended, so it only reads: " + caller.Suspended}
	case scope == auth.Admin && caller.Role != auth.Moderator && caller.Role != auth.Administrator:
		return &models.Error{Code: models.Forbidden, Message: "this is for the staff"}
	case !caller.Scopes.Has(scope):
		return &models.Error{Code: models.Forbidden, Message: "the access token lacks the scope " + string(scope)}
	}
	return nil
}

// requireScope is @auth.
func requireScope(ctx context.Context, _ any, next graphql.Resolver, scope auth.Scope) (any, error) {
	if err := Authorize(ctx, scope); err != nil {
		return nil, err
	}
	return next(ctx)
}

// caller is who makes the request, where @auth has let it through.
func caller(ctx context.Context) auth.Caller {
	c, _ := auth.From(ctx)
	return c
}
