// Package collections creates and changes collections, and adds things to them.
package collections

import "github.com/meshyard/meshyard/models"

// Store has the operations that change collections.
type Store struct{ core *models.Store }

// New adds the changes of collections to the core.
func New(core *models.Store) *Store { return &Store{core} }
