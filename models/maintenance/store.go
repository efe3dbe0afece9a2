// Package maintenance keeps the database and the bucket consistent: it collects garbage, checks and
// recounts, and reads what a backup has.
package maintenance

import (
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/previews"
)

// Store has the operations of maintenance.
type Store struct {
	core     *models.Store
	previews *previews.Store
}

// New adds maintenance to the core.
func New(core *models.Store, of *previews.Store) *Store {
	core.DB.Register((*LastRun)(nil), (*deletedContent)(nil), (*sweepPosition)(nil))
	return &Store{core, of}
}

// Admin has the operations of the command line. They do not check the permissions of a caller.
type Admin struct{ store *Store }

// Admin returns the operations of the command line.
func (s *Store) Admin() Admin { return Admin{s} }
