package models

import (
	"context"

	"github.com/uptrace/bun"
)

// lockCounts prevents other transactions from changing counts until tx ends.
func (db *DB) lockCounts(ctx context.Context, tx bun.Tx) error {
	return db.LockTable(ctx, tx, "count_changes", "SHARE ROW EXCLUSIVE")
}

// ShareCounts makes lockCounts of other transactions wait until tx ends, as inserting a count
// change does. Otherwise a recount could read rows before tx commits, store the count after tx has
// changed it, and so undo the change.
func (db *DB) ShareCounts(ctx context.Context, tx bun.Tx) error {
	return db.LockTable(ctx, tx, "count_changes", "ROW EXCLUSIVE")
}

// CountThings recounts the published things of users, categories and tags.
func (db *DB) CountThings(ctx context.Context, tx bun.Tx) error {
	if err := db.lockCounts(ctx, tx); err != nil {
		return err
	}
	for _, c := range []struct {
		Count
		rows string
	}{
		{UserThings, "SELECT owner_id AS id, count(*) AS n FROM things WHERE state = 'published' GROUP BY owner_id"},
		{CategoryThings, "SELECT category_id AS id, count(*) AS n FROM things WHERE state = 'published' GROUP BY category_id"},
		{TagThings, "SELECT tt.tag_id AS id, count(*) AS n FROM thing_tags AS tt JOIN things AS t ON t.id = tt.thing_id WHERE t.state = 'published' GROUP BY tt.tag_id"},
	} {
		if _, err := tx.NewRaw("DELETE FROM count_changes WHERE of_table = ? AND of_column = ?", c.Table, c.Column).
			Exec(ctx); err != nil {
			return err
		}
		_, err := tx.NewRaw(
			"UPDATE ?0 AS o SET ?1 = n.n FROM (SELECT a.id, coalesce(r.n, 0) AS n FROM ?0 AS a LEFT JOIN (?2) AS r ON r.id = a.id) AS n "+
				"WHERE n.id = o.id AND o.?1 <> n.n", bun.Ident(c.Table), bun.Ident(c.Column), bun.Safe(c.rows)).Exec(ctx)
		if err != nil {
			return err
		}
	}
	return nil
}
