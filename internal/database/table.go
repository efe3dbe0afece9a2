package database

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"

	"github.com/meshyard/meshyard/internal/fieldset"
)

// Table reads rows of the struct T, with the fields that a caller asks for. T is a Bun model; a
// field with a column is read from it. A field with the tag scanonly is Computed.
//
// The tag reads of a field names other fields that are always read with it: `reads:"Changes"`.
type Table[T any] struct {
	// ID returns the ID of a row, and the place for the position of the row in a list.
	ID       func(*T) (id int64, listed *Listed)
	computed []Computed
	all      fieldset.Set[T]
	ofCaller fieldset.Set[T]
	ofSingle fieldset.Set[T]
	id       fieldset.Set[T]
}

// Computed is a field, or several, that no column of the table stores.
type Computed struct {
	Fields []string // the names in the struct
	// OfCaller is set if the fields depend on the caller. They are not read for callers without an
	// account, for whom they have their zero value.
	OfCaller bool
	// Single is set for fields that are read only with a single row: for several rows, one statement
	// that reads them for all rows costs less. The fields are pointers, which are nil if not read.
	Single bool
	// Add adds the columns of the fields, with the names that Bun gives them, to a query of the table.
	// The ID of the caller is r.Caller.
	Add func(q *bun.SelectQuery, r Row) *bun.SelectQuery
}

// Row is what Computed.Add needs to know.
type Row struct {
	*Builder
	Caller schema.QueryAppender
	fields []string
}

// Has reports whether a field is read.
func (r Row) Has(field string) bool { return slices.Contains(r.fields, field) }

// tablesByType has the tables of all types, so that a Key finds the table of its type.
var tablesByType sync.Map // reflect.Type: *Table[T]

// NewTable returns the table of T. It must be called once, from the declaration of a package
// variable. It panics if a field of computed does not exist.
func NewTable[T any](id func(*T) (int64, *Listed), computed ...Computed) *Table[T] {
	t := &Table[T]{ID: id, computed: computed, id: fieldset.Of[T]("ID")}
	of := reflect.TypeFor[T]()
	for _, name := range fieldset.Fields(of) {
		if f, _ := of.FieldByName(name); !isComputed(f) && !isRelation(f) {
			t.all = t.all.With(fieldset.Of[T](name))
		}
	}
	for _, c := range computed {
		t.all = t.all.With(fieldset.Of[T](c.Fields...))
		if c.OfCaller {
			t.ofCaller = t.ofCaller.With(fieldset.Of[T](c.Fields...))
		}
		if c.Single {
			t.ofSingle = t.ofSingle.With(fieldset.Of[T](c.Fields...))
		}
	}
	tablesByType.Store(of, t)
	return t
}

// All returns the fields that can be read.
func (t *Table[T]) All() fieldset.Set[T] { return t.all }

// TableOf returns the table of T. It panics if there is none.
func TableOf[T any]() *Table[T] {
	t, ok := tablesByType.Load(reflect.TypeFor[T]())
	if !ok {
		panic(fmt.Sprintf("database: %s has no table", reflect.TypeFor[T]()))
	}
	return t.(*Table[T])
}

func isComputed(f reflect.StructField) bool {
	options := strings.Split(f.Tag.Get("bun"), ",")
	return slices.Contains(options[1:], "scanonly")
}

func isRelation(f reflect.StructField) bool { return f.Tag.Get("bun") == "-" }

// expand returns a set with the fields that are always read with those in it.
func expand[T any](set fieldset.Set[T]) fieldset.Set[T] {
	of := reflect.TypeFor[T]()
	for {
		all := set
		for _, name := range set.Fields() {
			f, _ := of.FieldByName(name)
			if with := f.Tag.Get("reads"); with != "" {
				all = all.With(fieldset.Of[T](strings.Split(with, ",")...))
			}
		}
		if all == set {
			return set
		}
		set = all
	}
}

// AddColumns adds the columns of the fields of T to a query of its table with an alias. It is not
// for computed fields. prefix is the prefix of the names of the columns, such as "creator__" for
// the fields of a nested struct.
func AddColumns[T any](q *bun.SelectQuery, b *Builder, set fieldset.Set[T], alias, prefix string) *bun.SelectQuery {
	of := reflect.TypeFor[T]()
	table := b.gen.Table(of)
	var columns []byte
	for _, name := range set.Fields() {
		goField, _ := of.FieldByName(name)
		if isComputed(goField) || isRelation(goField) {
			continue
		}
		i := slices.IndexFunc(table.Fields, func(f *schema.Field) bool { return f.GoName == name })
		if i < 0 {
			panic(fmt.Sprintf("database: %s.%s has no column", of, name))
		}
		field := table.Fields[i]
		if columns != nil {
			columns = append(columns, ", "...)
		}
		columns = append(append(append(columns, alias...), '.'), field.SQLName...)
		if prefix != "" {
			columns = append(append(append(columns, " AS "...), prefix...), field.Name...)
		}
	}
	if columns == nil {
		return q
	}
	return q.ColumnExpr(string(columns))
}

// add adds the columns of fields to a query of the table. Fields that depend on the caller are
// added if signedIn is set; argument number CallerArg is then the ID of the caller.
func (t *Table[T]) add(q *bun.SelectQuery, b *Builder, set fieldset.Set[T], signedIn bool,
	CallerArg int) *bun.SelectQuery {
	set = expand(set.With(t.id))
	q = AddColumns(q, b, set, string(b.gen.Table(reflect.TypeFor[T]()).SQLAlias), "")
	for _, c := range t.computed {
		if !set.HasAny(fieldset.Of[T](c.Fields...)) || c.OfCaller && !signedIn {
			continue
		}
		row := Row{Builder: b, fields: set.Fields()}
		if c.OfCaller {
			row.Caller = b.Arg(CallerArg)
		}
		q = c.Add(q, row)
	}
	return q
}

// signedIn reports whether the text of a statement that reads fields depends on whether the caller
// has an account.
func (t *Table[T]) signedIn(userID int64, fields fieldset.Set[T]) bool {
	return userID != 0 && fields.HasAny(t.ofCaller)
}

// idColumn returns the column with the IDs of the table, such as t.id.
func (t *Table[T]) idColumn(b *Builder) bun.Safe {
	return bun.Safe(string(b.gen.Table(reflect.TypeFor[T]()).SQLAlias) + ".id")
}

// byIDs is the Key of a statement that reads rows by their IDs, which are argument 0. Argument 1 is
// the caller.
type byIDs[T any] struct {
	fields   fieldset.Set[T]
	signedIn bool
}

// Text implements Key.
func (k byIDs[T]) Text(b *Builder) (string, error) {
	t := TableOf[T]()
	q := t.add(b.Select().Model((*T)(nil)), b, k.fields, k.signedIn, 1)
	return b.Text(q.Where("? ?", t.idColumn(b), b.InList(0)))
}

// ByIDs returns the rows with the given IDs, by ID. Rows that do not exist are missing. userID is
// the ID of the caller, or 0.
func (t *Table[T]) ByIDs(ctx context.Context, db *DB, userID int64, fields fieldset.Set[T],
	ids []int64) (map[int64]*T, error) {
	found := make(map[int64]*T, len(ids))
	if len(ids) == 0 {
		return found, nil
	}
	var rows []*T
	if len(ids) > 1 {
		fields = fields.Without(t.ofSingle)
	}
	err := Read(ctx, db, byIDs[T]{fields, t.signedIn(userID, fields)}, &rows, ids, userID)
	for _, row := range rows {
		id, _ := t.ID(row)
		found[id] = row
	}
	return found, err
}

// AddFields adds the columns of fields to a query of the table of T, for statements with a Key of
// their own. Argument number CallerArg of the statement is the ID of the caller if signedIn is set.
func AddFields[T any](q *bun.SelectQuery, b *Builder, fields fieldset.Set[T], signedIn bool,
	CallerArg int) *bun.SelectQuery {
	return TableOf[T]().add(q, b, fields, signedIn, CallerArg)
}
