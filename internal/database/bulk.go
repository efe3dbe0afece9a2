package database

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/stdlib"
	"github.com/uptrace/bun"
)

// Bulk collects rows of several tables, which are written together: with COPY on PostgreSQL, with
// multi-row inserts on SQLite.
type Bulk struct {
	db     *DB
	conn   bun.Conn
	order  []string // the tables, in the order of writing
	tables map[string]bulkTable
}

// bulkTable collects and writes rows of one table.
type bulkTable interface {
	add(values []any)
	write(ctx context.Context, conn bun.Conn, tx bun.Tx) error
}

// NewBulk returns a Bulk that writes by a connection.
func NewBulk(db *DB, conn bun.Conn) *Bulk {
	return &Bulk{db: db, conn: conn, tables: make(map[string]bulkTable)}
}

// Add adds a row. Values are int64, string, bool, time.Time and nil for NULL. The columns of a
// table must be the same each time.
func (b *Bulk) Add(table, columns string, values ...any) {
	t := b.tables[table]
	if t == nil {
		t = b.db.bulkTable(b.db, table, columns)
		b.tables[table] = t
		b.order = append(b.order, table)
	}
	t.add(values)
}

// Write writes all rows in the current transaction of the connection, tx.
func (b *Bulk) Write(ctx context.Context, tx bun.Tx) error {
	for _, name := range b.order {
		if err := b.tables[name].write(ctx, b.conn, tx); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// copiedTable writes rows with COPY.
type copiedTable struct {
	name, columns string
	rows          []byte
}

func (t *copiedTable) add(values []any) {
	for i, v := range values {
		if i > 0 {
			t.rows = append(t.rows, '\t')
		}
		switch v := v.(type) {
		case nil:
			t.rows = append(t.rows, `\N`...)
		case int64:
			t.rows = strconv.AppendInt(t.rows, v, 10)
		case bool:
			t.rows = strconv.AppendBool(t.rows, v)
		case time.Time:
			t.rows = v.AppendFormat(t.rows, time.RFC3339Nano)
		case string:
			t.rows = append(t.rows, copyEscapes.Replace(v)...)
		}
	}
	t.rows = append(t.rows, '\n')
}

var copyEscapes = strings.NewReplacer(`\`, `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`)

func (t *copiedTable) write(ctx context.Context, conn bun.Conn, _ bun.Tx) error {
	return conn.Raw(func(driver any) error {
		_, err := driver.(*stdlib.Conn).Conn().PgConn().CopyFrom(ctx, strings.NewReader(string(t.rows)),
			"COPY "+t.name+" ("+t.columns+") FROM STDIN")
		return err
	})
}

// insertedTable writes rows with INSERT.
type insertedTable struct {
	db            *DB
	name, columns string
	rows          []bun.Safe
}

func (t *insertedTable) add(values []any) {
	for i, v := range values {
		if v == nil { // which Bun does not accept in a list
			values[i] = bun.Safe("NULL")
		}
	}
	t.rows = append(t.rows, bun.Safe("("+t.db.Write.NewRaw("?", bun.List(values)).String()+")"))
}

func (t *insertedTable) write(ctx context.Context, _ bun.Conn, tx bun.Tx) error {
	for some := range slices.Chunk(t.rows, 500) {
		if _, err := tx.NewRaw("INSERT INTO ? (?) VALUES ?", bun.Safe(t.name), bun.Safe(t.columns), bun.List(some)).
			Exec(ctx); err != nil {
			return err
		}
	}
	return nil
}
