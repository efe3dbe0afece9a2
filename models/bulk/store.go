// Package bulk changes many things at once, and undoes such changes.
//
// Each thing is changed in a transaction of its own, by the methods of the core that change a
// single thing, so the same rules apply. The transaction also stores the values that the thing had
// before. For a minute, [Store.Undo] restores them. Things that are to be deleted are hidden at
// once and deleted after that minute, so they can be restored completely.
package bulk

import (
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/collections"
)

// Store has the operations on many things.
type Store struct {
	core        *models.Store
	collections *collections.Store
	restored    func(n int) // called after Undo has restored n things; for tests
}

// New adds bulk updates to the core. Collections are changed by albums.
func New(core *models.Store, albums *collections.Store) *Store {
	s := &Store{core: core, collections: albums, restored: func(int) {}}
	core.DB.Register((*bulkUpdate)(nil), (*updatedThing)(nil))
	core.Expire("bulk updates", s.expire)
	return s
}

const (
	// undoable is the time in which an update can be undone, from its end.
	undoable = time.Minute
	// longest is the time after its start after which an update that has not ended is one of a process
	// that died. What it did is then kept.
	longest = 10 * time.Minute
)

// bulkUpdate is a bulk update that can be undone.
type bulkUpdate struct {
	bun.BaseModel `bun:"table:bulk_updates,alias:bu"`

	ID        int64 `bun:",pk,autoincrement"`
	UserID    int64
	CreatedAt time.Time
	ExpiresAt time.Time  // the end of the time in which it can be undone
	UndoneAt  *time.Time // nil: it was not undone
	Reason    string     // of deletions
}

// updatedThing is a thing that an update changed. The row is deleted when the update is undone or
// can no longer be undone, in the transaction that restores or deletes the thing.
type updatedThing struct {
	bun.BaseModel `bun:"table:bulk_update_things,alias:bt"`

	UpdateID     int64 `bun:",pk"`
	ThingID      int64 `bun:",pk"`
	Deletes      bool
	ModifiedAt   time.Time // of the thing, after the update
	BeforeUpdate before    `bun:"type:jsonb"`
}

// before is what undoing an update restores.
type before struct {
	ThingValues
	CollectionIDs []int64 // to which the update added the thing
}
