package graphqlhttp

import (
	"context"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
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
