package graph

import (
	"context"
	"errors"

	"github.com/meshyard/meshyard/graph/batch"
	"github.com/meshyard/meshyard/models"
)

// marked returns, for each thing, whether the caller has liked, collected or watched it, as
// selected by extra and mark.
func marked(ctx context.Context, things []*models.Thing, extra models.Extra, mark func(models.Marks) bool) ([]bool, error) {
	return readOrLoad(things, has[*models.Thing](extra), func(t *models.Thing) bool { return mark(t.Marks) }, func() ([]bool, error) {
		return batch.LoadAs(ctx, things, loadersOf(ctx).marks, thingID, mark)
	})
}

// thingHTML returns the rendered HTML of one long text of each thing.
func (r *Resolver) thingHTML(ctx context.Context, things []*models.Thing, extra models.Extra, of models.LongText) ([]string, error) {
	var failed error
	read := func(t *models.Thing) string {
		html, err := r.Store.ThingHTML(ctx, t, of)
		if err != nil {
			failed = err
		}
		return html
	}
	html, err := readOrLoad(things, has[*models.Thing](extra), read, func() ([]string, error) {
		return batch.Load(ctx, things, loadersOf(ctx).html[of], thingID)
	})
	return html, errors.Join(failed, err)
}

// tagsWith returns a function that returns the tags that were read with a thing. The tags form a
// batch.
func tagsWith(ctx context.Context) func(*models.Thing) []*models.Tag {
	return func(t *models.Thing) []*models.Tag {
		batch.Add(batch.FromContext(ctx), t.Tags)
		return orEmpty(t.Tags)
	}
}

// categoryByID returns a category with its present counts.
func categoryByID(ctx context.Context, id int64) (*models.Category, error) {
	categories, err := loadersOf(ctx).categories()
	if err != nil {
		return nil, err
	}
	return categories.ByID(id), nil
}
