// Package previews generates the previews of files, stores them in the bucket, and compares the
// shapes of meshes.
package previews

import (
	"github.com/meshyard/meshyard/internal/coalesce"
	"github.com/meshyard/meshyard/models"
)

// Store has the operations on previews.
type Store struct {
	core *models.Store

	scalings   coalesce.Group[error] // of scaling images, by key
	scaling    chan struct{}         // limits concurrent scaling
	generating previewTurns
	poller     filePoller
}

// New adds previews to the core.
func New(core *models.Store) *Store {
	core.DB.Register((*shapeKey)(nil))
	return &Store{core: core, scaling: make(chan struct{}, scalingAtOnce)}
}

// Admin has the operations of the command line. They do not check the permissions of a caller.
type Admin struct{ store *Store }

// Admin returns the operations of the command line.
func (s *Store) Admin() Admin { return Admin{s} }
