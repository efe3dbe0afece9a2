package database

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"reflect"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"

	"github.com/meshyard/meshyard/internal/telemetry/tracing"
)

// This file reads the rows of the statements that requests run most: those of lists, and those that
// stay prepared. It finds the fields and converts the values with Bun, but gets the values from the
// driver without database/sql, and looks up each field once for all rows. ADR 10 has the reasons.

// selectText runs a query and reads its rows into dest, a pointer to a slice of structs, pointers
// to structs, numbers or strings.
func (db *DB) selectText(ctx context.Context, text string, dest any) error {
	return db.query(ctx, dest, text, nil, nil)
}

// query runs a query with arguments on a connection of the read pool, and reads its rows into dest.
// If statement is not nil, the query stays prepared on its connection.
func (db *DB) query(ctx context.Context, dest any, text string, statement *preparedText, args []any) (err error) {
	if tracing.On(ctx) {
		span := db.statements.trace(ctx, text)
		defer func() { endSpan(span, err) }()
	}
	held, err := db.reads.acquire(ctx)
	if err != nil {
		return err
	}
	defer held.release()
	slice, again := reflect.ValueOf(dest).Elem(), false
	began := time.Now()
	defer func() { db.statements.done(ctx, "SELECT", began, slice.Len(), err) }()
	values, err := db.driverArgs(statement != nil, args)
	if err != nil {
		return err
	}
	if statement != nil {
		ctx = keepPrepared(ctx)
	}
	read := func(conn any) error {
		query := func() (driver.Rows, error) { return conn.(driver.QueryerContext).QueryContext(ctx, text, values) }
		if keeping, ok := conn.(*keepingConn); ok { // SQLite
			prepared, err := keeping.PrepareContext(ctx, text)
			if err != nil {
				return err
			}
			defer prepared.Close()
			query = func() (driver.Rows, error) { return prepared.(driver.StmtQueryContext).QueryContext(ctx, values) }
		}
		rows, err := query()
		if err != nil {
			return err
		}
		defer rows.Close()
		return db.appendRows(ctx, slice, rows)
	}
	for pool := readPool(ctx, db.Read.DB); ; {
		conn, err := pool.Conn(ctx) // checks that the connection is still open
		if err == nil {
			err = errors.Join(conn.Raw(read), conn.Close())
		}
		next := other(ctx, pool, db.Read.DB, err)
		if next == nil || again {
			return err
		}
		pool, again = next, true
	}
}

// appendRows empties a slice and appends all rows to it. If ctx ends, it ends before the next row.
func (db *DB) appendRows(ctx context.Context, slice reflect.Value, rows driver.Rows) error {
	element := slice.Type().Elem()
	pointers := element.Kind() == reflect.Pointer
	if pointers {
		element = element.Elem()
	}
	columns, err := db.columnsOf(element, rows.Columns())
	if err != nil {
		return err
	}
	hooked := reflect.PointerTo(element).Implements(reflect.TypeFor[bun.AfterScanRowHook]())
	values := make([]driver.Value, len(columns))
	slice.SetLen(0)
	for n := 0; ; n++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := rows.Next(values); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		slice.Grow(1)
		slice.SetLen(n + 1)
		row := slice.Index(n)
		if pointers {
			row.Set(reflect.New(element))
			row = row.Elem()
		} else {
			row.SetZero() // the caller may reuse the slice
		}
		for i, value := range values {
			if value == nil {
				continue // NULL
			}
			if err := columns[i].scan(fieldAt(row, columns[i].index), value); err != nil {
				return fmt.Errorf("read column %s of %s: %w", columns[i].name, element, err)
			}
		}
		if hooked {
			if err := row.Addr().Interface().(bun.AfterScanRowHook).AfterScanRow(ctx); err != nil {
				return err
			}
		}
	}
}

// column is a column of a result.
type column struct {
	name  string
	index []int              // of the field, empty if a row is not a struct
	scan  schema.ScannerFunc // converts a value and sets the field
}

// columnsOf returns the columns with the given names for rows of a type.
func (db *DB) columnsOf(row reflect.Type, names []string) ([]column, error) {
	columns := make([]column, len(names))
	if row.Kind() != reflect.Struct {
		if len(names) != 1 {
			return nil, fmt.Errorf("%d columns for %s", len(names), row)
		}
		columns[0] = column{names[0], nil, schema.Scanner(row)}
		return columns, nil
	}
	table := db.Read.Table(row)
	for i, name := range names {
		field := table.LookupField(name)
		if field == nil || field.Scan == nil {
			return nil, fmt.Errorf("%s does not have column %q", row, name)
		}
		columns[i] = column{name, field.Index, field.Scan}
		if field.IndirectType == reflect.TypeFor[time.Time]() {
			columns[i].scan = db.scanTime(field.Scan)
		}
	}
	return columns, nil
}

// fieldAt returns the field of a row at an index. If the field is in a nested struct behind a nil
// pointer, such as a joined object, fieldAt allocates that struct.
func fieldAt(row reflect.Value, index []int) reflect.Value {
	for _, i := range index {
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
