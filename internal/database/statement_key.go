package database

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"
)

// Key identifies a prepared statement. The text of the statement is a function of the key: Text is
// a method of a comparable type, so it can use nothing but the fields of the key. What does not
// change the text, such as IDs and the caller, is an argument of the statement.
//
// Fields of a key are numbers, texts, bools, and structs and arrays of them, or interfaces that
// hold such values. A field that is a pointer or a function would let the text depend on something
// else.
type Key interface {
	// Text returns the text of the statement. It refers to arguments by b.
	Text(b *Builder) (string, error)
}

// Builder builds the text of a statement for the engine of its dialect.
type Builder struct {
	Dialect Dialect
	gen     *bun.DB
	// values are the arguments if they are written into the text; nil if the text has placeholders.
	values []any
	order  []int // the argument of each placeholder
}

// Select returns a new query.
func (b *Builder) Select() *bun.SelectQuery { return b.gen.NewSelect() }

// Arg returns the operand for argument number i of the statement, counted from 0: a placeholder, or
// the value in a text that is used once.
func (b *Builder) Arg(i int) schema.QueryAppender { return operand{b, i} }

// operand is an argument in a query. It gets its placeholder when the text is written, so that an
// operand that a query does not use has none.
type operand struct {
	b *Builder
	i int
}

// AppendQuery implements [schema.QueryAppender].
func (o operand) AppendQuery(gen schema.QueryGen, text []byte) ([]byte, error) {
	if o.b.values != nil {
		return bun.SafeQuery("?", o.b.values[o.i]).AppendQuery(gen, text)
	}
	return append(text, o.b.placeholder(o.i)...), nil
}

// placeholder returns the placeholder for argument number i. It is the same on both engines. To
// SQLite, $1 and $2 are names of parameters, numbered in the order in which they first occur in the
// text. Its driver, however, binds arguments by the number in the name.
func (b *Builder) placeholder(i int) string {
	n := slices.Index(b.order, i)
	if n < 0 {
		n = len(b.order)
		b.order = append(b.order, i)
	}
	return "$" + strconv.Itoa(n+1)
}

// InList returns the condition that a column is one of the IDs in argument number i.
func (b *Builder) InList(i int) schema.QueryAppender {
	if b.values != nil {
		return bun.SafeQuery("IN (?)", bun.List(b.values[i]))
	}
	return b.Dialect.inList(b.Arg(i))
}

// Text returns the text of a query.
func (b *Builder) Text(q *bun.SelectQuery) (string, error) {
	text, err := q.AppendQuery(b.gen.QueryGen(), nil)
	return string(text), err
}

// Raw returns the text of a statement in SQL with operands for its question marks.
func (b *Builder) Raw(text string, operands ...any) (string, error) {
	raw, err := b.gen.NewRaw(text, operands...).AppendQuery(b.gen.QueryGen(), nil)
	return string(raw), err
}

// preparedText is a statement whose text is kept. Each connection prepares it when it first runs
// it.
type preparedText struct {
	text  string
	order []int // the argument of each placeholder
}

// newTexts returns the cache for the texts of prepared statements, at most size of them. The least
// recently used ones are evicted. Thousands of different ones are possible, because they depend on
// the fields that operations select.
func newTexts(size int) *lru.Cache[any, *preparedText] {
	texts, _ := lru.New[any, *preparedText](size) // no error: the size is positive
	return texts
}

// CheckTexts makes each use of a kept statement build its text again and panic if it differs. Tests
// set it, so that every test finds a Key whose text depends on something else.
var CheckTexts bool

// Read runs the statement with a key, and reads its rows into dest, a pointer to a slice. The
// arguments that the text does not refer to are ignored.
//
// Both engines take longer to plan such statements than to run them, so each connection prepares
// them once. Bun cannot do that. A prepared statement must name its columns instead of selecting *:
// otherwise it would fail on a running server after a migration adds a column.
func Read[K interface {
	comparable
	Key
}](ctx context.Context, db *DB, key K, dest any, args ...any) error {
	s, ok := db.texts.Get(key)
	if !ok || CheckTexts {
		b := db.builder(nil)
		text, err := key.Text(b)
		if err != nil {
			return fmt.Errorf("build %T: %w", key, err)
		}
		if ok && text != s.text {
			panic(fmt.Sprintf("database: equal keys %+v have two texts:\n%s\n%s", key, s.text, text))
		}
		if !ok {
			s = &preparedText{text: text, order: b.order}
			db.texts.Add(key, s)
		}
	}
	bound := make([]any, len(s.order))
	for n, i := range s.order {
		bound[n] = db.argument(args[i])
	}
	return db.query(ctx, dest, s.text, s, bound)
}

// readOnce is Read for a text that is used once, with its arguments written into it.
func readOnce(ctx context.Context, db *DB, write func(b *Builder) (string, error), dest any, args ...any) error {
	text, err := write(db.builder(args))
	if err != nil {
		return err
	}
	return db.selectText(ctx, text, dest)
}

// builder returns a builder of texts with placeholders or, if values is not nil, with values.
func (db *DB) builder(values []any) *Builder {
	return &Builder{Dialect: db.Dialect, gen: db.Read, values: values}
}

// Literal returns a builder of queries without arguments, which are used once.
func (db *DB) Literal() *Builder { return db.builder([]any{}) }
