package database

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"time"

	"github.com/uptrace/bun/schema"
)

// querySQLite runs a query on SQLite and reads its rows into a slice. If ctx ends, it ends before
// the next row.
func (db *DB) querySQLite(ctx context.Context, slice reflect.Value, text string, statement *kept, args []any) error {
	named := make([]driver.NamedValue, len(args))
	for i, arg := range args {
		value, err := driver.DefaultParameterConverter.ConvertValue(sqliteArg(arg))
		if err != nil {
			return fmt.Errorf("argument %d: %w", i+1, err)
		}
		named[i] = driver.NamedValue{Ordinal: i + 1, Value: value}
	}
	return db.onConnection(ctx, func(raw any) error {
		conn := raw.(*keepingConn)
		if statement != nil {
			ctx = keepPrepared(ctx)
		}
		prepared, err := conn.PrepareContext(ctx, text)
		if err != nil {
			return err
		}
		defer prepared.Close()
		rows, err := prepared.(driver.StmtQueryContext).QueryContext(ctx, named)
		if err != nil {
			return err
		}
		defer rows.Close()
		return db.readSQLite(ctx, rows, slice, statement)
	})
}

// readSQLite reads rows into a slice. It uses the reader of the statement if that fits the type of
// the rows and the columns. Otherwise it creates one.
func (db *DB) readSQLite(ctx context.Context, rows driver.Rows, slice reflect.Value, statement *kept) error {
	element, columns := elementOf(slice), rows.Columns()
	var r *sqliteReader
	if statement != nil {
		r = statement.sqlite.Load()
	}
	if r == nil || r.row != element || !slices.Equal(r.columns, columns) {
		var err error
		if r, err = db.newSQLiteReader(element, columns); err != nil {
			return err
		}
		if statement != nil {
			statement.sqlite.Store(r)
		}
	}
	values := make([]driver.Value, len(columns))
	return appendRows(ctx, slice, func() (bool, error) {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		err := rows.Next(values)
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		return err == nil, err
	}, func(row reflect.Value) error { return r.read(row, values) })
}

// sqliteReader reads the rows of a statement. It can be used by several goroutines.
type sqliteReader struct {
	row     reflect.Type
	columns []string
	fields  []sqliteField
}

// sqliteField is the field for a column.
type sqliteField struct {
	index []int                          // see fieldOf
	scan  func(reflect.Value, any) error // by Bun; converts every value
	set   sqliteSetter
}

func (db *DB) newSQLiteReader(row reflect.Type, columns []string) (*sqliteReader, error) {
	r := &sqliteReader{row: row, columns: slices.Clone(columns), fields: make([]sqliteField, len(columns))}
	for i, name := range columns {
		index, field, err := db.fieldOf(row, name, len(columns))
		if err != nil {
			return nil, err
		}
		r.fields[i] = sqliteField{index, schema.Scanner(field), newSQLiteSetter(field)}
	}
	return r, nil
}

// read reads a row. The row must be a zero value, because fields of columns with NULL are not set.
func (r *sqliteReader) read(row reflect.Value, values []driver.Value) error {
	for i, value := range values {
		if value == nil {
			continue
		}
		f := &r.fields[i]
		field := fieldAt(row, f.index)
		if f.set(field, value) {
			continue
		}
		if err := f.scan(field, value); err != nil {
			return fmt.Errorf("column %s: %w", r.columns[i], err)
		}
	}
	return nil
}

// sqliteSetter sets a field to a value without Bun, which takes several times as long. It reports
// whether it has set the field.
type sqliteSetter func(field reflect.Value, value driver.Value) bool

// newSQLiteSetter returns a setter that sets fields of a Go type to values of the SQLite type in
// which they are usually stored, and no others.
func newSQLiteSetter(field reflect.Type) sqliteSetter {
	switch kind := field.Kind(); {
	case field == reflect.TypeFor[time.Time]():
		return func(field reflect.Value, value driver.Value) bool {
			at, ok := parseSQLiteTime(value)
			if ok {
				*field.Addr().Interface().(*time.Time) = at
			}
			return ok
		}
	case field == reflect.TypeFor[*time.Time]():
		return func(field reflect.Value, value driver.Value) bool {
			at, ok := parseSQLiteTime(value)
			if ok {
				*field.Addr().Interface().(**time.Time) = &at
			}
			return ok
		}
	case reflect.PointerTo(field).Implements(reflect.TypeFor[sql.Scanner]()):
	case kind == reflect.String:
		return func(field reflect.Value, value driver.Value) bool {
			text, ok := value.(string)
			if ok {
				field.SetString(text)
			}
			return ok
		}
	case kind >= reflect.Int && kind <= reflect.Int64:
		return func(field reflect.Value, value driver.Value) bool {
			n, ok := value.(int64)
			if ok = ok && !field.OverflowInt(n); ok {
				field.SetInt(n)
			}
			return ok
		}
	}
	return func(reflect.Value, driver.Value) bool { return false }
}

// parseSQLiteTime parses a time in the format of [SQLiteTime]. It reports whether value is one.
func parseSQLiteTime(value driver.Value) (time.Time, bool) {
	text, ok := value.(string)
	const seconds, zone = len("2006-01-02 15:04:05"), "+00:00"
	if !ok || len(text) < seconds+len(zone) || text[len(text)-len(zone):] != zone {
		return time.Time{}, false
	}
	const format = "0000-00-00 00:00:00.000000"
	digits := text[:len(text)-len(zone)]
	if len(digits) > len(format) || len(digits) == seconds+1 {
		return time.Time{}, false
	}
	var numbers [7]int // year, month, day, hour, minute, second, microseconds
	part := 0
	for i := range len(digits) {
		if format[i] != '0' {
			if digits[i] != format[i] {
				return time.Time{}, false
			}
			part++
			continue
		}
		digit := digits[i] - '0'
		if digit > 9 {
			return time.Time{}, false
		}
		numbers[part] = 10*numbers[part] + int(digit)
	}
	for i := len(digits); part == 6 && i < len(format); i++ {
		numbers[6] *= 10
	}
	year, month, day := numbers[0], time.Month(numbers[1]), numbers[2]
	at := time.Date(year, month, day, numbers[3], numbers[4], numbers[5], 1000*numbers[6], time.UTC)
	// Date accepts the 31st of June, which is the 1st of July.
	return at, at.Month() == month && at.Day() == day && at.Hour() == numbers[3] && at.Minute() == numbers[4] && at.Second() == numbers[5]
}
