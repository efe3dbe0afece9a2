// Package graph implements the GraphQL schema. Each object type has a schema file (*.graphqls) next
// to its resolvers (*.resolvers.go). Resolvers check the caller's scope, call package models, and
// convert the results. Business rules and database queries are in package models.
package graph

import (
	"github.com/meshyard/meshyard/internal/urls"
	"github.com/meshyard/meshyard/models"
)

//go:generate go run ../internal/graphqlgen

// Resolver has the dependencies of the resolvers.
type Resolver struct {
	Store *models.Store
	URLs  urls.Builder
	// AnonymousRead permits queries without a token. They can read public data only.
	AnonymousRead bool
}
