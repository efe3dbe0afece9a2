package lists

import (
	"context"
	"strings"

	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/models"
)

// countInCategories returns the numbers of published things in categories and their descendants,
// without hidden things.
func (s *Store) countInCategories(ctx context.Context, hidden models.HiddenThings, userID int64,
	ids []int64) (map[int64]int64, error) {
	tree, err := s.core.CategoriesWithout(ctx, hidden, userID)
	if err != nil {
		return nil, err
	}
	counts := make(map[int64]int64, len(ids))
	for _, id := range ids {
		if c := tree.ByID(id); c != nil {
			counts[id] = c.ThingCount
		}
	}
	return counts, nil
}

// countPublished returns the number of published things.
func (s *Store) countPublished(ctx context.Context) (int64, error) {
	return s.sumOfCategories(ctx, models.CategoryThings)
}

// countShown returns the number of published things, without hidden things.
func (s *Store) countShown(ctx context.Context, hidden models.HiddenThings, userID int64) (n int64, err error) {
	if hidden == (models.HiddenThings{}) {
		return s.countPublished(ctx)
	}
	tree, err := s.core.CategoriesWithout(ctx, hidden, userID)
	if err != nil {
		return 0, err
	}
	for _, c := range tree.All {
		n += c.OwnCount
	}
	return n, nil
}

// countFeatured returns the number of featured things.
func (s *Store) countFeatured(ctx context.Context) (int64, error) {
	return s.sumOfCategories(ctx, models.CategoryFeatured)
}

// sumOfCategories returns the sum of a count over all categories, including changes that are not
// folded yet. Each thing is in exactly one category.
func (s *Store) sumOfCategories(ctx context.Context, c models.Count) (int64, error) {
	n := []int64{0}
	if err := database.Read(ctx, s.core.DB.DB, sumOfCategoriesKey{c}, &n); err != nil {
		return 0, err
	}
	return n[0], nil
}

// sumOfCategoriesKey reads the sum of a count. It adds up changes only if there are any: otherwise,
// PostgreSQL could read all that were folded and deleted since the last VACUUM.
type sumOfCategoriesKey struct{ models.Count }

// Text implements [database.Key].
func (c sumOfCategoriesKey) Text(*database.Builder) (string, error) {
	return "SELECT CAST(coalesce(sum(" + c.Column + "), 0) + CASE WHEN " + strings.Replace(models.AnyPending, "?",
		"'categories'", 1) + " THEN " +
		"(SELECT coalesce(sum(delta), 0) FROM count_changes WHERE of_table = 'categories' AND of_column = '" + c.Column +
		"') ELSE 0 END AS bigint) FROM categories", nil
}
