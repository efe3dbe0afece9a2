package graph

import (
	"context"

	"github.com/meshyard/meshyard/models"
)

// me returns the user of the caller.
func (r *Resolver) me(ctx context.Context) (*models.User, error) {
	return r.Store.User(ctx, caller(ctx), selected(ctx, models.AllUserFields), "me")
}
