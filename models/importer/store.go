// Package importer imports many things at once, with their metadata, from other services.
package importer

import "github.com/meshyard/meshyard/models"

// Store imports things.
type Store struct{ core *models.Store }

// New adds imports to the core.
func New(core *models.Store) *Store { return &Store{core} }
