package database

import (
	"database/sql"
	"reflect"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
	"github.com/uptrace/bun/schema"
)

// target takes the values of a column from pgx, which recognizes it by its scan method. One target
// serves all rows. NULL changes nothing: rows are zero before they are read.
type target interface {
	// point makes a field of a row the target of the next value. An empty index is the row itself.
	point(row reflect.Value, index []int)
}

// targetOf returns a target for the values of a type of PostgreSQL, whose fields have a type of Go.
func targetOf(field reflect.Type, oid uint32) target {
	switch {
	case reflect.PointerTo(field).Implements(reflect.TypeFor[sql.Scanner]()):
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

// place is a field of a row.
type place struct {
	row   reflect.Value
	index []int
}

func (p *place) point(row reflect.Value, index []int) { p.row, p.index = row, index }

// value returns the field. It makes the structs on the way to it, such as that of a joined object.
func (p *place) value() reflect.Value {
	v := p.row
	for _, i := range p.index {
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				v.Set(reflect.New(v.Type().Elem()))
			}
			v = v.Elem()
		}
		v = v.Field(i)
	}
	return v
}

type textTarget struct{ place }

func (t *textTarget) ScanText(v pgtype.Text) error {
	if v.Valid {
		t.value().SetString(v.String)
	}
	return nil
}

type intTarget struct{ place }

func (t *intTarget) ScanInt64(v pgtype.Int8) error {
	if v.Valid {
		t.value().SetInt(v.Int64)
	}
	return nil
}

type boolTarget struct{ place }

func (t *boolTarget) ScanBool(v pgtype.Bool) error {
	if v.Valid {
		t.value().SetBool(v.Bool)
	}
	return nil
}

type floatTarget struct{ place }

func (t *floatTarget) ScanFloat64(v pgtype.Float8) error {
	if v.Valid {
		t.value().SetFloat(v.Float64)
	}
	return nil
}

type timeTarget struct{ place }

func (t *timeTarget) ScanTimestamptz(v pgtype.Timestamptz) error {
	if v.Valid {
		*t.value().Addr().Interface().(*time.Time) = v.Time
	}
	return nil
}

type optionalTimeTarget struct{ place }

func (t *optionalTimeTarget) ScanTimestamptz(v pgtype.Timestamptz) error {
	if v.Valid {
		*t.value().Addr().Interface().(**time.Time) = &v.Time
	}
	return nil
}

// otherTarget lets Bun convert the values.
type otherTarget struct {
	place
	scan schema.ScannerFunc
}

func (t *otherTarget) Scan(src any) error {
	if src == nil {
		return nil
	}
	return t.scan(t.value(), src)
}
