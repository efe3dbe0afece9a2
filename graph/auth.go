package graph

import (
	"context"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/meshyard/meshyard/internal/apierror"
	"github.com/meshyard/meshyard/internal/auth"
)

// requireScope implements @auth. A mutation by a token without the scope read also must not select lists
// of the catalogue in its payload.
func requireScope(ctx context.Context, _ any, next graphql.Resolver, scope auth.Scope) (any, error) {
	if err := auth.Authorize(ctx, scope); err != nil {
		return nil, err
	}
	if fc := graphql.GetFieldContext(ctx); fc.Object == "Mutation" && !caller(ctx).Scopes.Has(auth.Read) {
		if list := firstList(fc.Field.SelectionSet); list != "" {
			return nil, &apierror.Error{Code: apierror.Forbidden, Message: "the access token lacks the scope read, which " + list + " needs"}
		}
	}
	return next(ctx)
}

// firstList returns the first field, as Type.field, that leads from the objects of a payload to a list
// of the catalogue, "" if there is none.
func firstList(selected ast.SelectionSet) string {
	for _, selection := range selected {
		list := ""
		switch s := selection.(type) {
		case *ast.Field:
			named := s.Definition.Type.Name()
			isList := strings.HasSuffix(named, "Connection") && s.Name != "ancestors" // which writers of a thing name themselves
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
