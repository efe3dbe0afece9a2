// Package comments creates, changes and deletes comments.
package comments

import "github.com/meshyard/meshyard/models"

// Store has the operations that change comments.
type Store struct{ core *models.Store }

// New adds the changes of comments to the core.
func New(core *models.Store) *Store {
	s := &Store{core}
	core.React(s.react)
	return s
}
