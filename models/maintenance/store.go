// Package maintenance keeps the database and the bucket consistent: it collects garbage, checks and
// recounts, and reads what a backup has.
package maintenance

import (
	"sync/atomic"

	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/previews"
	"github.com/meshyard/meshyard/models/uploads"
)

// Store has the operations of maintenance.
type Store struct {
	core     *models.Store
	previews *previews.Store
	uploads  *uploads.Store

	rankedTo atomic.Int64 // the last thing that RankThings ranked
}

// New adds maintenance to the core, the previews and the uploads.
func New(core *models.Store, of *previews.Store, begun *uploads.Store) *Store {
	core.DB.Register((*LastRun)(nil), (*deletedContent)(nil), (*sweepPosition)(nil), (*ImportedCounts)(nil))
	return &Store{core: core, previews: of, uploads: begun}
}

// Admin has the operations of the command line. They do not check the permissions of a caller.
type Admin struct{ store *Store }

// Admin returns the operations of the command line.
func (s *Store) Admin() Admin { return Admin{s} }
