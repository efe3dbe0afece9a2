// Package graph implements the GraphQL schema. Each noun has a schema file (*.graphqls) and its
// resolvers (*.resolvers.go) side by side. Resolvers check the caller's scope, call package models,
// and convert results; rules and queries are in package models.
package graph

import (
	"github.com/meshyard/meshyard/internal/urls"
	"github.com/meshyard/meshyard/models"
)

//go:generate go run ../internal/graphqlgen

// Resolver holds what the resolvers depend on.
type Resolver struct {
	Store *models.Store
	URLs  urls.Builder
	// AnonymousRead permits queries without a token. They see what is public.
	AnonymousRead bool

	poller poller
}
