// Package files changes, orders and deletes files and images that are finalized.
package files

import "github.com/meshyard/meshyard/models"

// Store has the operations that change files.
type Store struct{ core *models.Store }

// New adds the changes of files to the core.
func New(core *models.Store) *Store { return &Store{core} }
