package database

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/tracing"
)

// This file reads rows without Bun and, as far as possible, without database/sql, which allocate
// each value and look up each field by the name of the column. The result is the same: columns are
// assigned to fields as Bun assigns them, NULL becomes the zero value, and AfterScanRow is called.

// selectText runs a query and reads its rows into dest, a pointer to a slice of structs, pointers
// to structs, numbers or strings.
func (db *DB) selectText(ctx context.Context, text string, dest any) error {
	return db.query(ctx, dest, text, nil, nil)
}

// query runs a query with arguments and reads its rows into dest. If statement is not nil, the
// query is prepared, and the statement keeps how its rows are read.
func (db *DB) query(ctx context.Context, dest any, text string, statement *kept, args []any) (err error) {
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
	if db.Engine == Postgres {
		err = db.queryPostgres(ctx, rows, text, statement, args)
	} else {
		err = db.querySQLite(ctx, rows, text, statement, args)
	}
	db.statements.done(ctx, "SELECT", began, rows.Len(), err)
	return err
}

// onConnection calls query with the driver's connection, from the read pool. The pool has checked
// that it is still open.
func (db *DB) onConnection(ctx context.Context, query func(driver any) error) error {
	conn, err := db.Read.DB.Conn(ctx)
	if err != nil {
		return err
	}
	return errors.Join(conn.Raw(query), conn.Close())
}

// maxMade is the maximum number of rows that are allocated together. The garbage collector frees
// none of them while there is a pointer to one.
const maxMade = 32

// appendRows empties a slice and appends a row as long as next returns true. read sets the fields
// of the row, which is a zero value.
func appendRows(ctx context.Context, slice reflect.Value, next func() (bool, error), read func(row reflect.Value) error) error {
	element, pointers := elementOf(slice), slice.Type().Elem().Kind() == reflect.Pointer
	hooked := reflect.PointerTo(element).Implements(reflect.TypeFor[bun.AfterScanRowHook]())
	slice.SetLen(0)
	var made reflect.Value // rows that were allocated together for pointers
	used, size := 0, 0
	for n := 0; ; n++ {
		if more, err := next(); err != nil || !more {
			return err
		}
		slice.Grow(1)
		slice.SetLen(n + 1)
		row := slice.Index(n)
		if pointers {
			if used == size {
				used, size = 0, min(max(1, 2*size), maxMade)
				made = reflect.MakeSlice(reflect.SliceOf(element), size, size)
			}
			row.Set(made.Index(used).Addr())
			row, used = row.Elem(), used+1
		} else {
			row.SetZero()
		}
		if err := read(row); err != nil {
			return fmt.Errorf("read %s: %w", element, err)
		}
		if hooked {
			if err := row.Addr().Interface().(bun.AfterScanRowHook).AfterScanRow(ctx); err != nil {
				return err
			}
		}
	}
}

// fieldOf returns the index and the type of the field for a column in rows of the given type. The
// index is empty if a row is not a struct; then it has only one column.
func (db *DB) fieldOf(row reflect.Type, column string, columns int) ([]int, reflect.Type, error) {
	if row.Kind() != reflect.Struct {
		if columns != 1 {
			return nil, nil, fmt.Errorf("%d columns for %s", columns, row)
		}
		return nil, row, nil
	}
	found := db.Read.Table(row).LookupField(column)
	if found == nil {
		return nil, nil, fmt.Errorf("%s does not have column %q", row, column)
	}
	return found.Index, found.StructField.Type, nil
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

// elementOf returns the type of the rows in a slice of rows or of pointers to rows.
func elementOf(slice reflect.Value) reflect.Type {
	element := slice.Type().Elem()
	if element.Kind() == reflect.Pointer {
		element = element.Elem()
	}
	return element
}
