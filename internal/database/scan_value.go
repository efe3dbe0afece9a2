package database

import (
	"database/sql"
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
	"github.com/uptrace/bun/schema"
)

// valueReader reads a value of a column, as PostgreSQL sends it, into a field. It is not called for
// NULL. types are those of the connection.
type valueReader func(types *pgtype.Map, field reflect.Value, raw []byte) error

// newValueReader returns the reader of the values of a type of PostgreSQL in a format, for fields
// of a type of Go. The most frequent types are read without pgx, which takes several times as long.
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

// sized returns a reader of values of a size in bytes.
func sized(size int, read func(field reflect.Value, raw []byte)) valueReader {
	return func(_ *pgtype.Map, field reflect.Value, raw []byte) error {
		if len(raw) != size {
			return fmt.Errorf("value of %d bytes, want %d", len(raw), size)
		}
		read(field, raw)
		return nil
	}
}

// epoch is the time from which PostgreSQL counts microseconds.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()

// timeOf returns a time in the local zone, as pgx does. No column has the infinite times.
func timeOf(raw []byte) time.Time {
	return time.UnixMicro(epoch + int64(binary.BigEndian.Uint64(raw)))
}

// isText reports whether the values of a type of PostgreSQL are copied into a field as they are
// sent.
func isText(field reflect.Type, oid uint32) bool {
	return (oid == pgtype.TextOID || oid == pgtype.VarcharOID) && field.Kind() == reflect.String &&
		!reflect.PointerTo(field).Implements(reflect.TypeFor[sql.Scanner]())
}

// scanned is a field into which Bun converts values.
type scanned struct {
	field reflect.Value
	scan  schema.ScannerFunc
}

// Scan implements [sql.Scanner].
func (s *scanned) Scan(src any) error { return s.scan(s.field, src) }
