// Package graph is the GraphQL face: for each noun a schema file and its resolvers side by side.
package graph

import (
	"github.com/meshyard/meshyard/internal/urls"
	"github.com/meshyard/meshyard/models"
)

//go:generate go tool gqlgen generate --config ../gqlgen.yml

// Resolver is what the resolvers stand on.
type Resolver struct {
	Store *models.Store
	URLs  urls.Builder

	lookout lookout
}
