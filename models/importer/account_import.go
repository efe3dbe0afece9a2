package importer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models"
)

// AccountSource is another service from which accounts are imported.
type AccountSource struct {
	store  *Store
	source string
	began  time.Time // start of the first import
}

// ImportDates are the times of an object in the other service.
type ImportDates struct {
	Created, Modified time.Time
	Files             map[int64]time.Time // of the files of a thing, by their ID here
}

// AccountSource returns the service with the given origin, such as https://old.example.org. It
// records the service on first use.
func (a Admin) AccountSource(ctx context.Context, origin string) (*AccountSource, error) {
	row := &models.ArchiveImport{Source: models.AccountNoun + " " + origin, Noun: models.AccountNoun, LeftOut: "{}",
		StartedAt: models.Now()}
	db := a.store.core.DB.Write
	if _, err := db.NewInsert().Model(row).On("CONFLICT (source) DO NOTHING").Exec(ctx); err != nil {
		return nil, err
	}
	err := db.NewSelect().Model(row).WherePK().Scan(ctx)
	return &AccountSource{a.store, row.Source, row.StartedAt}, err
}

// IDs returns the IDs that imported objects have here, by their IDs in the other service. The
// objects may have been deleted since.
func (s *AccountSource) IDs(ctx context.Context, noun string, ids ...int64) (map[int64]int64, error) {
	return s.ids(ctx, noun, ids, "1 = 1")
}

// Things returns the IDs of imported things that still exist, by their IDs in the other service.
func (s *AccountSource) Things(ctx context.Context, ids ...int64) (map[int64]int64, error) {
	return s.ids(ctx, "things", ids, "EXISTS (SELECT 1 FROM things AS t WHERE t.id = a.new_id)")
}

func (s *AccountSource) ids(ctx context.Context, noun string, ids []int64, where string) (map[int64]int64, error) {
	here := make(map[int64]int64, len(ids))
	for some := range slices.Chunk(ids, 1000) {
		var rows []models.ArchiveID
		err := s.store.core.DB.Write.NewSelect().Model(&rows).Where("a.source = ? AND a.noun = ? AND a.old_id IN (?)",
			s.source, noun, bun.List(some)).Where(where).Scan(ctx)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			here[row.OldID] = row.NewID
		}
	}
	return here, nil
}

// Unrecorded returns the IDs of the objects of an owner with the given name that were created since
// the first import but are not recorded. There is one if an import was interrupted after it created
// an object and before it recorded it.
func (s *AccountSource) Unrecorded(ctx context.Context, noun string, ownerID int64,
	name string) (ids []int64, err error) {
	err = s.store.core.DB.Write.NewSelect().TableExpr("? AS o", bun.Ident(noun)).Column("o.id").
		Where("o.owner_id = ? AND o.name = ? AND o.created_at >= ?", ownerID, name, s.began).
		Where("NOT EXISTS (SELECT 1 FROM archive_ids AS a WHERE a.noun = ? AND a.new_id = o.id)", noun).Order("o.id").
		Scan(ctx, &ids)
	return ids, err
}

// Record records that the object with the ID from in the other service has the ID to here, and sets
// its times to those in the other service. noun is things, makes, collections or images. It opens a
// transaction.
func (s *AccountSource) Record(ctx context.Context, noun string, from, to int64, dates ImportDates) error {
	err := s.store.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if _, err := tx.NewInsert().Model(&models.ArchiveID{Source: s.source, Noun: noun, OldID: from, NewID: to}).
			Exec(ctx); err != nil {
			return err
		}
		if dates.Created.IsZero() {
			return nil
		}
		if noun == "images" {
			// The make was not changed when the import attached the image to it.
			_, err := tx.NewUpdate().Table("makes").Set("modified_at = NULL").
				Where("id = (SELECT target_id FROM files WHERE id = ? AND target_type = ?)", to, models.OnMake).Exec(ctx)
			return errors.Join(err, dateFile(ctx, tx, to, dates.Created))
		}
		for id, at := range dates.Files {
			if err := dateFile(ctx, tx, id, at); err != nil {
				return err
			}
		}
		q := tx.NewUpdate().Table(noun).Set("created_at = ?", dates.Created).Where("id = ?", to)
		if noun != "makes" {
			q.Set("modified_at = ?", dates.Modified)
		}
		if _, err := q.Exec(ctx); err != nil || noun == "collections" {
			return err
		}
		_, err := tx.NewUpdate().Table(noun).Set("published_at = ?", dates.Created).
			Where("id = ? AND published_at IS NOT NULL", to).Exec(ctx)
		return err
	})
	if err != nil {
		return fmt.Errorf("record %s %d: %w", noun, from, err)
	}
	return nil
}

func dateFile(ctx context.Context, tx bun.Tx, id int64, at time.Time) error {
	_, err := tx.NewUpdate().Table("files").Set("created_at = ?0, finalized_at = ?0", at).Where("id = ?", id).Exec(ctx)
	return err
}

// NotCollected returns those of the given things that are not in the collection.
func (s *AccountSource) NotCollected(ctx context.Context, collectionID int64, things []int64) ([]int64, error) {
	var there []int64
	err := s.store.core.DB.Write.NewSelect().Table("collection_things").Column("thing_id").
		Where("collection_id = ?", collectionID).Scan(ctx, &there)
	in := models.SetOf(there)
	return slices.DeleteFunc(slices.Clone(things), func(id int64) bool { return in[id] }), err
}

// CreateMakeWithoutThing creates a published make whose thing does not exist here, as if the thing
// had been deleted. It returns BadInput if a text is too long. It opens a transaction.
func (a Admin) CreateMakeWithoutThing(ctx context.Context, owner auth.Caller, name,
	description string) (*models.Make, error) {
	s := a.store
	if err := models.CheckText("name", name, models.MaxName); err != nil {
		return nil, err
	}
	if err := models.CheckText("description", description, models.MaxText); err != nil {
		return nil, err
	}
	m := &models.Make{OwnerID: owner.UserID, Name: name, Description: description, State: models.Draft,
		CreatedAt: models.Now()}
	var html models.RenderedHTML
	if err := s.core.RenderTo(ctx, &html, models.MakeDescription, &description); err != nil {
		return nil, err
	}
	err := s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if _, err := html.Insert(tx.NewInsert().Model(m)).Exec(ctx); err != nil {
			return err
		}
		return s.core.PublishMake(ctx, tx, m)
	})
	return m, err
}
