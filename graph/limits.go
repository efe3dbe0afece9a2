package graph

import (
	"context"
	"strconv"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"

	"github.com/meshyard/meshyard/models"
)

// The limits of one GraphQL document. Validation and the count of costs take a time that grows with the square of what is
// written, or with the power of what fragments unfold to; so both are bounded before either begins.
const (
	maxTokens     = 2_000
	maxFields     = 500 // with every fragment unfolded wherever it is spread
	maxDepth      = 24
	maxDirectives = 50
	maxErrors     = 20 // in one answer
)

// documentLimits refuses documents that are over the limits, in one pass that is linear in what is written.
type documentLimits struct {
	known graphql.Cache[*ast.QueryDocument] // those that were parsed and validated before
}

func (documentLimits) ExtensionName() string                   { return "DocumentLimits" }
func (documentLimits) Validate(graphql.ExecutableSchema) error { return nil }

// MutateOperationParameters looks at the document before it is validated. One that cannot be parsed is left to be told so.
func (l documentLimits) MutateOperationParameters(ctx context.Context, request *graphql.RawParams) *gqlerror.Error {
	if _, ok := l.known.Get(ctx, request.Query); ok {
		return nil
	}
	document, err := parser.ParseQueryWithTokenLimit(&ast.Source{Input: request.Query}, maxTokens)
	if err != nil {
		return nil
	}
	m := &measure{fragments: make(map[string]*ast.FragmentDefinition), unfolded: make(map[string]extent)}
	for _, f := range document.Fragments {
		m.fragments[f.Name] = f
	}
	var all extent
	for _, op := range document.Operations {
		all = all.beside(m.set(op.SelectionSet))
		all.directives += len(op.Directives)
	}
	for _, f := range document.Fragments {
		all = all.beside(m.fragment(f.Name)) // one that is nowhere spread is validated too
	}
	switch {
	case all.fields > maxFields:
		return overLimit("fields, with every fragment unfolded", maxFields)
	case all.depth > maxDepth:
		return overLimit("levels", maxDepth)
	case all.directives > maxDirectives:
		return overLimit("directives", maxDirectives)
	}
	return nil
}

// InterceptResponse cuts errors that repeat themselves.
func (documentLimits) InterceptResponse(ctx context.Context, next graphql.ResponseHandler) *graphql.Response {
	response := next(ctx)
	if response != nil && len(response.Errors) > maxErrors {
		response.Errors = response.Errors[:maxErrors]
	}
	return response
}

func overLimit(what string, limit int64) *gqlerror.Error {
	return gqlerror.Wrap(&models.Error{Code: models.BadInput, Field: "query", Limit: limit, Message: "query: too large: at most " + strconv.FormatInt(limit, 10) + " " + what + " are taken"})
}

// extent is how far a piece of a document reaches.
type extent struct{ fields, depth, directives int }

// beside adds what stands beside it. Counts stop far above the limits, so that they cannot overflow.
func (e extent) beside(o extent) extent {
	return extent{min(e.fields+o.fields, 1<<30), max(e.depth, o.depth), min(e.directives+o.directives, 1<<30)}
}

// measure finds extents; that of a fragment is found once.
type measure struct {
	fragments map[string]*ast.FragmentDefinition
	unfolded  map[string]extent
}

func (m *measure) set(set ast.SelectionSet) (all extent) {
	for _, selection := range set {
		var in extent
		switch s := selection.(type) {
		case *ast.Field:
			in = m.set(s.SelectionSet)
			in.fields, in.depth, in.directives = in.fields+1, in.depth+1, in.directives+len(s.Directives)
		case *ast.InlineFragment:
			in = m.set(s.SelectionSet)
			in.directives += len(s.Directives)
			in.fields++ // it is work, too
		case *ast.FragmentSpread:
			in = m.fragment(s.Name)
			in.directives += len(s.Directives)
			in.fields++
		}
		all = all.beside(in)
	}
	return all
}

func (m *measure) fragment(name string) extent {
	if e, ok := m.unfolded[name]; ok {
		return e
	}
	f := m.fragments[name]
	if f == nil {
		return extent{}
	}
	m.unfolded[name] = extent{} // a circle ends here, and is refused by validation
	e := m.set(f.SelectionSet)
	e.directives += len(f.Directives)
	m.unfolded[name] = e
	return e
}
