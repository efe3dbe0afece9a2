package maintenance

import (
	"context"
	"fmt"
	"slices"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/models"
)

// CountedRows defines how a count is computed from rows. o is the row of the object.
type CountedRows struct {
	models.Count
	rows string
}

// Counted defines all counts.
var Counted = []CountedRows{
	{models.ThingLikes, imported("likes") +
		" + (SELECT count(*) FROM likes WHERE target_type = 'thing' AND target_id = o.id)"},
	{models.ThingCollects, imported("collects") + " + (SELECT count(*) FROM collection_things WHERE thing_id = o.id)"},
	{models.ThingMakes, imported("makes") +
		" + (SELECT count(*) FROM makes WHERE thing_id = o.id AND state = 'published')"},
	{models.ThingComments, imported("comments") +
		" + (SELECT count(*) FROM comments WHERE target_type = 'thing' AND target_id = o.id AND deleted_at IS NULL)"},
	{models.ThingRootComments,
		"SELECT count(*) FROM comments WHERE target_type = 'thing' AND target_id = o.id AND deleted_at IS NULL AND parent_id IS NULL"},
	{models.ThingRemixes,
		"SELECT count(*) FROM thing_ancestors AS a JOIN things AS t ON t.id = a.thing_id WHERE a.ancestor_id = o.id AND t.state = 'published'"},
	{models.ThingDownloads, imported("downloads") +
		" + (SELECT count(*) FROM downloads WHERE thing_id = o.id) - (SELECT count(*) FROM new_downloads WHERE thing_id = o.id)"},
	{models.UserThings, "SELECT count(*) FROM things WHERE owner_id = o.id AND state = 'published'"},
	{models.UserMakes, "SELECT count(*) FROM makes AS m WHERE m.owner_id = o.id AND m.state = 'published' AND (m.thing_id IS NULL OR EXISTS (SELECT 1 FROM things AS t WHERE t.id = m.thing_id AND t.state = 'published'))"},
	{models.UserLikes, "SELECT count(*) FROM likes WHERE user_id = o.id AND target_type = 'thing'"},
	{models.UserCollections, "SELECT count(*) FROM collections WHERE owner_id = o.id AND visibility = 'public'"},
	{models.UserFollowers, "SELECT count(*) FROM follows WHERE followed_id = o.id"},
	{models.UserBytes, "SELECT coalesce(sum(f.size), 0) FROM files AS f WHERE f.owner_id = o.id AND f.sha256 <> '' AND f.object_key NOT LIKE 'library/%'"},
	{models.UserFollowing, "SELECT count(*) FROM follows WHERE follower_id = o.id"},
	{models.MakeLikes, "SELECT count(*) FROM likes WHERE target_type = 'make' AND target_id = o.id"},
	{models.MakeComments,
		"SELECT count(*) FROM comments WHERE target_type = 'make' AND target_id = o.id AND deleted_at IS NULL"},
	{models.MakeRootComments,
		"SELECT count(*) FROM comments WHERE target_type = 'make' AND target_id = o.id AND deleted_at IS NULL AND parent_id IS NULL"},
	{models.CommentReplies, "SELECT count(*) FROM comments AS r WHERE r.parent_id = o.id"},
	{models.CategoryThings, "SELECT count(*) FROM things WHERE category_id = o.id AND state = 'published'"},
	{models.CategoryFeatured,
		"SELECT count(*) FROM things WHERE category_id = o.id AND state = 'published' AND featured_at IS NOT NULL"},
	{models.TagThings, "SELECT count(*) FROM thing_tags AS tt JOIN things AS t ON t.id = tt.thing_id WHERE tt.tag_id = o.id AND t.state = 'published'"},
	{models.CollectionLikes, "SELECT count(*) FROM likes WHERE target_type = 'collection' AND target_id = o.id"},
	{models.CollectionThings, "SELECT count(*) FROM collection_things WHERE collection_id = o.id"},
}

// imported returns an expression for the imported value of a count.
func imported(column string) string {
	return "SELECT coalesce((SELECT ic." + column + " FROM imported_counts AS ic WHERE ic.thing_id = o.id), 0)"
}

// recountBatch is the number of objects whose counts one transaction of Recount recomputes.
const recountBatch = 500

// Recount recomputes all counts and the popularity of all things from the rows, and returns how
// many counts were wrong. It is for maintenance, and for use after other programs have written
// rows. Each transaction recomputes a few objects, so servers can write meanwhile.
func (s *Store) Recount(ctx context.Context) (changed int64, err error) {
	for _, table := range CountedTables() {
		for last := int64(0); ; {
			var ids []int64
			err := s.core.DB.Write.NewSelect().Table(table).Column("id").Where("id > ?", last).Order("id").Limit(recountBatch).
				Scan(ctx, &ids)
			if err != nil {
				return changed, fmt.Errorf("recount: %w", err)
			}
			if len(ids) == 0 {
				break
			}
			n, err := s.RecountSome(ctx, table, ids)
			if err != nil {
				return changed, fmt.Errorf("recount: %w", err)
			}
			changed += n
			last = ids[len(ids)-1]
		}
	}
	return changed, nil
}

// CountedTables returns the tables that have counts.
func CountedTables() (tables []string) {
	for _, c := range Counted {
		if !slices.Contains(tables, c.Table) {
			tables = append(tables, c.Table)
		}
	}
	return tables
}

// RecountSome recomputes the counts of some objects of a table and, for things, their popularity.
func (s *Store) RecountSome(ctx context.Context, table string, ids []int64) (changed int64, err error) {
	err = s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		changed = 0
		// Changes cannot be folded into these rows from now on, so that each statement below reads rows
		// and changes of the same moment.
		if err := s.core.DB.LockRows(ctx, tx, table, ids); err != nil {
			return err
		}
		condition := tx.NewRaw("o.id IN (?)", bun.List(ids)).String()
		for _, c := range Counted {
			if c.Table != table {
				continue
			}
			n, err := c.recount(ctx, tx, bun.Safe(condition))
			if err != nil {
				return err
			}
			changed += n
		}
		if table == models.ThingLikes.Table {
			return rank(ctx, s.core.DB, tx, ids)
		}
		return nil
	})
	return changed, err
}

// recount recomputes a count of the objects that a condition selects. The changes that are not
// folded yet are not part of it. They must not be folded meanwhile: the caller locks the rows of
// the objects, or all counts.
func (c CountedRows) recount(ctx context.Context, tx bun.Tx, where bun.Safe) (changed int64, err error) {
	done, err := tx.NewRaw("UPDATE ?0 AS o SET ?1 = n.n FROM (SELECT o.id, (?2) - "+
		"(SELECT CAST(coalesce(sum(cc.delta), 0) AS bigint) FROM count_changes AS cc WHERE cc.of_table = ?4 AND cc.object_id = o.id AND cc.of_column = ?5) AS n "+
		"FROM ?0 AS o WHERE ?3) AS n WHERE n.id = o.id AND o.?1 <> n.n",
		bun.Ident(c.Table), bun.Ident(c.Column), bun.Safe(c.rows), where, c.Table, c.Column).Exec(ctx)
	if err != nil {
		return 0, fmt.Errorf("%s.%s: %w", c.Table, c.Column, err)
	}
	return done.RowsAffected()
}

// Miscount is a count that differs from the rows.
type Miscount struct {
	ID            int64
	Column        string
	Stored, Right int64
}

// Miscounts returns the wrong counts of some objects of a table.
func (s *Store) Miscounts(ctx context.Context, table string, ids []int64) (wrong []Miscount, err error) {
	for _, c := range Counted {
		if c.Table != table {
			continue
		}
		var found []Miscount
		// One statement reads rows and changes of the same moment.
		err := s.core.DB.Write.NewRaw(
			"SELECT n.id, ?5 AS \"column\", n.stored, n.right_count AS \"right\" FROM (SELECT o.id, o.?1 AS stored, (?2) - "+
				"(SELECT CAST(coalesce(sum(cc.delta), 0) AS bigint) FROM count_changes AS cc WHERE cc.of_table = ?4 AND cc.object_id = o.id AND cc.of_column = ?5) AS right_count "+
				"FROM ?0 AS o WHERE o.id IN (?3)) AS n WHERE n.stored <> n.right_count ORDER BY n.id",
			bun.Ident(c.Table), bun.Ident(c.Column), bun.Safe(c.rows), bun.List(ids), c.Table, c.Column).Scan(ctx, &found)
		if err != nil {
			return nil, fmt.Errorf("%s.%s: %w", c.Table, c.Column, err)
		}
		wrong = append(wrong, found...)
	}
	return wrong, nil
}
