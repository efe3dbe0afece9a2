// Package cluster has what the nodes of one database share while they run: the counts of rate
// limits, and how far a replica must be to serve an account. None of it outlives a crash of the
// database, and none of it is in archives.
package cluster

import "github.com/meshyard/meshyard/models"

// Store has the operations on what nodes share.
type Store struct{ core *models.Store }

// New adds what nodes share to the core.
func New(core *models.Store) *Store {
	s := &Store{core}
	core.Expire("counts of rate limits", s.DeleteLimits)
	core.Expire("positions of accounts", s.DeletePositions)
	return s
}
