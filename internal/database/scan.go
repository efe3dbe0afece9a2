package database

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
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
	return db.query(ctx, dest, text, pgx.QueryExecModeExec, pgx.QueryResultFormats{pgx.BinaryFormatCode})
}

// query runs a query on PostgreSQL and reads its rows into dest. args are arguments and options of
// pgx.
func (db *DB) query(ctx context.Context, dest any, text string, args ...any) (err error) {
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
		if err := db.readRows(ctx, found, rows); err != nil {
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

func (db *DB) readRows(ctx context.Context, rows pgx.Rows, slice reflect.Value) error {
	element := slice.Type().Elem()
	pointers := element.Kind() == reflect.Pointer
	if pointers {
		element = element.Elem()
	}
	columns, err := db.columns(rows.FieldDescriptions(), element)
	if err != nil {
		return err
	}
	targets := make([]any, len(columns))
	for i, c := range columns {
		targets[i] = c.target
	}
	slice.SetLen(0)
	for n := 0; rows.Next(); n++ {
		slice.Grow(1)
		slice.SetLen(n + 1)
		row := slice.Index(n)
		if pointers {
			row.Set(reflect.New(element))
			row = row.Elem()
		} else {
			row.SetZero()
		}
		for _, c := range columns {
			c.target.point(row, c.field)
		}
		if err := rows.Scan(targets...); err != nil {
			return fmt.Errorf("read %s: %w", element, err)
		}
		if hook, ok := row.Addr().Interface().(bun.AfterScanRowHook); ok {
			if err := hook.AfterScanRow(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// column is a column of a result.
type column struct {
	field  []int // of the struct of a row; nil if the row is no struct
	target target
}

// columns returns the columns of a result.
func (db *DB) columns(described []pgconn.FieldDescription, row reflect.Type) ([]column, error) {
	columns := make([]column, len(described))
	if row.Kind() != reflect.Struct {
		if len(described) != 1 {
			return nil, fmt.Errorf("%d columns for %s", len(described), row)
		}
		columns[0].target = targetOf(row, described[0].DataTypeOID)
		return columns, nil
	}
	table := db.Read.Table(row)
	for i, d := range described {
		field := table.LookupField(d.Name)
		if field == nil {
			return nil, fmt.Errorf("%s does not have column %q", row, d.Name)
		}
		columns[i] = column{field.Index, targetOf(field.StructField.Type, d.DataTypeOID)}
	}
	return columns, nil
}
