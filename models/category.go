package models

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/apierror"
	"github.com/meshyard/meshyard/internal/database"
)

// Category is a category of things. Categories form a tree.
type Category struct {
	bun.BaseModel `bun:"table:categories,alias:c"`

	ID         int64 `bun:",pk,autoincrement"`
	Name       string
	Slug       string
	ParentID   int64       `bun:",nullzero"`      // 0: a root
	OwnCount   int64       `bun:"thing_count"`    // published things in this category
	Featured   int64       `bun:"featured_count"` // featured things in this category
	Changes    Changes     `bun:",scanonly"`
	Parent     *Category   `bun:"-"` // nil: a root
	Children   []*Category `bun:"-"`
	ThingCount int64       `bun:"-"` // published things in it and its descendants
}

// AfterScanRow adds the changes that are not folded yet to the stored counts.
func (c *Category) AfterScanRow(context.Context) error {
	return c.Changes.addTo(map[string]*int64{"thing_count": &c.OwnCount, "featured_count": &c.Featured})
}

// FindCategory returns the category with the given ID, name or slug, ignoring case, or BadInput if
// there is none.
func FindCategory(ctx context.Context, db bun.IDB, which string) (*Category, error) {
	c := new(Category)
	err := db.NewSelect().Model(c).
		Where("lower(c.name) IN (lower(?0), lower(?1)) OR c.slug = ?1 OR CAST(c.id AS text) = ?0", which,
			strings.ToLower(which)).Limit(1).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, Invalid("category", "category: %.60q is not the name, slug or id of a category", which).
			WithFieldCode(apierror.FieldNotFound)
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// categoriesKey reads all categories.
type categoriesKey struct{}

// Text implements [database.Key].
func (categoriesKey) Text(b *database.Builder) (string, error) {
	return b.Text(PendingCounts(b.Select().Model((*Category)(nil)).ColumnExpr("?TableColumns"), "categories", "c").
		Order("c.id"))
}

// CategoryTree holds all categories.
type CategoryTree struct {
	All   []*Category
	Roots []*Category
	byID  map[int64]*Category
}

// Categories returns all categories as a tree. There are at most a few hundred.
func (s *Store) Categories(ctx context.Context) (*CategoryTree, error) {
	return s.CategoriesWithout(ctx, HiddenThings{}, 0)
}

// CategoriesWithout returns all categories as a tree, with counts that exclude hidden things.
func (s *Store) CategoriesWithout(ctx context.Context, hidden HiddenThings, userID int64) (*CategoryTree, error) {
	var all []*Category
	if err := database.Read(ctx, s.DB.DB, categoriesKey{}, &all); err != nil {
		return nil, err
	}
	if hidden != (HiddenThings{}) {
		counts, err := hidden.inCategories(ctx, s.DB.Read, userID)
		if err != nil {
			return nil, err
		}
		for _, c := range all {
			// The difference is negative if things were published between the two statements.
			c.OwnCount = max(0, c.OwnCount-counts[c.ID])
		}
	}
	return NewCategoryTree(all), nil
}

// NewCategoryTree builds the tree of all categories. Categories with the same parent keep their
// order.
func NewCategoryTree(all []*Category) *CategoryTree {
	tree := &CategoryTree{All: all, byID: make(map[int64]*Category, len(all))}
	for _, c := range all {
		tree.byID[c.ID] = c
	}
	for _, c := range all {
		if c.Parent = tree.byID[c.ParentID]; c.Parent == nil {
			tree.Roots = append(tree.Roots, c)
		} else {
			c.Parent.Children = append(c.Parent.Children, c)
		}
		for at, steps := c, 0; at != nil && steps < len(all); at, steps = tree.byID[at.ParentID], steps+1 {
			at.ThingCount += c.OwnCount
		}
	}
	return tree
}

// ByID returns the category with the given ID, or nil if there is none.
func (s *CategoryTree) ByID(id int64) *Category { return s.byID[id] }

// BySlug returns the category with the given slug, ignoring case, or NotFound.
func (s *CategoryTree) BySlug(slug string) (*Category, error) {
	for _, c := range s.byID {
		if strings.EqualFold(c.Slug, slug) {
			return c, nil
		}
	}
	return nil, Fail(NotFound, "category %.60q does not exist", slug)
}

// CategoriesByName returns the IDs of all categories by slug and by name in lower case.
func CategoriesByName(ctx context.Context, db bun.IDB) (map[string]int64, error) {
	var all []*Category
	err := db.NewSelect().Model(&all).Column("id", "slug", "name").Scan(ctx)
	categories := make(map[string]int64, 2*len(all))
	for _, c := range all {
		categories[c.Slug], categories[strings.ToLower(c.Name)] = c.ID, c.ID
	}
	return categories, err
}
