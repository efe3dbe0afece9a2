// Package moderation contains the reports of users and the decisions of moderators.
package moderation

import (
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/account"
	"github.com/meshyard/meshyard/models/comments"
)

// Store has the operations of moderators.
type Store struct {
	core     *models.Store
	account  *account.Store
	comments *comments.Store
}

// New adds moderation to the core.
func New(core *models.Store, accounts *account.Store, remarks *comments.Store) *Store {
	s := &Store{core, accounts, remarks}
	core.DB.Register((*Report)(nil))
	core.React(s.react)
	return s
}
