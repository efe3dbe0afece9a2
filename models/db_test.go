package models

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
)

// TestTablesAreRegistered checks that tables has the types of all structs that embed bun.BaseModel.
func TestTablesAreRegistered(t *testing.T) {
	var want, got []string
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if s, ok := spec.Type.(*ast.StructType); ok && slices.ContainsFunc(s.Fields.List, isBaseModel) {
				want = append(want, spec.Name.Name)
			}
			return true
		})
	}
	for _, table := range tables {
		got = append(got, reflect.TypeOf(table).Elem().Name())
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
}

func isBaseModel(field *ast.Field) bool {
	s, ok := field.Type.(*ast.SelectorExpr)
	return ok && s.Sel.Name == "BaseModel" && len(field.Names) == 0
}
