package database

import (
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/uptrace/bun/schema"
)

// queryPostgres runs a query on PostgreSQL and reads its rows into a slice.
func (db *DB) queryPostgres(ctx context.Context, slice reflect.Value, text string, statement *kept, args []any) error {
	options := []any{pgx.QueryExecModeCacheStatement}
	if statement == nil {
		options = []any{pgx.QueryExecModeExec, pgx.QueryResultFormats{pgx.BinaryFormatCode}}
	}
	return db.onConnection(ctx, func(driver any) error {
		rows, err := driver.(*stdlib.Conn).Conn().Query(ctx, text, append(options, args...)...)
		if err != nil {
			return err
		}
		defer rows.Close()
		if err := db.readPostgres(ctx, rows, slice, statement); err != nil {
			return err
		}
		return rows.Err()
	})
}

// readPostgres reads rows into a slice. It uses the reader of the statement if that fits the type
// of the rows and the columns. Otherwise it creates one.
func (db *DB) readPostgres(ctx context.Context, rows pgx.Rows, slice reflect.Value, statement *kept) error {
	described := rows.FieldDescriptions()
	if len(described) == 0 { // the statement failed
		rows.Close() // after this, rows.Err returns the error
		return nil
	}
	var r *postgresReader
	if statement != nil {
		r = statement.postgres.Load()
	}
	if element := elementOf(slice); r == nil || !r.reads(element, described) {
		var err error
		if r, err = db.newPostgresReader(element, described); err != nil {
			return err
		}
		if statement != nil {
			statement.postgres.Store(r)
		}
	}
	types := rows.Conn().TypeMap()
	var text []byte
	return appendRows(ctx, slice, func() (bool, error) { return rows.Next(), nil }, func(row reflect.Value) (err error) {
		text, err = r.read(types, row, rows.RawValues(), text[:0])
		return err
	})
}

// postgresReader reads the rows of a statement. It can be used by several goroutines.
type postgresReader struct {
	row       reflect.Type
	described []pgconn.FieldDescription
	columns   []postgresColumn
}

// postgresColumn is a column of a result.
type postgresColumn struct {
	name  string
	index []int       // see fieldOf
	read  valueReader // nil if the value is copied as text
}

func (db *DB) newPostgresReader(row reflect.Type, described []pgconn.FieldDescription) (*postgresReader, error) {
	r := &postgresReader{row: row, described: slices.Clone(described), columns: make([]postgresColumn, len(described))}
	for i, d := range described {
		index, field, err := db.fieldOf(row, d.Name, len(described))
		if err != nil {
			return nil, err
		}
		r.columns[i] = postgresColumn{name: d.Name, index: index}
		if !isText(field, d.DataTypeOID) {
			r.columns[i].read = newValueReader(field, d.DataTypeOID, d.Format)
		}
	}
	return r, nil
}

// reads reports whether r can read the described columns into rows of the given type. The columns
// of a statement can change when the table is altered.
func (r *postgresReader) reads(row reflect.Type, described []pgconn.FieldDescription) bool {
	return r.row == row && slices.EqualFunc(r.described, described, func(a, b pgconn.FieldDescription) bool {
		return a.Name == b.Name && a.DataTypeOID == b.DataTypeOID && a.Format == b.Format
	})
}

// read reads a row from the values that PostgreSQL sent. The row must be a zero value, because
// fields of columns with NULL are not set. All texts of the row are converted to one string, of
// which each field gets a substring, so they need one allocation. text is a buffer for that; read
// returns it for reuse with the next row.
func (r *postgresReader) read(types *pgtype.Map, row reflect.Value, values [][]byte, text []byte) ([]byte, error) {
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
			fieldAt(row, c.index).SetString(left[:len(raw)])
			left = left[len(raw):]
		default:
			if err := c.read(types, fieldAt(row, c.index), raw); err != nil {
				return text, fmt.Errorf("column %s: %w", c.name, err)
			}
		}
	}
	return text, nil
}

// valueReader decodes a value of a column, as PostgreSQL sent it, into a field. It is not called
// for NULL. types is the type map of the connection.
type valueReader func(types *pgtype.Map, field reflect.Value, raw []byte) error

// newValueReader returns the valueReader for fields of a Go type and values of a PostgreSQL type in
// a format. The most frequent types are decoded without pgx, which takes several times as long.
func newValueReader(field reflect.Type, oid uint32, format int16) valueReader {
	if !reflect.PointerTo(field).Implements(reflect.TypeFor[sql.Scanner]()) && format == pgtype.BinaryFormatCode {
		switch kind := field.Kind(); {
		case oid == pgtype.Int8OID && kind >= reflect.Int && kind <= reflect.Int64:
			return sized(8, func(field reflect.Value, raw []byte) { field.SetInt(int64(binary.BigEndian.Uint64(raw))) })
		case oid == pgtype.Int4OID && kind >= reflect.Int && kind <= reflect.Int64:
			return sized(4, func(field reflect.Value, raw []byte) { field.SetInt(int64(int32(binary.BigEndian.Uint32(raw)))) })
		case oid == pgtype.Int4OID && kind >= reflect.Uint && kind <= reflect.Uint64:
			return sized(4, func(field reflect.Value, raw []byte) { field.SetUint(uint64(binary.BigEndian.Uint32(raw))) })
		case oid == pgtype.BoolOID && kind == reflect.Bool:
			return sized(1, func(field reflect.Value, raw []byte) { field.SetBool(raw[0] == 1) })
		case oid == pgtype.Float8OID && kind == reflect.Float64:
			return sized(8, func(field reflect.Value, raw []byte) {
				field.SetFloat(math.Float64frombits(binary.BigEndian.Uint64(raw)))
			})
		case oid == pgtype.TimestamptzOID && field == reflect.TypeFor[time.Time]():
			return sized(8, func(field reflect.Value, raw []byte) { *field.Addr().Interface().(*time.Time) = timeOf(raw) })
		case oid == pgtype.TimestamptzOID && field == reflect.TypeFor[*time.Time]():
			return sized(8, func(field reflect.Value, raw []byte) {
				at := timeOf(raw)
				*field.Addr().Interface().(**time.Time) = &at
			})
		}
	}
	scan := schema.Scanner(field)
	return func(types *pgtype.Map, field reflect.Value, raw []byte) error {
		return types.Scan(oid, format, raw, &scanned{field, scan})
	}
}

// sized returns a valueReader for values with a fixed size in bytes. It returns an error for values
// of another size.
func sized(size int, read func(field reflect.Value, raw []byte)) valueReader {
	return func(_ *pgtype.Map, field reflect.Value, raw []byte) error {
		if len(raw) != size {
			return fmt.Errorf("value of %d bytes, want %d", len(raw), size)
		}
		read(field, raw)
		return nil
	}
}

// epoch is the time that PostgreSQL sends as 0, in microseconds since 1970.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()

// timeOf decodes a timestamptz. Like pgx, it returns a time in the local time zone. It does not
// handle infinity and -infinity, because no column contains them.
func timeOf(raw []byte) time.Time {
	return time.UnixMicro(epoch + int64(binary.BigEndian.Uint64(raw)))
}

// isText reports whether values of a PostgreSQL type can be copied into a field without decoding.
func isText(field reflect.Type, oid uint32) bool {
	return (oid == pgtype.TextOID || oid == pgtype.VarcharOID) && field.Kind() == reflect.String &&
		!reflect.PointerTo(field).Implements(reflect.TypeFor[sql.Scanner]())
}

// scanned is a field that is set by a scanner of Bun, which converts the value.
type scanned struct {
	field reflect.Value
	scan  schema.ScannerFunc
}

// Scan implements [sql.Scanner].
func (s *scanned) Scan(src any) error { return s.scan(s.field, src) }
