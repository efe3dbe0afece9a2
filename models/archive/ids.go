package archive

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/models"
)

// renumber returns the rows of a batch with new IDs and references, and stores the mapping. Rows
// that refer to a row that the archive does not have are left out, or lose the reference. Rows of
// an archive of everything keep their IDs. Categories and tags are mapped to those of this
// database, so no rows are returned for them.
func (l *archiveLoader) renumber(ctx context.Context, tx bun.Tx, b *archiveRows) (rows [][]any, err error) {
	switch {
	case !l.ofUser():
		return b.rows, nil
	case b.table.name == "categories":
		return nil, l.findCategories(ctx, tx, b)
	case b.table.name == "tags":
		return nil, l.findTags(ctx, tx, b)
	}
	known, err := l.references(ctx, tx, b)
	if err != nil {
		return nil, err
	}
	own := map[int64]int64{}
	if known[b.table.name] == nil {
		known[b.table.name] = own
	}
	next, err := l.reserve(ctx, tx, b)
	if err != nil {
		return nil, err
	}
	var ids []models.ArchiveID
	for _, row := range b.rows {
		row = slices.Clone(row)
		if !l.refer(b, row, known) {
			continue
		}
		for i, c := range b.columns {
			switch {
			case c.kind == kindID:
				id := models.ArchiveID{Source: l.row.Source, Noun: b.table.name, OldID: row[i].(int64), NewID: next()}
				known[b.table.name][id.OldID], row[i] = id.NewID, id.NewID
				ids = append(ids, id)
			case c.kind == kindRendering && row[i] != int64(0):
				row[i] = next()
			case b.table.name == "users" && c.name == "username":
				row[i] = l.username()
			}
		}
		rows = append(rows, row)
	}
	return rows, insertArchiveIDs(ctx, tx, ids)
}

func insertArchiveIDs(ctx context.Context, tx bun.Tx, ids []models.ArchiveID) error {
	if len(ids) == 0 {
		return nil
	}
	_, err := tx.NewInsert().Model(&ids).Exec(ctx)
	return err
}

// refersTo returns the noun and the ID of the row that value i of a row refers to, or "" and 0.
func (b *archiveRows) refersTo(row []any, i int) (noun string, id int64) {
	targetType := ""
	if at := b.column("target_type"); at >= 0 {
		targetType = row[at].(string)
	}
	id, _ = row[i].(int64) // 0: null
	if id == 0 {
		return "", 0
	}
	return b.columns[i].noun(targetType), id
}

// references returns the new IDs of the rows that a batch refers to, by noun and old ID.
func (l *archiveLoader) references(ctx context.Context, tx bun.Tx, b *archiveRows) (map[string]map[int64]int64, error) {
	wanted := map[string][]int64{}
	for _, row := range b.rows {
		for i := range b.columns {
			if noun, id := b.refersTo(row, i); noun != "" {
				wanted[noun] = append(wanted[noun], id)
			}
		}
	}
	known := map[string]map[int64]int64{}
	for noun, ids := range wanted {
		var found []models.ArchiveID
		slices.Sort(ids)
		err := tx.NewSelect().Model(&found).Where("a.source = ? AND a.noun = ? AND a.old_id IN (?)", l.row.Source, noun,
			bun.List(slices.Compact(ids))).Scan(ctx)
		if err != nil {
			return nil, err
		}
		known[noun] = make(map[int64]int64, len(found))
		for _, a := range found {
			known[noun][a.OldID] = a.NewID
		}
	}
	return known, nil
}

// refer replaces the references of a row with new IDs. It returns false if the row must be left
// out.
func (l *archiveLoader) refer(b *archiveRows, row []any, known map[string]map[int64]int64) bool {
	for i, c := range b.columns {
		noun, old := b.refersTo(row, i)
		if noun == "" {
			continue
		}
		id, ok := known[noun][old]
		switch {
		case ok:
			row[i] = id
		case c.null:
			row[i] = nil
			l.leftOut[fmt.Sprintf("%s that lost their %s, which the archive does not have", b.table.name,
				strings.TrimSuffix(c.name, "_id"))]++
		case c.zero:
			row[i] = int64(0)
		default:
			l.leftOut[fmt.Sprintf("%s that were left out, because the archive does not have their %s", b.table.name,
				strings.TrimSuffix(c.name, "_id"))]++
			return false
		}
	}
	return true
}

// reserve allocates IDs for the rows and the renderings of a batch. Each call of next returns one
// of them.
func (l *archiveLoader) reserve(ctx context.Context, tx bun.Tx, b *archiveRows) (next func() int64, err error) {
	n := 0
	for _, c := range b.columns {
		if c.kind == kindID || c.kind == kindRendering {
			n += len(b.rows)
		}
	}
	ids, err := l.store.core.DB.TakeIDs(ctx, tx, b.table.name, n)
	return func() int64 {
		id := ids[0]
		ids = ids[1:]
		return id
	}, err
}

// findCategories maps the categories of an archive to the categories of this database with the same
// slug, or to the category Other.
func (l *archiveLoader) findCategories(ctx context.Context, tx bun.Tx, b *archiveRows) error {
	here, err := models.CategoriesByName(ctx, tx)
	if err != nil {
		return err
	}
	ids := make([]models.ArchiveID, len(b.rows))
	for i, row := range b.rows {
		slug := row[b.column("slug")].(string)
		id, ok := here[slug]
		if !ok {
			id = here["other"]
			l.leftOut[fmt.Sprintf("categories that do not exist here, %q, whose things are in Other", slug)]++
		}
		ids[i] = models.ArchiveID{Source: l.row.Source, Noun: "categories", OldID: row[b.column("id")].(int64), NewID: id}
	}
	return insertArchiveIDs(ctx, tx, ids)
}

// findTags maps the tags of an archive to the tags of this database with the same slug, and creates
// missing tags.
func (l *archiveLoader) findTags(ctx context.Context, tx bun.Tx, b *archiveRows) error {
	tags := make(map[string]*models.Tag, len(b.rows)) // by slug
	slugs := make([]string, len(b.rows))
	for i, row := range b.rows {
		name := row[b.column("name")].(string)
		slugs[i] = models.TagSlug(name)
		tags[slugs[i]] = &models.Tag{Name: name, Slug: slugs[i]}
	}
	inOrder := slices.SortedFunc(maps.Values(tags), func(a, b *models.Tag) int { return strings.Compare(a.Slug, b.Slug) })
	// The update locks existing tags, so that removeUnusedTags does not remove them meanwhile.
	if _, err := tx.NewInsert().Model(&inOrder).Column("name", "slug").On("CONFLICT (slug) DO UPDATE").
		Set("slug = EXCLUDED.slug").Returning("id").Exec(ctx); err != nil {
		return err
	}
	ids := make([]models.ArchiveID, len(b.rows))
	for i, row := range b.rows {
		ids[i] = models.ArchiveID{Source: l.row.Source, Noun: "tags", OldID: row[b.column("id")].(int64),
			NewID: tags[slugs[i]].ID}
	}
	return insertArchiveIDs(ctx, tx, ids)
}
