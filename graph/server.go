package graph

import (
	"bytes"
	"context"
	"reflect"
	"slices"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/formatter"

	"github.com/meshyard/meshyard/models"
)

// Graph is the executable schema with what surrounds it.
type Graph struct {
	resolver *Resolver
	schema   graphql.ExecutableSchema
}

// New makes the schema executable on a resolver.
func New(r *Resolver) *Graph {
	config := Config{Resolvers: r}
	config.Directives.Auth = requireScope
	weighConnections(&config.Complexity)
	listing := func(child int, _, perPage int32, _ *string) int { return many(child, perPage) }
	config.Complexity.Query.Featured, config.Complexity.Query.Newest, config.Complexity.Query.Popular = listing, listing, listing
	config.Complexity.Query.DeprecatedCalls = func(child int, first int32) int { return many(child, first) }
	config.Complexity.Query.Categories = func(child int) int { return many(child, 10) }
	config.Complexity.Query.Applications = func(child int) int { return many(child, maxFirst) }
	config.Complexity.Category.Children = func(child int) int { return many(child, 10) }
	config.Complexity.Popularity.Days = func(child int) int { return many(child, maxFirst) }
	files := func(child int, first int32, _ []models.FileKind, _ []int64) int { return many(child, first) }
	config.Complexity.Thing.Files, config.Complexity.Make.Files, config.Complexity.Comment.Files = files, files, files
	config.Complexity.Thing.Tags = func(child int) int { return many(child, 10) }
	g := &Graph{resolver: r, schema: NewExecutableSchema(config)}
	forgetGenerator.Do(func() { withoutGenerator(g.schema.Schema()) })
	return g
}

// weighConnections makes each connection cost what it may hold. They are the fields whose first arguments are those of span.
func weighConnections(complexity any) {
	arguments := reflect.TypeFor[func(int, *int32, *string, *int32, *string, *int32) int]()
	for _, object := range reflect.ValueOf(complexity).Elem().Fields() {
		for _, field := range object.Fields() {
			t := field.Type()
			ours := t.Kind() == reflect.Func && t.NumIn() >= arguments.NumIn()
			for i := 0; ours && i < arguments.NumIn(); i++ {
				ours = t.In(i) == arguments.In(i)
			}
			if !ours {
				continue
			}
			field.Set(reflect.MakeFunc(t, func(in []reflect.Value) []reflect.Value {
				n := int32(defaultFirst)
				for _, given := range []any{in[1].Interface(), in[3].Interface()} {
					if p := given.(*int32); p != nil {
						n = *p
					}
				}
				return []reflect.Value{reflect.ValueOf(many(int(in[0].Int()), n))}
			}))
		}
	}
}

// forgetGenerator guards the one parsed schema that the generated code holds.
var forgetGenerator sync.Once

// withoutGenerator takes out of the schema what was written in it for the code generator alone.
func withoutGenerator(schema *ast.Schema) {
	const directive = "goField"
	delete(schema.Directives, directive)
	for _, definition := range schema.Types {
		for _, field := range definition.Fields {
			field.Directives = slices.DeleteFunc(field.Directives, func(d *ast.Directive) bool { return d.Name == directive })
		}
	}
}

// many is the cost of a list, as much as it may hold. Its arguments are not checked yet when it is asked, and it stays far from overflow.
func many(child int, first int32) int {
	return 1 + min(child, maxCost+1)*min(max(int(first), 1), models.MaxFiles)
}

// Schema is the schema as it is parsed.
func (g *Graph) Schema() *ast.Schema { return g.schema.Schema() }

// SDL is the schema as text, as clients may read it.
func (g *Graph) SDL() string {
	var b bytes.Buffer
	formatter.NewFormatter(&b, formatter.WithIndent("  ")).FormatSchema(g.schema.Schema())
	return b.String()
}

// Executor runs operations in process, past HTTP. documents holds the one document that they come from.
func (g *Graph) Executor(documents graphql.Cache[*ast.QueryDocument]) *executor.Executor {
	e := executor.New(g.schema)
	e.SetErrorPresenter(PresentError)
	e.SetRecoverFunc(Recover)
	e.SetQueryCache(documents)
	e.Use(withLoaders{newReaders(g.resolver.Store)})
	return e
}

// WithTimeout ends a query, as an error of its own, that runs longer than any may. A mutation may wait for its client's bytes.
func WithTimeout(ctx context.Context, op *graphql.OperationContext) (context.Context, context.CancelFunc) {
	if op.Operation.Operation != ast.Query {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, maxQueryTime, errTookLong)
}

// noteDeprecated remembers who asks for deprecated fields.
func (g *Graph) noteDeprecated(ctx context.Context, op *graphql.OperationContext) {
	for _, field := range graphql.CollectFields(op, op.Operation.SelectionSet, []string{"Query", "Mutation"}) {
		if field.Definition != nil && field.Definition.Directives.ForName("deprecated") != nil {
			g.resolver.Store.NoteDeprecated(caller(ctx), field.ObjectDefinition.Name+"."+field.Name, op.Headers.Get("User-Agent"))
		}
	}
}

// OneDocument is a document cache that holds one document under the empty text, and nothing else.
type OneDocument struct{ Document *ast.QueryDocument }

// Get gives the document.
func (d OneDocument) Get(_ context.Context, query string) (*ast.QueryDocument, bool) {
	return d.Document, query == ""
}

// Add keeps nothing.
func (OneDocument) Add(context.Context, string, *ast.QueryDocument) {}
