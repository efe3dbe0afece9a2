package database

import (
	"reflect"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
	"github.com/uptrace/bun/schema"
)

// target takes the values of a column from pgx, which recognizes it by its scan method. One target
// serves all rows.
type target interface {
	// point makes a field the target of the next value.
	point(field reflect.Value)
}

// targetOf returns a target for the values of a type of PostgreSQL, whose fields have a type of Go.
func targetOf(field reflect.Type, oid uint32) target {
	switch {
	case reflect.PointerTo(field).Implements(reflect.TypeFor[interface{ Scan(any) error }]()):
	case oid == pgtype.TextOID || oid == pgtype.VarcharOID:
		if field.Kind() == reflect.String {
			return new(textTarget)
		}
	case oid == pgtype.Int8OID || oid == pgtype.Int4OID || oid == pgtype.Int2OID:
		if k := field.Kind(); k >= reflect.Int && k <= reflect.Int64 {
			return new(intTarget)
		}
	case oid == pgtype.BoolOID:
		if field.Kind() == reflect.Bool {
			return new(boolTarget)
		}
	case oid == pgtype.Float8OID:
		if field.Kind() == reflect.Float64 {
			return new(floatTarget)
		}
	case oid == pgtype.TimestamptzOID:
		switch field {
		case reflect.TypeFor[time.Time]():
			return new(timeTarget)
		case reflect.TypeFor[*time.Time]():
			return new(optionalTimeTarget)
		}
	}
	return &otherTarget{scan: schema.Scanner(field)}
}

type field struct{ reflect.Value }

func (f *field) point(v reflect.Value) { f.Value = v }

type textTarget struct{ field }

func (t *textTarget) ScanText(v pgtype.Text) error {
	t.SetString(v.String)
	return nil
}

type intTarget struct{ field }

func (t *intTarget) ScanInt64(v pgtype.Int8) error {
	t.SetInt(v.Int64)
	return nil
}

type boolTarget struct{ field }

func (t *boolTarget) ScanBool(v pgtype.Bool) error {
	t.SetBool(v.Bool)
	return nil
}

type floatTarget struct{ field }

func (t *floatTarget) ScanFloat64(v pgtype.Float8) error {
	t.SetFloat(v.Float64)
	return nil
}

type timeTarget struct{ to *time.Time }

func (t *timeTarget) point(field reflect.Value) { t.to = field.Addr().Interface().(*time.Time) }

func (t *timeTarget) ScanTimestamptz(v pgtype.Timestamptz) error {
	*t.to = v.Time
	return nil
}

// optionalTimeTarget leaves nil for NULL.
type optionalTimeTarget struct{ to **time.Time }

func (t *optionalTimeTarget) point(field reflect.Value) {
	t.to = field.Addr().Interface().(**time.Time)
}

func (t *optionalTimeTarget) ScanTimestamptz(v pgtype.Timestamptz) error {
	if v.Valid {
		*t.to = &v.Time
	}
	return nil
}

// otherTarget lets Bun convert the values.
type otherTarget struct {
	field
	scan schema.ScannerFunc
}

func (t *otherTarget) Scan(src any) error { return t.scan(t.Value, src) }
