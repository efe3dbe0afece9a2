// Package importer imports many things at once, with their metadata, from other services.
package importer

import (
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/collections"
	"github.com/meshyard/meshyard/models/uploads"
)

// Store imports things.
type Store struct {
	core        *models.Store
	collections *collections.Store
	uploads     *uploads.Store
}

// New adds imports to the core.
func New(core *models.Store, c *collections.Store, u *uploads.Store) *Store {
	return &Store{core, c, u}
}

// Admin has the operations of the command line. They do not check the permissions of a caller.
type Admin struct{ store *Store }

// Admin returns the operations of the command line.
func (s *Store) Admin() Admin { return Admin{s} }
