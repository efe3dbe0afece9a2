// Package graph implements the GraphQL schema. Each object type has a schema file (*.graphqls) next
// to its resolvers (*.resolvers.go). Resolvers check the caller's scope, call package models, and
// convert the results. Business rules and database queries are in package models.
package graph

import (
	"context"

	"github.com/meshyard/meshyard/internal/slicerlink"
	"github.com/meshyard/meshyard/internal/urls"
	"github.com/meshyard/meshyard/models/catalogue"
)

//go:generate go run ../internal/graphql/graphqlgen

// Resolver has the dependencies of the resolvers.
type Resolver struct {
	Store *catalogue.Catalogue
	URLs  urls.Builder
	// AnonymousRead permits queries without a token. They can read public data only.
	AnonymousRead bool
	// Programs are the programs that files can be opened in.
	Programs slicerlink.Programs
}

// at returns the resolver whose URLs begin with the base URL that the request of ctx has used.
func (r *Resolver) at(ctx context.Context) *Resolver {
	own := r.URLs.For(ctx)
	if own.Base == r.URLs.Base {
		return r
	}
	other := *r
	other.URLs = own
	return &other
}
