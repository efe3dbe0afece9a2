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
