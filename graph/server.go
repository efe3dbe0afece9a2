package graph

import (
	"bytes"
	"context"
	"net/http"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/99designs/gqlgen/graphql/handler"
	"github.com/99designs/gqlgen/graphql/handler/extension"
	"github.com/99designs/gqlgen/graphql/handler/lru"
	"github.com/99designs/gqlgen/graphql/handler/transport"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/formatter"
)

// The limits of one GraphQL request.
const (
	maxBody       = 1 << 20 // bytes, but for the file of a multipart request
	maxTokens     = 2_000   // of a document: validation is quadratic in what it lets in
	maxComplexity = 20_000  // fields that an answer may hold, lists at their full length
	maxDocuments  = 1_000   // kept parsed and validated
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
	config.Complexity.User.Downloads = func(child int, first int32, _ *string) int { return many(child, first) }
	config.Complexity.User.DownloadedThings = func(child int, first int32, _ *string, _ *int32) int { return many(child, first) }
	return &Graph{resolver: r, schema: NewExecutableSchema(config)}
}

// many is the cost of a list. Its arguments are not checked yet when it is asked.
func many(child int, first int32) int { return child * min(max(int(first), 1), maxFirst) }

// Schema is the schema as it is parsed.
func (g *Graph) Schema() *ast.Schema { return g.schema.Schema() }

// SDL is the schema as text, as clients may read it.
func (g *Graph) SDL() string { return SDL(g.schema.Schema()) }

// SDL writes a schema as text. What only the code generator needs is left out.
func SDL(schema *ast.Schema) string {
	shown := *schema
	shown.Directives = make(map[string]*ast.DirectiveDefinition, len(schema.Directives))
	for name, d := range schema.Directives {
		if name != "goField" {
			shown.Directives[name] = d
		}
	}
	var b bytes.Buffer
	formatter.NewFormatter(&b, formatter.WithIndent("  ")).FormatSchema(&shown)
	return b.String()
}

// Executor runs operations in process, past HTTP. documents holds the one document that they come from.
func (g *Graph) Executor(documents graphql.Cache[*ast.QueryDocument]) *executor.Executor {
	e := executor.New(g.schema)
	e.SetErrorPresenter(PresentError)
	e.SetRecoverFunc(Recover)
	e.SetQueryCache(documents)
	e.Use(withLoaders{g.resolver.Store})
	return e
}

// Handler answers GraphQL over HTTP. Hardened, it takes no GET, tells nothing of the schema and suggests no names.
func (g *Graph) Handler(hardened bool) http.Handler {
	srv := handler.New(g.schema)
	srv.SetErrorPresenter(PresentError)
	srv.SetRecoverFunc(Recover)
	srv.SetQueryCache(lru.New[*ast.QueryDocument](maxDocuments))
	srv.SetParserTokenLimit(maxTokens)
	srv.SetDisableSuggestion(hardened)
	srv.AddTransport(transport.Options{AllowedMethods: []string{http.MethodOptions, http.MethodGet, http.MethodPost}})
	if !hardened {
		srv.AddTransport(transport.GET{})
		srv.Use(extension.Introspection{})
	}
	srv.AddTransport(multipartForm{})
	srv.AddTransport(transport.POST{})
	srv.Use(extension.FixedComplexityLimit(maxComplexity))
	srv.Use(withLoaders{g.resolver.Store})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !(multipartForm{}).Supports(r) {
			r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		}
		w.Header().Set("Cache-Control", "no-store")
		srv.ServeHTTP(w, r)
	})
}

// OneDocument is a document cache that holds one document under the empty text, and nothing else.
type OneDocument struct{ Document *ast.QueryDocument }

// Get gives the document.
func (d OneDocument) Get(_ context.Context, query string) (*ast.QueryDocument, bool) {
	return d.Document, query == ""
}

// Add keeps nothing.
func (OneDocument) Add(context.Context, string, *ast.QueryDocument) {}
