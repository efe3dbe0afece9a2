// Package social connects users: likes, follows, watches, and the notifications that they cause.
package social

import "github.com/meshyard/meshyard/models"

// Store has the operations on likes, follows, watches and notifications.
type Store struct{ core *models.Store }

// New adds likes, follows, watches and notifications to the core.
func New(core *models.Store) *Store {
	s := &Store{core}
	core.DB.Register((*Notification)(nil), (*follow)(nil), (*like)(nil), (*watch)(nil))
	core.React(s.react)
	core.Expire("notifications", s.expireNotifications)
	return s
}
