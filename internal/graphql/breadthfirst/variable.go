package breadthfirst

import (
	"slices"

	"github.com/vektah/gqlparser/v2/ast"
)

// FindVariable returns the path from the arguments of a field to the first use of a variable that
// matches, or nil if there is none.
func FindVariable(arguments ast.ArgumentList, matches func(variable *ast.Value) bool) ast.Path {
	for _, a := range arguments {
		if path := findIn(a.Value, matches); path != nil {
			return slices.Insert(path, 0, ast.PathElement(ast.PathName(a.Name)))
		}
	}
	return nil
}

// findIn returns the path from a value to the first variable that matches. It is empty but not nil
// if the value is that variable.
func findIn(value *ast.Value, matches func(variable *ast.Value) bool) ast.Path {
	if value.Kind == ast.Variable {
		if matches(value) {
			return ast.Path{}
		}
		return nil
	}
	for i, child := range value.Children {
		path := findIn(child.Value, matches)
		switch {
		case path == nil:
		case value.Kind == ast.ListValue:
			return slices.Insert(path, 0, ast.PathElement(ast.PathIndex(i)))
		default:
			return slices.Insert(path, 0, ast.PathElement(ast.PathName(child.Name)))
		}
	}
	return nil
}
