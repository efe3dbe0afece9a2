// Package search finds things, makes, users and collections by their texts.
package search

import (
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/lists"
)

// Store has the searches.
type Store struct {
	core  *models.Store
	lists *lists.Store
}

// New adds searches to the core and the lists, whose filters they have.
func New(core *models.Store, all *lists.Store) *Store { return &Store{core, all} }
