package models

import (
	"context"
	"reflect"
	"slices"

	"github.com/uptrace/bun"
)

// LongText names a column with a text of up to [maxText] characters. If the text is Markdown, then
// its HTML is in the column with the suffix _html.
type LongText struct{ table, column string }

// The long texts that lists leave out if an operation does not need them.
var (
	ThingDescription      = LongText{"things", "description"}
	ThingInstructions     = LongText{"things", "instructions"}
	ThingDetails          = LongText{"things", "details_parts"}
	MakeDescription       = LongText{"makes", "description"}
	CommentBody           = LongText{"comments", "body"}
	UserBio               = LongText{"users", "bio"}
	CollectionDescription = LongText{"collections", "description"}

	longTexts = []LongText{ThingDescription, ThingInstructions, ThingDetails, MakeDescription, CommentBody, UserBio, CollectionDescription}
)

// MarkdownTexts lists the texts whose HTML is stored.
var MarkdownTexts = []LongText{ThingDescription, ThingInstructions, MakeDescription, CollectionDescription, CommentBody, UserBio}

type longTextsKey struct{}

// longTextSet is a bit set of long texts. The position of a bit is the index in longTexts.
type longTextSet uint

// WithLongTexts returns a context in which lists and loads by ID read only the given long texts,
// and leave the others empty. In other contexts they read all long texts.
func WithLongTexts(ctx context.Context, needed []LongText) context.Context {
	var set longTextSet
	for _, text := range needed {
		set |= 1 << slices.Index(longTexts, text)
	}
	return context.WithValue(ctx, longTextsKey{}, set)
}

// neededTexts returns the long texts of a table that an operation needs.
func neededTexts(ctx context.Context, table string) longTextSet {
	needed, chosen := ctx.Value(longTextsKey{}).(longTextSet)
	var set longTextSet
	for i, text := range longTexts {
		if text.table == table && (!chosen || needed&(1<<i) != 0) {
			set |= 1 << i
		}
	}
	return set
}

// addColumns adds the columns of the model T to a query of its table, except for long texts that
// the operation does not need, and parts that are not among the extras.
func addColumns[T any](ctx context.Context, q *bun.SelectQuery, with extras) *bun.SelectQuery {
	return addColumnsAs[T](ctx, q, with, "")
}

// addColumnsAs is addColumns with a prefix for the names of the columns in the result.
func addColumnsAs[T any](ctx context.Context, q *bun.SelectQuery, with extras, prefix string) *bun.SelectQuery {
	table := q.DB().Table(reflect.TypeFor[T]())
	needed := neededTexts(ctx, table.Name)
	var columns []byte
	for _, field := range table.Fields {
		if i := slices.Index(longTexts, LongText{table.Name, field.Name}); i >= 0 && needed&(1<<i) == 0 {
			continue
		}
		if part := partOf[table.Name][field.Name]; part != 0 && !with.has(part) {
			continue
		}
		if columns != nil {
			columns = append(columns, ", "...)
		}
		columns = append(columns, table.SQLAlias+"."+field.SQLName...)
		if prefix != "" {
			columns = append(columns, " AS "+prefix+field.Name...)
		}
	}
	return q.ColumnExpr(string(columns))
}
