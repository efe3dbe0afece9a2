// Package archive writes and reads archives: of everything, or of what one user has.
package archive

import (
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/maintenance"
	"github.com/meshyard/meshyard/models/previews"
)

// Store has the archives that users download.
type Store struct {
	core        *models.Store
	maintenance *maintenance.Store
	previews    *previews.Store
}

// New adds archives to the core.
func New(core *models.Store, upkeep *maintenance.Store, pictures *previews.Store) *Store {
	return &Store{core, upkeep, pictures}
}

// Admin has the operations of the command line. They do not check the permissions of a caller.
type Admin struct{ store *Store }

// Admin returns the operations of the command line.
func (s *Store) Admin() Admin { return Admin{s} }
