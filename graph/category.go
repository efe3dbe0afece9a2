package graph

import (
	"context"

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
