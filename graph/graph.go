package graph

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"net/http"
	"slices"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/formatter"

	"github.com/meshyard/meshyard/graph/exec"
	"github.com/meshyard/meshyard/internal/apierror"
	"github.com/meshyard/meshyard/internal/graphql/graphqlhttp"
)

// Graph is the executable GraphQL schema.
type Graph struct {
	resolver *Resolver
	schema   graphql.ExecutableSchema
}

// New returns the schema with its resolvers.
func New(r *Resolver) *Graph {
	return &Graph{resolver: r, schema: exec.NewBreadthFirst(r.config(), graphqlhttp.ResponseLimit)}
}

// config returns the configuration of the generated code.
func (r *Resolver) config() exec.Config {
	config := exec.Config{Schema: publicSchema().Schema, Resolvers: r}
	config.Directives.Auth = r.authorize
	config.Directives.Null = null
	return config
}

//go:embed *.graphqls
var schemaFiles embed.FS

// parsedSchema returns the schema that the code was generated from.
func parsedSchema() *ast.Schema {
	entries, err := schemaFiles.ReadDir(".")
	if err != nil {
		panic(err) // they are embedded
	}
	sources := make([]*ast.Source, len(entries))
	for i, entry := range entries {
		text, err := schemaFiles.ReadFile(entry.Name())
		if err != nil {
			panic(err)
		}
		sources[i] = &ast.Source{Name: entry.Name(), Input: string(text)}
	}
	return gqlparser.MustLoadSchema(sources...)
}

// public is the schema that clients see, and the costs that are declared in it.
type public struct {
	*ast.Schema
	costs map[string]declaredCost // by Type.field
}

// publicSchema returns the schema without the directives and the scalar that only the server and
// the code generator use.
var publicSchema = sync.OnceValue(func() public {
	isInternal := func(d *ast.Directive) bool { return slices.Contains(internalDirectives, d.Name) }
	schema := parsedSchema()
	costs := declaredCosts(schema)
	for _, name := range internalDirectives {
		delete(schema.Directives, name)
	}
	delete(schema.Types, nodeIDScalar)
	for _, definition := range schema.Types {
		for _, field := range definition.Fields {
			asID(field.Type)
			for _, argument := range field.Arguments {
				asID(argument.Type)
			}
			field.Directives = slices.DeleteFunc(field.Directives, isInternal)
		}
		for _, value := range definition.EnumValues {
			value.Directives = slices.DeleteFunc(value.Directives, isInternal)
		}
	}
	return public{schema, costs}
})

// internalDirectives are the directives that only the server and the code generator use.
var internalDirectives = []string{"goField", "goEnum", "reads", "cost", "listSize"}

// nodeIDScalar is the scalar that the code generator maps to strings. Clients see ID instead, which
// the code generator maps to integers.
const nodeIDScalar = "NodeID"

// asID replaces nodeIDScalar by ID in a type.
func asID(t *ast.Type) {
	if t.Elem != nil {
		asID(t.Elem)
	} else if t.NamedType == nodeIDScalar {
		t.NamedType = "ID"
	}
}

// renameField returns an error about a field of package models with the name of the input instead.
func renameField(err error, from, to string) error {
	var known *apierror.Error
	if !errors.As(err, &known) || known.Field != from {
		return err
	}
	renamed := *known
	renamed.Field = to
	return &renamed
}

// Schema returns the parsed schema. It must not be modified.
func (g *Graph) Schema() *ast.Schema { return g.schema.Schema() }

// SDL returns the schema in the GraphQL schema definition language.
func (g *Graph) SDL() string {
	var b bytes.Buffer
	formatter.NewFormatter(&b, formatter.WithIndent("  ")).FormatSchema(g.Schema())
	return b.String()
}

// Costs returns a calculator for the costs of operations.
func (g *Graph) Costs() (*graphqlhttp.CostCalculator, error) {
	return graphqlhttp.NewCostCalculator(g.Schema(), fieldCost)
}

// Executor returns an executor that runs operations in process, without HTTP. documents has the
// documents that it can run.
func (g *Graph) Executor(documents graphql.Cache[*ast.QueryDocument]) *executor.Executor {
	e := executor.New(g.schema)
	e.SetErrorPresenter(graphqlhttp.Presenter(g.Schema()))
	e.SetRecoverFunc(graphqlhttp.Recover)
	e.SetQueryCache(documents)
	e.Use(operationExtension{g.resolver.Store})
	return e
}

// Handler returns an HTTP handler for the schema. It sets the fields of o that depend on the
// schema.
func (g *Graph) Handler(o graphqlhttp.Options) (http.Handler, error) {
	o.Schema = g.schema
	o.Executor = g.Executor(nil)
	o.Cost = fieldCost
	if o.Authenticate == nil {
		o.Authenticate = g.resolver.Store.Account.Authenticate
	}
	o.OnDeprecated = func(ctx context.Context, field, userAgent string) {
		g.resolver.Store.Activity.NoteDeprecated(caller(ctx), field, userAgent)
	}
	return graphqlhttp.New(o)
}
