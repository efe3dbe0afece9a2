package breadthfirst_test

import (
	"context"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"reflect"

	"github.com/meshyard/meshyard/internal/fieldset"
	"github.com/meshyard/meshyard/internal/graphql/breadthfirst"
)

// book is a row of a table.
type book struct{ ID, Title, AuthorID, Pages int }

// library contains books, but is no row.
type library struct{ books []*book }

// TestSelected checks which fields of rows a resolver is asked for: those selected on its values
// and on the rows that they contain, but not those that another resolver loads.
func TestSelected(t *testing.T) {
	sdl := gqlparser.MustLoadSchema(&ast.Source{Input: `
		type Query { library: Library! book: Book! }
		type Library { books: [Book!]! lent: [Book!]! }
		type Book { id: Int! title: Int! pages: Int! sequel: Book! shown: Library! }
	`})
	var asked map[string]string
	note := func(ctx context.Context, of string) {
		set, ok := breadthfirst.Selected[book](ctx)
		if !ok {
			t.Errorf("%s: nothing is known of the selection", of)
		}
		asked[of] = set.String()
	}
	column := func(name string, get func(*book) int) *field {
		return &field{Reads: fieldset.Of[book](name).Bits(),
			Scalar: func(b []byte, o any) ([]byte, bool) { return appendInt(b, get(o.(*book))), true }}
	}
	schema := breadthfirst.New(sdl, breadthfirst.Schema[*execution]{Types: map[string]*kind{
		"Query": {Name: "Query", Implements: []string{"Query"}, Fields: map[string]*field{
			"library": {Waits: true, Resolve: func(ctx context.Context, _ *execution, _ *graphql.FieldContext,
				_ any) (any, error) {
				note(ctx, "library")
				return &library{[]*book{{}}}, nil
			}},
			"book": {Waits: true, Resolve: func(ctx context.Context, _ *execution, _ *graphql.FieldContext, _ any) (any, error) {
				note(ctx, "book")
				return &book{}, nil
			}},
		}},
		"Library": {Name: "Library", Implements: []string{"Library"}, Fields: map[string]*field{
			"books": {Each: breadthfirst.EachPointer[book], Get: func(o any) any { return o.(*library).books }},
			"lent": {Each: breadthfirst.EachPointer[book], Waits: true, Batch: func(ctx context.Context, _ *execution,
				_ *graphql.FieldContext, objects []any) ([]any, error) {
				note(ctx, "lent")
				return make([]any, len(objects)), nil
			}},
		}},
		"Book": {Name: "Book", Implements: []string{"Book"}, Row: reflect.TypeFor[book](), Fields: map[string]*field{
			"id":    column("ID", func(b *book) int { return b.ID }),
			"title": column("Title", func(b *book) int { return b.Title }),
			"pages": column("Pages", func(b *book) int { return b.Pages }),
			"sequel": {Reads: fieldset.Of[book]("AuthorID").Bits(), Waits: true, Batch: func(ctx context.Context, _ *execution,
				_ *graphql.FieldContext, objects []any) ([]any, error) {
				note(ctx, "sequel")
				return breadthfirst.Values([]*book{{}, {}}[:len(objects)], nil)
			}},
			"shown": {Contains: true, Resolve: func(_ context.Context, _ *execution, _ *graphql.FieldContext,
				o any) (any, error) {
				return &library{[]*book{o.(*book)}}, nil
			}},
		}},
	}}, func(*graphql.OperationContext) *execution { return nil }, breadthfirst.Limit{})
	for text, want := range map[string]map[string]string{
		`{book{shown{books{title} lent{id}}}}`:              {"book": "Title", "lent": "ID"},
		`{book{title}}`:                                     {"book": "Title"},
		`{book{__typename}}`:                                {"book": ""},
		`{library{books{title ...{pages}}}}`:                {"library": "Title Pages"},
		`{book{sequel{pages}}}`:                             {"book": "AuthorID", "sequel": "Pages"},
		`{library{lent{title} books{id}}}`:                  {"library": "ID", "lent": "Title"},
		`{book{sequel{pages} library:sequel{pages title}}}`: {"book": "AuthorID", "sequel": "Title Pages"},
	} {
		asked = make(map[string]string)
		run(t, schema, text, nil)
		if !reflect.DeepEqual(asked, want) {
			t.Errorf("%s: asked for %q, want %q", text, asked, want)
		}
	}
}
