// Package lists has the lists of things, makes, comments, collections, users and tags: what is in
// them, in which order, and which filters they have.
package lists

import "github.com/meshyard/meshyard/models"

// Store has the lists.
type Store struct{ core *models.Store }

// New adds lists to the core.
func New(core *models.Store) *Store { return &Store{core} }
