// Package uploads receives the bytes of files: at once, by a form, or in parts by the tus protocol.
// An upload is a pending file until it is finalized.
package uploads

import "github.com/meshyard/meshyard/models"

// Store has the operations on uploads.
type Store struct {
	core      *models.Store
	receiving receiving
}

// New adds uploads to the core.
func New(core *models.Store) *Store {
	core.DB.Register((*Resumable)(nil))
	return &Store{core: core}
}
