package graph

import (
	"context"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/meshyard/meshyard/internal/apierror"
	"github.com/meshyard/meshyard/internal/auth"
)

// continueExtension is the request extension that makes the server run the remaining mutations of a
// request after one has failed.
const continueExtension = "continueOnError"

// errSkipped is the error of a mutation that did not run.
var errSkipped = &apierror.Error{
	Code:    apierror.Conflict,
	Message: "not executed, because an earlier mutation of the request failed",
}

// authorize implements @auth. Without a token, queries can read public data if the operator permits
// it. After a failed mutation, the following mutations of the request are skipped with Conflict
// unless the client set continueOnError, because they usually depend on the failed one.
func (r *Resolver) authorize(ctx context.Context, _ any, next graphql.Resolver, scope auth.Scope) (any, error) {
	if scope == auth.Read && r.readsAnonymously(ctx) {
		return next(ctx)
	}
	if err := auth.Authorize(ctx, scope); err != nil {
		return nil, err
	}
	if fc := graphql.GetFieldContext(ctx); fc.Object == "Mutation" {
		if proceed, _ := graphql.GetOperationContext(ctx).Extensions[continueExtension].(bool); !proceed &&
			len(graphql.GetErrors(ctx)) > 0 {
			return nil, errSkipped
		}
		if err := checkPayload(ctx, fc); err != nil {
			return nil, err
		}
	}
	return next(ctx)
}

// checkPayload returns Forbidden if a mutation's token lacks the scope read and the payload selects
// a connection or another list of the catalogue.
func checkPayload(ctx context.Context, fc *graphql.FieldContext) error {
	if caller(ctx).Scopes.Has(auth.Read) {
		return nil
	}
	if list := firstList(fc.Field.SelectionSet); list != "" {
		return apierror.New(apierror.Forbidden, "the access token lacks the scope read, which %s needs", list)
	}
	return nil
}

// readsAnonymously reports whether the operation is a query without a token and anonymous reads are
// permitted. An invalid token is an error; it is not ignored.
func (r *Resolver) readsAnonymously(ctx context.Context) bool {
	if !r.AnonymousRead || graphql.GetOperationContext(ctx).Operation.Operation != ast.Query {
		return false
	}
	c, err := auth.From(ctx)
	return err == nil && !c.Known()
}

// firstList returns the first field in the selection, as Type.field, that returns a list of the
// catalogue, or "" if there is none.
func firstList(selected ast.SelectionSet) string {
	for _, selection := range selected {
		list := ""
		switch s := selection.(type) {
		case *ast.Field:
			named := s.Definition.Type.Name()
			// Ancestors are allowed: the creator of a thing sets them.
			isList := strings.HasSuffix(named, "Connection") && s.Name != "ancestors"
			if isList || s.Definition.Type.Elem != nil && named == s.ObjectDefinition.Name {
				return s.ObjectDefinition.Name + "." + s.Name
			}
			list = firstList(s.SelectionSet)
		case *ast.InlineFragment:
			list = firstList(s.SelectionSet)
		case *ast.FragmentSpread:
			list = firstList(s.Definition.SelectionSet)
		}
		if list != "" {
			return list
		}
	}
	return ""
}

// caller returns the caller of the request. It is the zero Caller if the request has no token.
func caller(ctx context.Context) auth.Caller {
	c, _ := auth.From(ctx)
	return c
}
