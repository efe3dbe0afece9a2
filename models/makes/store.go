// Package makes creates, changes and deletes makes.
package makes

import (
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/uploads"
)

// Store has the operations that change makes.
type Store struct {
	core    *models.Store
	uploads *uploads.Store
}

// New adds the changes of makes to the core. Pictures are staged by begun.
func New(core *models.Store, begun *uploads.Store) *Store {
	core.DB.Register((*printedFile)(nil))
	return &Store{core, begun}
}
