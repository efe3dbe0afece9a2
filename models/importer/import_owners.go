package importer

import (
	"context"
	"slices"
	"strings"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/internal/dataset"
	"github.com/meshyard/meshyard/internal/markdown"
	"github.com/meshyard/meshyard/models"
)

// author returns the username of the creator of a thing, or "unknown" if it has no valid one.
func author(th dataset.Thing) string {
	name := strings.Map(func(r rune) rune {
		if r < 0x80 && (r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' ||
			strings.ContainsRune("_.-", r)) {
			return r
		}
		return '_'
	}, th.Author)
	name = name[:min(len(name), 64)]
	if name == "" || !auth.IsUsername(name) || models.ForbiddenUsername.MatchString(name) {
		return "unknown"
	}
	return name
}

// owners returns the IDs of the authors by username in lower case. It creates missing users.
func (l *loader) owners(ctx context.Context, tx bun.Tx, things []incoming) (map[string]int64, error) {
	first := make(map[string]dataset.Thing)
	var folded []string
	for _, th := range things {
		name := models.FoldUsername(author(th.Thing))
		if _, seen := first[name]; !seen {
			first[name] = th.Thing
			folded = append(folded, name)
		}
	}
	var there []*models.User
	if err := tx.NewSelect().Model(&there).Column("id", "username").Where("sort_name IN (?)", bun.List(folded)).
		Scan(ctx); err != nil {
		return nil, err
	}
	owners := make(map[string]int64, len(first))
	for _, u := range there {
		owners[models.FoldUsername(u.Username)] = u.ID
	}
	fresh := slices.DeleteFunc(folded, func(name string) bool { return owners[name] != 0 })
	if len(fresh) == 0 {
		return owners, nil
	}
	ids, err := l.db.TakeIDs(ctx, tx, "users", len(fresh))
	if err != nil {
		return nil, err
	}
	rows, documents := database.NewBulk(l.db.DB, l.conn), make([]models.Indexed, len(fresh))
	for i, name := range fresh {
		owners[name] = ids[i]
		th := first[name]
		rows.Add("users", "id, username, is_admin, created_at, html_version", ids[i], author(th), false, th.Date.UTC(),
			int64(markdown.Version))
		documents[i] = models.Indexed{ID: ids[i], Fields: models.Document{Name: author(th)}.Fields()}
	}
	if _, err := l.index(ctx, tx, models.UserIndex, documents, rows); err != nil {
		return nil, err
	}
	if err := rows.Write(ctx, tx); err != nil {
		return nil, err
	}
	if l.CreatedUsers != nil {
		l.CreatedUsers(len(fresh))
	}
	return owners, nil
}

// findTags reads the IDs of the tags of things, and creates missing tags.
func (l *loader) findTags(ctx context.Context, tx bun.Tx, things []incoming) error {
	var fresh []*models.Tag
	asked := make(map[string]bool)
	for _, th := range things {
		for _, tag := range th.Tags {
			if slug := models.TagSlug(tag); slug != "" && l.tags[slug] == 0 && !asked[slug] {
				asked[slug] = true
				fresh = append(fresh, &models.Tag{Name: tag, Slug: slug})
			}
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	slices.SortFunc(fresh, func(a, b *models.Tag) int { return strings.Compare(a.Slug, b.Slug) })
	_, err := tx.NewInsert().Model(&fresh).Column("name", "slug").On("CONFLICT (slug) DO UPDATE").
		Set("slug = EXCLUDED.slug").Returning("id").Exec(ctx)
	for _, g := range fresh {
		l.tags[g.Slug] = g.ID // wrong if the transaction fails, but then the import ends
	}
	return err
}
