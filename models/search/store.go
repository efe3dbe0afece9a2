// Package search finds things, makes, users and collections by their texts.
package search

import "github.com/meshyard/meshyard/models"

// Store has the searches.
type Store struct{ core *models.Store }

// New adds searches to the core.
func New(core *models.Store) *Store { return &Store{core} }
