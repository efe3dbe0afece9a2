package models

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/stdlib"
	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/database"
)

// rows collects rows of several tables, which are written together: with COPY on PostgreSQL, with
// multi-row inserts on SQLite.
type rows struct {
	db     *DB
	conn   bun.Conn
	order  []string // the tables, in the order of writing
	tables map[string]*tableRows
}

type tableRows struct {
	columns string
	copied  []byte     // in COPY format
	values  []bun.Safe // in INSERT format
}

func newRows(db *DB, conn bun.Conn) *rows {
	return &rows{db: db, conn: conn, tables: make(map[string]*tableRows)}
}

// add adds a row. Values are int64, string, bool and time.Time.
func (r *rows) add(table, columns string, values ...any) {
	t := r.tables[table]
	if t == nil {
		t = &tableRows{columns: columns}
		r.tables[table] = t
		r.order = append(r.order, table)
	}
	if r.db.Engine == database.SQLite {
		t.values = append(t.values, bun.Safe("("+r.db.Write.NewRaw("?", bun.List(values)).String()+")"))
		return
	}
	for i, v := range values {
		if i > 0 {
			t.copied = append(t.copied, '\t')
		}
		switch v := v.(type) {
		case int64:
			t.copied = strconv.AppendInt(t.copied, v, 10)
		case bool:
			t.copied = strconv.AppendBool(t.copied, v)
		case time.Time:
			t.copied = v.AppendFormat(t.copied, time.RFC3339Nano)
		case string:
			t.copied = append(t.copied, copyEscapes.Replace(v)...)
		}
	}
	t.copied = append(t.copied, '\n')
}

var copyEscapes = strings.NewReplacer(`\`, `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`)

// write writes all rows in the current transaction of the connection.
func (r *rows) write(ctx context.Context, tx bun.Tx) error {
	for _, name := range r.order {
		t := r.tables[name]
		if r.db.Engine == database.SQLite {
			for some := range slices.Chunk(t.values, 500) {
				if _, err := tx.NewRaw("INSERT INTO ? (?) VALUES ?", bun.Safe(name), bun.Safe(t.columns), bun.List(some)).Exec(ctx); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
			}
			continue
		}
		err := r.conn.Raw(func(driver any) error {
			_, err := driver.(*stdlib.Conn).Conn().PgConn().CopyFrom(ctx, strings.NewReader(string(t.copied)), "COPY "+name+" ("+t.columns+") FROM STDIN")
			return err
		})
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}
