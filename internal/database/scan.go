package database

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/tracing"
)

// selectRows runs a query and reads its rows into dest, a pointer to a slice of structs, of
// pointers to structs, or of a type of number or text.
//
// On PostgreSQL it takes the rows from pgx directly. Columns belong to fields as Bun assigns them,
// NULL is the zero value, and AfterScanRow is called. Through database/sql and Bun, each value is
// allocated, and its field is looked up by the name of the column.
func (db *DB) selectRows(ctx context.Context, q *bun.SelectQuery, dest any) error {
	if db.Engine != Postgres {
		return q.Scan(ctx, dest)
	}
	text, err := q.AppendQuery(db.Read.QueryGen(), nil)
	if err != nil {
		return err
	}
	return db.selectText(ctx, string(text), dest)
}

// selectText is selectRows for the text of a query.
func (db *DB) selectText(ctx context.Context, text string, dest any) error {
	if db.Engine != Postgres {
		return db.Read.NewRaw(text).Scan(ctx, dest)
	}
	return db.query(ctx, dest, text, nil, pgx.QueryExecModeExec, pgx.QueryResultFormats{pgx.BinaryFormatCode})
}

// query runs a query on PostgreSQL and reads its rows into dest. known remembers how to read the
// rows of the text, unless it is nil. args are arguments and options of pgx.
func (db *DB) query(ctx context.Context, dest any, text string, known *atomic.Pointer[rowReader], args ...any) (err error) {
	if tracing.On(ctx) {
		span := db.statements.trace(ctx, text)
		defer func() { endSpan(span, err) }()
	}
	if err := db.reads.acquire(ctx); err != nil {
		return err
	}
	defer db.reads.release(ctx)
	rows := reflect.ValueOf(dest).Elem()
	began := time.Now()
	err = db.onConnection(ctx, func(conn *pgx.Conn) error {
		found, err := conn.Query(ctx, text, args...)
		if err != nil {
			return err
		}
		defer found.Close()
		if err := db.readRows(ctx, found, rows, known); err != nil {
			return err
		}
		return found.Err()
	})
	db.statements.done(ctx, "SELECT", began, rows.Len(), err)
	return err
}

// onConnection calls query with a connection of the pool, which has checked that it is open.
func (db *DB) onConnection(ctx context.Context, query func(*pgx.Conn) error) error {
	conn, err := db.Read.DB.Conn(ctx)
	if err != nil {
		return err
	}
	err = conn.Raw(func(raw any) error { return query(raw.(*stdlib.Conn).Conn()) })
	return errors.Join(err, conn.Close())
}

// maxMade is the maximum number of rows that are allocated at once. A pointer to one of them keeps
// all.
const maxMade = 32

// readRows reads rows into a slice. The columns are those of earlier rows of the same statement, if
// known is not nil, and they are the same.
func (db *DB) readRows(ctx context.Context, rows pgx.Rows, slice reflect.Value, known *atomic.Pointer[rowReader]) error {
	element := slice.Type().Elem()
	pointers := element.Kind() == reflect.Pointer
	if pointers {
		element = element.Elem()
	}
	described := rows.FieldDescriptions()
	if len(described) == 0 { // the statement failed
		rows.Close() // from now on, rows.Err returns why
		return nil
	}
	var r *rowReader
	if known != nil {
		r = known.Load()
	}
	if r == nil || !r.reads(element, described) {
		var err error
		if r, err = db.newRowReader(element, described); err != nil {
			return err
		}
		if known != nil {
			known.Store(r)
		}
	}
	slice.SetLen(0)
	types := rows.Conn().TypeMap()
	var text []byte
	var made reflect.Value // rows for pointers, some at once
	next, size := 0, 0
	for n := 0; rows.Next(); n++ {
		slice.Grow(1)
		slice.SetLen(n + 1)
		row := slice.Index(n)
		if pointers {
			if next == size {
				next, size = 0, min(max(1, 2*size), maxMade)
				made = reflect.MakeSlice(reflect.SliceOf(element), size, size)
			}
			row.Set(made.Index(next).Addr())
			row, next = row.Elem(), next+1
		} else {
			row.SetZero()
		}
		var err error
		if text, err = r.read(types, row, rows.RawValues(), text[:0]); err != nil {
			return fmt.Errorf("read %s: %w", element, err)
		}
		if r.hooked {
			if err := row.Addr().Interface().(bun.AfterScanRowHook).AfterScanRow(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// rowReader reads the rows of a statement. It can be used by several goroutines.
type rowReader struct {
	row       reflect.Type
	described []pgconn.FieldDescription
	columns   []column
	hooked    bool // rows have the method AfterScanRow
}

// column is a column of a result.
type column struct {
	name  string
	index []int       // of the field in the struct of a row; empty if the row is no struct
	read  valueReader // nil for a text
}

func (db *DB) newRowReader(row reflect.Type, described []pgconn.FieldDescription) (*rowReader, error) {
	r := &rowReader{
		row: row, described: slices.Clone(described), columns: make([]column, len(described)),
		hooked: reflect.PointerTo(row).Implements(reflect.TypeFor[bun.AfterScanRowHook]()),
	}
	if row.Kind() != reflect.Struct && len(described) != 1 {
		return nil, fmt.Errorf("%d columns for %s", len(described), row)
	}
	for i, d := range described {
		c, field := column{name: d.Name}, row
		if row.Kind() == reflect.Struct {
			found := db.Read.Table(row).LookupField(d.Name)
			if found == nil {
				return nil, fmt.Errorf("%s does not have column %q", row, d.Name)
			}
			c.index, field = found.Index, found.StructField.Type
		}
		if !isText(field, d.DataTypeOID) {
			c.read = newValueReader(field, d.DataTypeOID, d.Format)
		}
		r.columns[i] = c
	}
	return r, nil
}

// reads reports whether r reads rows of a type from columns. The columns of a statement change if
// the table is changed.
func (r *rowReader) reads(row reflect.Type, described []pgconn.FieldDescription) bool {
	return r.row == row && slices.EqualFunc(r.described, described, func(a, b pgconn.FieldDescription) bool {
		return a.Name == b.Name && a.DataTypeOID == b.DataTypeOID && a.Format == b.Format
	})
}

// read reads a row, which is zero, from the values that PostgreSQL sent. NULL changes nothing. The
// texts of a row become one string, of which each field has a part. The bytes of text are
// overwritten, and returned for the next row.
func (r *rowReader) read(types *pgtype.Map, row reflect.Value, values [][]byte, text []byte) ([]byte, error) {
	for i, c := range r.columns {
		if c.read == nil {
			text = append(text, values[i]...)
		}
	}
	left := string(text)
	for i, c := range r.columns {
		raw := values[i]
		switch {
		case raw == nil:
		case c.read == nil:
			c.field(row).SetString(left[:len(raw)])
			left = left[len(raw):]
		default:
			if err := c.read(types, c.field(row), raw); err != nil {
				return text, fmt.Errorf("column %s: %w", c.name, err)
			}
		}
	}
	return text, nil
}

// field returns the field of a row. It makes the structs on the way to it, such as that of a joined
// object.
func (c *column) field(row reflect.Value) reflect.Value {
	for _, i := range c.index {
		if row.Kind() == reflect.Pointer {
			if row.IsNil() {
				row.Set(reflect.New(row.Type().Elem()))
			}
			row = row.Elem()
		}
		row = row.Field(i)
	}
	return row
}
