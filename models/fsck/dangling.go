package fsck

import (
	"context"
	"fmt"
	"strconv"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/models"
)

// reference is a column that refers to rows of another table without a foreign key.
type reference struct {
	table, column, to string
	where             string // the rows whose column refers to that table
	clear             bool   // set the column to 0 instead of deleting the row
}

func (d reference) name() string { return d.table + " on missing " + d.to }

// dangling are the references, the deepest last: deleting a comment leaves its files.
var dangling = func() (all []reference) {
	targets := map[string]string{"thing": "things", "make": "makes", "collection": "collections", "comment": "comments",
		"user": "users", "file": "files"}
	for _, of := range []struct {
		table string
		types []string
	}{
		{"comments", []string{"thing", "make"}},
		{"likes", []string{"thing", "make", "collection"}},
		{"files", []string{"thing", "make", "comment"}},
		{"watches", []string{"thing", "make", "collection"}},
		{"notifications", []string{"thing", "make", "collection", "comment", "user", "file"}},
	} {
		for _, kind := range of.types {
			all = append(all, reference{table: of.table, column: "target_id", to: targets[kind], where: "o.target_type = '" +
				kind + "'"})
		}
	}
	return append(all,
		reference{table: "files", column: "preview_id", to: "previews", where: "o.preview_id <> 0", clear: true},
		reference{table: "users", column: "avatar_id", to: "files", where: "o.avatar_id <> 0", clear: true},
		reference{table: "users", column: "cover_id", to: "files", where: "o.cover_id <> 0", clear: true},
	)
}()

// missing is the condition of rows whose reference is dangling.
func (d reference) missing() string {
	where := d.where
	if d.table == "files" && d.column == "target_id" {
		where += " AND o.state = 'finalized'"
	}
	return where + " AND NOT EXISTS (SELECT 1 FROM " + d.to + " AS x WHERE x.id = o." + d.column + ")"
}

// dangling returns the check of a reference.
func (r *run) dangling(d reference) func(context.Context, string, func(string)) error {
	return func(ctx context.Context, after string, done func(string)) error {
		for last := idAfter(after); ; done(strconv.FormatInt(last, 10)) {
			var rows []struct{ ID, Target int64 }
			err := r.db().NewRaw("SELECT o.id, o.?0 AS target FROM ?1 AS o WHERE o.id > ?2 AND ?3 ORDER BY o.id LIMIT ?4",
				bun.Ident(d.column), bun.Ident(d.table), last, bun.Safe(d.missing()), models.ObjectsAtOnce).Scan(ctx, &rows)
			if err != nil || len(rows) == 0 {
				return err
			}
			for _, row := range rows {
				err := r.found(ctx, fmt.Sprintf("%s %d: refers to the row %d of %s, which does not exist", d.table, row.ID,
					row.Target, d.to), r.detach(d, row.ID))
				if err != nil {
					return err
				}
				last = row.ID
			}
		}
	}
}

// detach returns the repair of a dangling reference.
func (r *run) detach(d reference, id int64) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		statement, did := "DELETE FROM ?0 AS o WHERE o.id = ?2 AND ?3", "deleted"
		if d.clear {
			statement, did = "UPDATE ?0 AS o SET ?1 = 0 WHERE o.id = ?2 AND ?3", "cleared"
		}
		return did, r.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
			_, err := tx.NewRaw(statement, bun.Ident(d.table), bun.Ident(d.column), id, bun.Safe(d.missing())).Exec(ctx)
			return err
		})
	}
}
