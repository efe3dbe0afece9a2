package lists

import (
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/models"
)

// TestSumOfCategories checks that the number of things includes changes that are not folded yet,
// and that PostgreSQL does not look for changes to add up if there are none.
func TestSumOfCategories(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *Store, _ auth.Caller) {
		ctx := t.Context()
		change := "INSERT INTO count_changes (of_table, of_column, object_id, delta) SELECT 'categories', '" +
			models.CategoryThings.Column + "', min(id), 3 FROM categories"
		for _, step := range []struct {
			statement string
			want      int64
		}{{"SELECT 1", 0}, {change, 3}, {change, 6}, {"DELETE FROM count_changes", 0}} {
			statement, want := step.statement, step.want
			if _, err := s.core.DB.Write.NewRaw(statement).Exec(ctx); err != nil {
				t.Fatal(err)
			}
			if n, err := s.countPublished(ctx); n != want || err != nil {
				t.Errorf("after %q: %d things, %v, want %d", statement, n, err, want)
			}
			if s.core.DB.Engine != database.Postgres {
				continue
			}
			var plan []string
			sum, _ := sumOfCategoriesKey{models.CategoryThings}.Text(nil)
			if err := s.core.DB.Read.NewRaw("EXPLAIN ANALYZE "+sum).Scan(ctx, &plan); err != nil {
				t.Fatal(err)
			}
			if text := strings.Join(plan, "\n"); strings.Contains(text, "never executed") != (want == 0) {
				t.Errorf("after %q:\n%s", statement, text)
			}
		}
	})
}
