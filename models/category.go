package models

import (
	"context"
	"database/sql"
	"errors"

	"github.com/uptrace/bun"
)

// Category is a shelf that a thing stands on.
type Category struct {
	bun.BaseModel `bun:"table:categories,alias:c"`

	ID   int64 `bun:",pk,autoincrement"`
	Name string
	Slug string
}

// category finds a category by id, name or slug, whatever the case.
func category(ctx context.Context, db bun.IDB, which string) (*Category, error) {
	c := new(Category)
	err := db.NewSelect().Model(c).
		Where("lower(c.name) = lower(?0) OR c.slug = lower(?0) OR CAST(c.id AS text) = ?0", which).Limit(1).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, badInput("category", "category %.60q does not exist: want the name, the slug or the id of one", which)
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// CategoriesByID gives the categories of those ids.
func (s *Store) CategoriesByID(ctx context.Context, ids []int64) (map[int64]*Category, error) {
	return byID(ctx, s.db.read, ids, "c.id", func(c *Category) int64 { return c.ID })
}
