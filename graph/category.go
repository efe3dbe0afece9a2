package graph

import (
	"context"

	"github.com/meshyard/meshyard/internal/fieldset"
	"github.com/meshyard/meshyard/internal/graphql/breadthfirst"
	"github.com/meshyard/meshyard/models"
)

// categoryByID returns a category with its present counts.
func categoryByID(ctx context.Context, id int64) (*models.Category, error) {
	categories, err := operationOf(ctx).categories()
	if err != nil {
		return nil, err
	}
	return categories.ByID(id), nil
}

// withoutTree has the fields of a category that are read with a thing, with those of its ancestors.
var withoutTree = fieldset.Of[models.Category]("ID", "Name", "Slug", "Parent")

// categoryOf returns a function that returns the category that was read with a thing, unless the
// operation selects more of it.
func categoryOf(ctx context.Context) func(*models.Thing) (*models.Category, bool, error) {
	fields, known := breadthfirst.Selected[models.Category](ctx)
	return func(t *models.Thing) (*models.Category, bool, error) {
		if !known || !withoutTree.Has(fields) {
			return nil, false, nil
		}
		return t.Category()
	}
}
