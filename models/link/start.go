package link

import (
	"cmp"
	"context"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models"
)

// maxOpen is the number of imports of a user that can wait or run at a time.
const maxOpen = 10

// Start starts an import. If one of the same URL waits or runs, Start returns that one. It returns
// Conflict if too many of the caller wait or run. It opens a transaction.
func (s *Store) Start(ctx context.Context, caller auth.Caller, in Input) (*Import, error) {
	if err := s.check(&in); err != nil {
		return nil, err
	}
	in.Category = cmp.Or(in.Category, "Other")
	known, err := models.CategoriesByName(ctx, s.core.DB.Read)
	if err != nil {
		return nil, err
	}
	if !hasCategory(known, in.Category) {
		return nil, models.Invalid("category", "category: %.60q does not exist", in.Category)
	}
	var started *Import
	err = s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		started = nil
		var open []*Import
		// The row of the user is locked, so that two requests at a time do not start the same import.
		if err := s.core.DB.ForUpdate(tx.NewSelect().Table("users").Column("id").Where("id = ?", caller.UserID)).
			Scan(ctx, new(int64)); err != nil {
			return err
		}
		if err := tx.NewSelect().Model(&open).Where("li.user_id = ? AND li.finished_at IS NULL", caller.UserID).
			Scan(ctx); err != nil {
			return err
		}
		for _, i := range open {
			if i.URL == in.URL {
				started = i
				return nil
			}
		}
		if len(open) >= maxOpen {
			return models.Fail(models.Conflict,
				"at most %d imports from URLs can be in progress: wait until one has ended, or cancel it", maxOpen)
		}
		started = &Import{UserID: caller.UserID, URL: in.URL, Token: in.Token, Category: in.Category, State: Waiting,
			Skipped: []Skip{}, CreatedAt: models.Now()}
		_, err := tx.NewInsert().Model(started).Exec(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	select {
	case s.wake <- struct{}{}:
	default:
	}
	return started, nil
}

// Find returns the caller's imports with the given IDs, by ID.
func (s *Store) Find(ctx context.Context, caller auth.Caller, ids []int64) (map[int64]*Import, error) {
	var rows []*Import
	found := map[int64]*Import{}
	err := s.core.DB.Read.NewSelect().Model(&rows).Where("li.id IN (?) AND li.user_id = ?", bun.List(ids), caller.UserID).
		Scan(ctx)
	for _, row := range rows {
		found[row.ID] = row
	}
	return found, err
}

// Get returns an import of the caller. It returns NotFound if there is none.
func (s *Store) Get(ctx context.Context, caller auth.Caller, id int64) (*Import, error) {
	found, err := s.Find(ctx, caller, []int64{id})
	if err == nil && found[id] == nil {
		err = models.NoSuch("import", id)
	}
	return found[id], err
}

// Cancel cancels an import of the caller, which has no effect after its end. Things that it has
// created stay. It returns NotFound if there is no such import.
func (s *Store) Cancel(ctx context.Context, caller auth.Caller, id int64) (*Import, error) {
	_, err := s.core.DB.Write.NewUpdate().Model((*Import)(nil)).
		Set("state = ?, token = '', runner = '', finished_at = ?", Canceled, models.Now()).
		Where("id = ? AND user_id = ? AND finished_at IS NULL", id, caller.UserID).Exec(ctx)
	if err != nil {
		return nil, err
	}
	i := new(Import)
	err = s.core.DB.Write.NewSelect().Model(i).Where("li.id = ? AND li.user_id = ?", id, caller.UserID).Scan(ctx)
	return i, models.NoSuchIfNoRows(err, "import", id)
}

// Things returns the IDs of the things of imports, by the ID of the import.
func (s *Store) Things(ctx context.Context, ids []int64) (map[int64][]int64, error) {
	var rows []*linkThing
	err := s.core.DB.Read.NewSelect().Model(&rows).Where("lt.import_id IN (?)", bun.List(ids)).Order("lt.thing_id").
		Scan(ctx)
	of := map[int64][]int64{}
	for _, row := range rows {
		of[row.ImportID] = append(of[row.ImportID], row.ThingID)
	}
	return of, err
}
