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

// selectRows runs a query and reads its rows into dest, a pointer to a slice of structs, pointers
// to structs, numbers or strings.
//
// On PostgreSQL it reads the rows from pgx directly, which is faster than through database/sql and
// Bun: they allocate each value and look up each field by the name of the column. The result is the
// same: columns are assigned to fields as Bun assigns them, NULL becomes the zero value, and
// AfterScanRow is called.
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

// selectText is like selectRows, but receives the text of the query.
func (db *DB) selectText(ctx context.Context, text string, dest any) error {
	if db.Engine != Postgres {
		return db.Read.NewRaw(text).Scan(ctx, dest)
	}
	return db.query(ctx, dest, text, nil, pgx.QueryExecModeExec, pgx.QueryResultFormats{pgx.BinaryFormatCode})
}

// query runs a query on PostgreSQL and reads its rows into dest. args are the arguments of the
// query and options of pgx. If known is not nil, it caches the reader for the rows of the query.
func (db *DB) query(ctx context.Context, dest any, text string, known *atomic.Pointer[rowReader], args ...any) (err error) {
	if tracing.On(ctx) {
		span := db.statements.trace(ctx, text)
		defer func() { endSpan(span, err) }()
	}
	held, err := db.reads.acquire(ctx)
	if err != nil {
		return err
	}
	defer held.release()
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

// onConnection calls query with a connection of the read pool. The pool has checked that the
// connection is still open.
func (db *DB) onConnection(ctx context.Context, query func(*pgx.Conn) error) error {
	conn, err := db.Read.DB.Conn(ctx)
	if err != nil {
		return err
	}
	err = conn.Raw(func(raw any) error { return query(raw.(*stdlib.Conn).Conn()) })
	return errors.Join(err, conn.Close())
}

// maxMade is the maximum number of rows that are allocated together. The garbage collector frees
// none of them while there is a pointer to one.
const maxMade = 32

// readRows reads rows into a slice. It uses the reader in known if that fits the type of the rows
// and the columns. Otherwise it creates one and, if known is not nil, stores it there.
func (db *DB) readRows(ctx context.Context, rows pgx.Rows, slice reflect.Value, known *atomic.Pointer[rowReader]) error {
	element := slice.Type().Elem()
	pointers := element.Kind() == reflect.Pointer
	if pointers {
		element = element.Elem()
	}
	described := rows.FieldDescriptions()
	if len(described) == 0 { // the statement failed
		rows.Close() // after this, rows.Err returns the error
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
	var made reflect.Value // rows that were allocated together for pointers
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
	index []int       // of the field in the struct of a row; empty if the row is not a struct
	read  valueReader // nil if the value is copied as text
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

// reads reports whether r can read the described columns into rows of the given type. The columns
// of a statement can change when the table is altered.
func (r *rowReader) reads(row reflect.Type, described []pgconn.FieldDescription) bool {
	return r.row == row && slices.EqualFunc(r.described, described, func(a, b pgconn.FieldDescription) bool {
		return a.Name == b.Name && a.DataTypeOID == b.DataTypeOID && a.Format == b.Format
	})
}

// read reads a row from the values that PostgreSQL sent. The row must be a zero value, because
// fields of columns with NULL are not set. All texts of the row are converted to one string, of
// which each field gets a substring, so they need one allocation. text is a buffer for that; read
// returns it for reuse with the next row.
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

// field returns the field of the column in a row. If the field is in a nested struct behind a nil
// pointer, such as a joined object, field allocates that struct.
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
