package graphqlhttp

import (
	"context"
	"iter"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/meshyard/meshyard/internal/graphql/breadthfirst"
)

// operationName returns the name of an operation or, if it has none, its root fields.
func operationName(op *graphql.OperationContext) string {
	if op.Operation.Name != "" {
		return op.Operation.Name
	}
	return strings.Join(rootFields(op), ",")
}

// rootFields returns the root fields that an operation selects. Only fields of the schema get past
// validation, so clients cannot invent any.
func rootFields(op *graphql.OperationContext) []string {
	var fields []string
	for _, field := range selectedRoots(op) {
		if field.ObjectDefinition != nil {
			fields = append(fields, field.ObjectDefinition.Name+"."+field.Name)
		}
	}
	return fields
}

// selectedRoots returns the root fields that an operation selects, without those that a directive
// excludes.
func selectedRoots(op *graphql.OperationContext) []*ast.Field {
	set := op.Operation.SelectionSet
	if len(set) == 1 { // as in most operations
		if field, ok := set[0].(*ast.Field); ok && len(field.Directives) == 0 {
			return []*ast.Field{field}
		}
	}
	var fields []*ast.Field
	for _, collected := range graphql.CollectFields(op, set, []string{"Query", "Mutation", "Subscription"}) {
		fields = append(fields, collected.Field)
	}
	return fields
}

// selections iterates over all selections of a selection set, at any depth, depth first. Those of a
// fragment that is spread several times occur once.
func selections(set ast.SelectionSet) iter.Seq[ast.Selection] {
	return func(yield func(ast.Selection) bool) { walk(set, make(map[string]bool), yield) }
}

// walk calls yield for all selections of a selection set, except those of the visited fragments,
// until it returns false.
func walk(set ast.SelectionSet, visited map[string]bool, yield func(ast.Selection) bool) bool {
	for _, selection := range set {
		if !yield(selection) {
			return false
		}
		var below ast.SelectionSet
		switch s := selection.(type) {
		case *ast.Field:
			below = s.SelectionSet
		case *ast.InlineFragment:
			below = s.SelectionSet
		case *ast.FragmentSpread:
			if visited[s.Name] || s.Definition == nil {
				continue
			}
			visited[s.Name] = true
			below = s.Definition.SelectionSet
		}
		if !walk(below, visited, yield) {
			return false
		}
	}
	return true
}

// checkConditions returns an error if a variable in a condition of the operation is null. Only one
// with a default can be: validation allows it for the non-null argument of @skip and @include, and
// a client can send null instead of the default.
func checkConditions(op *graphql.OperationContext) gqlerror.List {
	isNull := func(variable *ast.Value) bool { return op.Variables[variable.Raw] == nil }
	if !slices.ContainsFunc(op.Operation.VariableDefinitions, func(v *ast.VariableDefinition) bool {
		return v.DefaultValue != nil && op.Variables[v.Variable] == nil
	}) {
		return nil
	}
	for selection := range selections(op.Operation.SelectionSet) {
		for _, d := range directivesOf(selection) {
			if breadthfirst.FindVariable(d.Arguments, isNull) != nil {
				path := ast.Path{ast.PathName(d.Arguments[0].Value.Raw)}
				return gqlerror.List{gqlerror.Wrap(badValue(path, nil, mustNotBeNull))}
			}
		}
	}
	return nil
}

func directivesOf(selection ast.Selection) ast.DirectiveList {
	switch s := selection.(type) {
	case *ast.Field:
		return s.Directives
	case *ast.InlineFragment:
		return s.Directives
	case *ast.FragmentSpread:
		return s.Directives
	}
	return nil
}

// reportDeprecated reports the deprecated root fields that an operation selects.
func (h *handler) reportDeprecated(ctx context.Context, op *graphql.OperationContext) {
	if h.OnDeprecated == nil {
		return
	}
	for _, field := range selectedRoots(op) {
		if field.Definition != nil && field.Definition.Directives.ForName("deprecated") != nil {
			h.OnDeprecated(ctx, field.ObjectDefinition.Name+"."+field.Name, op.Headers.Get("User-Agent"))
		}
	}
}
