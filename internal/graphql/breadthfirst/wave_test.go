package breadthfirst_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/meshyard/meshyard/internal/graphql/breadthfirst"
)

// TestFieldsThatWait tests that the fields of a level that may wait are resolved concurrently.
func TestFieldsThatWait(t *testing.T) {
	const fields = 4
	var met sync.WaitGroup
	met.Add(fields)
	meets := func(context.Context) error {
		met.Done()
		all := make(chan struct{})
		go func() { met.Wait(); close(all) }()
		select {
		case <-all:
			return nil
		case <-time.After(30 * time.Second):
			return errors.New("the other fields were not begun")
		}
	}
	data, failures := run(t, schemaOf("meets", meets), "{ a: meets b: meets c: meets d: meets }", nil)
	if want := `{"a":1,"b":1,"c":1,"d":1}`; data != want || len(failures) > 0 {
		t.Errorf("%s, %q; want %s", data, failures, want)
	}
}

// schemaOf returns a schema with a single field.
func schemaOf(name string, resolve func(context.Context) error) graphql.ExecutableSchema {
	sdl := gqlparser.MustLoadSchema(&ast.Source{Input: "type Query { " + name + ": Int! }"})
	query := &kind{Name: "Query", Implements: []string{"Query"}, Fields: map[string]*field{
		name: {Waits: true, Append: appendInt, Resolve: func(ctx context.Context, _ *execution, _ *graphql.FieldContext,
			_ any) (any, error) {
			return 1, resolve(ctx)
		}},
	}}
	return breadthfirst.New(sdl, breadthfirst.Schema[*execution]{Types: map[string]*kind{"Query": query}},
		func(*graphql.OperationContext) *execution { return nil }, breadthfirst.Limit{})
}
