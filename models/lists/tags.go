package lists

import (
	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/models"
)

// Tags lists the tags whose slug begins with that of prefix, those with the most things first. On
// PostgreSQL a changed count moves a tag in the list only when it is folded.
func (s *Store) Tags(prefix string) (models.List, error) {
	if err := models.CheckText("prefix", prefix, models.MaxTag); err != nil {
		return models.List{}, err
	}
	l := models.List{DB: s.core.DB.DB, By: database.Order{Key: "g.thing_count", ID: "g.id"}, Rows: allTags{}}
	if slug := models.TagSlug(prefix); slug != "" {
		l.Rows = database.RowsFunc(func(b *database.Builder, parent any) *bun.SelectQuery {
			return allTags{}.Select(b, parent).Where("g.slug LIKE ? ESCAPE '\\'", models.LikePattern(slug)+"%")
		})
	}
	return l, nil
}

type allTags struct{}

// Select selects the tags of published things, with the changes of their counts that are not folded
// yet: tags that only drafts have are private.
func (allTags) Select(b *database.Builder, _ any) *bun.SelectQuery {
	return b.Select().TableExpr("tags AS g").Where("CASE WHEN "+models.AnyPending+" THEN g.thing_count + "+
		"(SELECT coalesce(sum(cc.delta), 0) FROM count_changes AS cc WHERE cc.of_table = 'tags' AND cc.of_column = 'thing_count' AND cc.object_id = g.id) "+
		"ELSE g.thing_count END > 0", "tags")
}
