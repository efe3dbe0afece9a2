package models

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/database"
)

// The page of a thing shows its tags, its category and the number of its files. They are read in
// the statement that reads a single thing, as JSON or text; docs/adr/0012-one-loader.md has the
// measurements. The methods below return them, or false if they were not read.

var joinedTags = database.Computed{Fields: []string{"TagList"}, Single: true,
	Add: func(q *bun.SelectQuery, r database.Row) *bun.SelectQuery {
		array, object := r.Dialect.JSONFunctions()
		return q.ColumnExpr(
			"coalesce((SELECT CAST(?(?('ID', g.id, 'Name', tt.name, 'Slug', g.slug, 'ThingCount', g.thing_count, 'Changes', "+
				"coalesce((SELECT string_agg(cc.of_column || ':' || CAST(cc.delta AS text), ',') FROM count_changes AS cc WHERE cc.of_table = 'tags' AND cc.object_id = g.id), '')"+
				") ORDER BY tt.position) AS text) FROM thing_tags AS tt JOIN tags AS g ON g.id = tt.tag_id WHERE tt.thing_id = t.id), '[]') AS tag_list", array, object)
	}}

var joinedCategory = database.Computed{Fields: []string{"CategoryList"}, Single: true,
	Add: func(q *bun.SelectQuery, r database.Row) *bun.SelectQuery {
		array, object := r.Dialect.JSONFunctions()
		return q.ColumnExpr(
			"(WITH RECURSIVE above (id, name, slug, parent_id, depth) AS (SELECT c.id, c.name, c.slug, c.parent_id, 0 FROM categories AS c WHERE c.id = t.category_id "+
				"UNION ALL SELECT c.id, c.name, c.slug, c.parent_id, above.depth + 1 FROM categories AS c JOIN above ON c.id = above.parent_id WHERE above.depth < ?) "+
				"SELECT CAST(?(?('ID', above.id, 'Name', above.name, 'Slug', above.slug) ORDER BY above.depth) AS text) FROM above) AS category_list", maxDepth, array, object)
	}}

var joinedFileKinds = database.Computed{Fields: []string{"FileKinds"}, Single: true,
	Add: func(q *bun.SelectQuery, _ database.Row) *bun.SelectQuery {
		return q.ColumnExpr(
			"coalesce((SELECT string_agg(k.kind || ':' || CAST(k.n AS text), ',') FROM (SELECT f.kind, count(*) AS n FROM files AS f " +
				"WHERE f.target_type = 'thing' AND f.target_id = t.id AND f.state = 'finalized' GROUP BY f.kind) AS k), '') AS file_kinds")
	}}

// maxDepth is the maximum number of ancestors of a category that are read with a thing. It ends the
// recursion if there is a cycle.
const maxDepth = 20

// Tags returns the tags that were read with the thing.
func (t *Thing) Tags(ctx context.Context) (tags []*Tag, ok bool, err error) {
	if t.TagList == nil {
		return nil, false, nil
	}
	if err := json.Unmarshal([]byte(*t.TagList), &tags); err != nil {
		return nil, false, fmt.Errorf("tags: %w", err)
	}
	for _, g := range tags {
		if err := g.AfterScanRow(ctx); err != nil {
			return nil, false, err
		}
	}
	return tags, true, nil
}

// Category returns the category that was read with the thing, with its ancestors, but without
// children and counts.
func (t *Thing) Category() (c *Category, ok bool, err error) {
	if t.CategoryList == nil {
		return nil, false, nil
	}
	var chain []*Category
	if err := json.Unmarshal([]byte(*t.CategoryList), &chain); err != nil || len(chain) == 0 {
		return nil, false, err
	}
	for i := range chain[1:] {
		chain[i].Parent = chain[i+1]
	}
	return chain[0], true, nil
}

// FileCounts returns the numbers of finalized files, by kind, that were read with the thing.
func (t *Thing) FileCounts() (counts map[FileKind]int64, ok bool, err error) {
	if t.FileKinds == nil {
		return nil, false, nil
	}
	counts = make(map[FileKind]int64)
	if *t.FileKinds == "" {
		return counts, true, nil
	}
	for count := range strings.SplitSeq(*t.FileKinds, ",") {
		kind, digits, _ := strings.Cut(count, ":")
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil {
			return nil, false, fmt.Errorf("number of files: %w", err)
		}
		counts[FileKind(kind)] = n
	}
	return counts, true, nil
}
