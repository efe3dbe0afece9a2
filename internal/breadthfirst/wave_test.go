package breadthfirst_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/meshyard/meshyard/internal/breadthfirst"
	"github.com/meshyard/meshyard/internal/waiting"
)

// TestFieldsThatWait tests that the resolvers of a level run at the same time if they wait, and one
// after the other if they do not.
func TestFieldsThatWait(t *testing.T) {
	const fields = 4
	document := "{ a: FIELD b: FIELD c: FIELD d: FIELD }"
	var met sync.WaitGroup
	met.Add(fields)
	meets := func(ctx context.Context) error {
		for range fields { // more often than there are fields to begin
			waiting.Begin(ctx)
		}
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
	var busy, most atomic.Int32
	works := func(context.Context) error {
		most.Store(max(most.Load(), busy.Add(1)))
		defer busy.Add(-1)
		for range 100 {
			runtime.Gosched()
		}
		return nil
	}
	for name, resolve := range map[string]func(context.Context) error{"meets": meets, "works": works} {
		schema := schemaOf(name, resolve)
		data, failures := run(t, schema, strings.ReplaceAll(document, "FIELD", name), nil)
		if want := `{"a":1,"b":1,"c":1,"d":1}`; data != want || len(failures) > 0 {
			t.Errorf("%s: %s, %q; want %s", name, data, failures, want)
		}
	}
	if most.Load() != 1 {
		t.Errorf("%d fields that do not wait were resolved at once", most.Load())
	}
}

// TestNoticeFromEarlierLevel tests that a goroutine that a resolver leaves behind can announce at
// any time that it waits.
func TestNoticeFromEarlierLevel(t *testing.T) {
	sdl := gqlparser.MustLoadSchema(&ast.Source{Input: "type Query { next: Query! }"})
	var left sync.WaitGroup
	var over atomic.Bool
	next := &field{Waits: true, Nil: breadthfirst.NilPointer[node], Resolve: func(ctx context.Context, _ *execution, _ *graphql.FieldContext, _ any) (any, error) {
		left.Go(func() {
			for !over.Load() {
				waiting.Begin(ctx)
			}
		})
		return new(node), nil
	}}
	query := &kind{Name: "Query", Implements: []string{"Query"}, Fields: map[string]*field{"next": next}}
	schema := breadthfirst.New(sdl, breadthfirst.Schema[*execution]{Types: map[string]*kind{"Query": query}},
		func(*graphql.OperationContext) *execution { return nil }, breadthfirst.Limit{}, nil)
	for range 1000 {
		over.Store(false)
		_, failures := run(t, schema, "{ next { next { next { next { __typename } } } } }", nil)
		over.Store(true)
		left.Wait()
		if len(failures) > 0 {
			t.Fatal(failures)
		}
	}
}

// schemaOf returns a schema with a single field.
func schemaOf(name string, resolve func(context.Context) error) graphql.ExecutableSchema {
	sdl := gqlparser.MustLoadSchema(&ast.Source{Input: "type Query { " + name + ": Int! }"})
	query := &kind{Name: "Query", Implements: []string{"Query"}, Fields: map[string]*field{
		name: {Waits: true, Append: appendInt, Resolve: func(ctx context.Context, _ *execution, _ *graphql.FieldContext, _ any) (any, error) {
			return 1, resolve(ctx)
		}},
	}}
	return breadthfirst.New(sdl, breadthfirst.Schema[*execution]{Types: map[string]*kind{"Query": query}},
		func(*graphql.OperationContext) *execution { return nil }, breadthfirst.Limit{}, nil)
}
