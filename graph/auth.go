package graph

import (
	"context"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/meshyard/meshyard/internal/apierror"
	"github.com/meshyard/meshyard/internal/auth"
)

// continueExtension is the request extension by which a client asks for the remaining mutations of
// a request to run after one has failed.
const continueExtension = "continueOnError"

// errSkipped is the error of a mutation that did not run.
var errSkipped = &apierror.Error{
	Code:    apierror.Conflict,
	Message: "not executed, because an earlier mutation of the request failed",
}

// authorize implements @auth. Without a token, queries may read what is public if the operator
// permits it. Mutations after one that failed are skipped unless the client asks otherwise, because
// they usually depend on it.
func (r *Resolver) authorize(ctx context.Context, _ any, next graphql.Resolver, scope auth.Scope) (any, error) {
	if scope == auth.Read && r.readsAnonymously(ctx) {
		return next(ctx)
	}
	if err := auth.Authorize(ctx, scope); err != nil {
		return nil, err
	}
	if fc := graphql.GetFieldContext(ctx); fc.Object == "Mutation" {
		if proceed, _ := graphql.GetOperationContext(ctx).Extensions[continueExtension].(bool); !proceed && len(graphql.GetErrors(ctx)) > 0 {
			return nil, errSkipped
		}
		if err := checkPayload(ctx, fc); err != nil {
			return nil, err
		}
	}
	return next(ctx)
}

// checkPayload returns an error if a mutation by a token without the scope read selects lists of
// the catalogue in its payload.
func checkPayload(ctx context.Context, fc *graphql.FieldContext) error {
	if caller(ctx).Scopes.Has(auth.Read) {
		return nil
	}
	if list := firstList(fc.Field.SelectionSet); list != "" {
		return apierror.New(apierror.Forbidden, "the access token lacks the scope read, which %s needs", list)
	}
	return nil
}

// readsAnonymously reports whether the operation is a query without a token on a server that
// permits anonymous reading. A token that is invalid is an error and not ignored.
func (r *Resolver) readsAnonymously(ctx context.Context) bool {
	permitted := r.AnonymousRead || ctx.Value(anonymousKey{}) != nil
	if !permitted || graphql.GetOperationContext(ctx).Operation.Operation != ast.Query {
		return false
	}
	c, err := auth.From(ctx)
	return err == nil && !c.Known()
}

type anonymousKey struct{}

// PermitAnonymous returns a context in which a query without a token reads what is public, even if
// the operator does not permit that in general. It is for operations that must work without a
// token.
func PermitAnonymous(ctx context.Context) context.Context {
	return context.WithValue(ctx, anonymousKey{}, true)
}

// firstList returns the first field, as Type.field, that leads from the objects of a payload to a
// list of the catalogue, "" if there is none.
func firstList(selected ast.SelectionSet) string {
	for _, selection := range selected {
		list := ""
		switch s := selection.(type) {
		case *ast.Field:
			named := s.Definition.Type.Name()
			// which writers of a thing name themselves
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

// caller returns the caller of the request, which is nobody where @auth does not require one.
func caller(ctx context.Context) auth.Caller {
	c, _ := auth.From(ctx)
	return c
}
