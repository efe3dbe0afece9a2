package activity

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models"
)

// maxViews is the maximum number of views that are buffered between two saves. Further views are
// not counted, which limits the memory that a flood of requests can take.
const maxViews = 10_000

// view is a view of a thing by one viewer on one day. A viewer is counted once a day, so the rows
// of days that are over are deleted.
type view struct {
	bun.BaseModel `bun:"table:views,alias:v"`

	ThingID int64  `bun:",pk"`
	Day     int32  `bun:",pk"` // since 1970, in UTC
	Viewer  string `bun:",pk"`
}

// viewKey identifies a view.
type viewKey struct {
	thingID int64
	day     int32
	viewer  string
}

// Today returns the number of whole days since 1970, in UTC.
func Today() int32 { return int32(time.Now().Unix() / (24 * 60 * 60)) }

// NoteView buffers a view of a thing by the caller, unless the thing is a draft or belongs to the
// caller. It does not write to the database: SaveActivity does so every few seconds. If the node is
// killed, the views since then are lost. network identifies the network of a caller without an
// account; if it is empty too, the view is not counted.
func (s *Store) NoteView(caller auth.Caller, t *models.Thing, network string) {
	if t.State == models.Draft || t.OwnerID == caller.UserID {
		return
	}
	viewer := network
	if caller.UserID != 0 {
		viewer = strconv.FormatInt(caller.UserID, 10)
	}
	if viewer == "" {
		return
	}
	key := viewKey{t.ID, Today(), viewer}
	a := &s.activity
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.views == nil {
		a.views = make(map[viewKey]bool)
	}
	if len(a.views) < maxViews {
		a.views[key] = true
	}
}

// saveViews stores views, and counts each viewer of a thing once a day.
func (s *Store) saveViews(ctx context.Context, views map[viewKey]bool) error {
	byThing := make(map[int64][]*view)
	for key := range views {
		byThing[key.thingID] = append(byThing[key.thingID], &view{ThingID: key.thingID, Day: key.day, Viewer: key.viewer})
	}
	// Each transaction locks things in the order of their IDs, as others do.
	for ids := range slices.Chunk(slices.Sorted(maps.Keys(byThing)), 500) {
		err := s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error { return s.countViews(ctx, tx, ids, byThing) })
		if err != nil {
			return err
		}
	}
	return nil
}

// countViews stores the views of some things.
func (s *Store) countViews(ctx context.Context, tx bun.Tx, ids []int64, byThing map[int64][]*view) error {
	var there []int64 // the others were deleted
	err := s.core.DB.ForUpdate(tx.NewSelect().Model((*models.Thing)(nil)).Column("t.id").
		Where("t.id IN (?)", bun.List(ids)).Order("t.id")).Scan(ctx, &there)
	if err != nil {
		return err
	}
	counts := make(map[int64]int64)
	for _, id := range there {
		for rows := range slices.Chunk(byThing[id], 500) {
			done, err := tx.NewInsert().Model(&rows).On("CONFLICT (thing_id, day, viewer) DO NOTHING").Exec(ctx)
			if err != nil {
				return err
			}
			n, err := done.RowsAffected()
			if err != nil {
				return err
			}
			if n > 0 {
				counts[id] += n
			}
		}
	}
	byCount := make(map[int64][]int64)
	for id, n := range counts {
		byCount[n] = append(byCount[n], id)
	}
	for n, ids := range byCount {
		if _, err := tx.NewUpdate().Model((*models.Thing)(nil)).Set("view_count = view_count + ?", n).
			Where("id IN (?)", bun.List(ids)).Exec(ctx); err != nil {
			return err
		}
	}
	// The views of the day before are kept, because nodes may disagree about when a day ends.
	_, err = tx.NewDelete().Model((*view)(nil)).Where("day < ?", Today()-1).Exec(ctx)
	return err
}
