// Package archive writes and reads archives: of everything, or of what one user has.
package archive

import "github.com/meshyard/meshyard/models"

// Store has the archives that users download.
type Store struct{ core *models.Store }

// New adds archives to the core.
func New(core *models.Store) *Store { return &Store{core} }

// Admin has the operations of the command line. They do not check the permissions of a caller.
type Admin struct{ store *Store }

// Admin returns the operations of the command line.
func (s *Store) Admin() Admin { return Admin{s} }
