package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"

	"golang.org/x/tools/imports"
)

// tableFile is the file of the table.
const tableFile = "breadthfirst.generated.go"

const pattern = "*.generated.go"

// prune writes the generated code of the directory from to the directory to, without the
// declarations that the table does not use. It removes files that have no declarations.
func prune(from, to string) error {
	files, err := parse(from)
	if err != nil {
		return err
	}
	keep := reachable(files)
	stale, err := filepath.Glob(filepath.Join(to, pattern))
	if err != nil {
		return err
	}
	for _, path := range stale {
		if _, ok := files[filepath.Base(path)]; !ok {
			err = os.Remove(path)
		}
	}
	for name, f := range files {
		if err == nil {
			err = f.write(filepath.Join(to, name), keep)
		}
	}
	return err
}

// file is a file of generated code.
type file struct {
	*ast.File
	name string
	text []byte
	set  *token.FileSet
}

// parse parses the generated files of a directory.
func parse(dir string) (map[string]file, error) {
	paths, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil {
		return nil, err
	}
	files := make(map[string]file)
	for _, path := range paths {
		f := file{name: filepath.Base(path), set: token.NewFileSet()}
		if f.text, err = os.ReadFile(path); err != nil {
			return nil, err
		}
		if f.File, err = parser.ParseFile(f.set, path, f.text, parser.ParseComments|parser.SkipObjectResolution); err != nil {
			return nil, err
		}
		files[f.name] = f
	}
	return files, nil
}

// declarations returns the declarations of a file, and each variable of a group alone. Imports are
// left out.
func (f file) declarations() (all []ast.Node) {
	for _, d := range f.Decls {
		group, ok := d.(*ast.GenDecl)
		switch {
		case ok && group.Tok == token.IMPORT:
		case ok && group.Tok == token.VAR && group.Lparen.IsValid():
			for _, spec := range group.Specs {
				all = append(all, spec)
			}
		default:
			all = append(all, d)
		}
	}
	return all
}

// reachable returns the declarations of the table and those that they use, directly or not. A
// declaration counts as used if its name is, whatever the name refers to there, and a method if the
// type of its receiver is used as well. So some are included that are not used, but none is
// missing.
func reachable(files map[string]file) map[ast.Node]bool {
	using := make(map[string][]ast.Node) // by name; a method's begins with a dot
	missing := make(map[ast.Node]int)    // number of names that must be used before the declaration is
	for _, f := range files {
		for _, d := range f.declarations() {
			missing[d] = 1
			if method, ok := d.(*ast.FuncDecl); ok && method.Recv != nil {
				missing[d] = 2
			}
			for _, name := range names(d) {
				using[name] = append(using[name], d)
			}
		}
	}
	keep := make(map[ast.Node]bool)
	left := files[tableFile].declarations()
	use := func(name string) {
		for _, d := range using[name] {
			if missing[d]--; missing[d] == 0 {
				left = append(left, d)
			}
		}
		delete(using, name)
	}
	var inspect func(n ast.Node) bool
	inspect = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl: // without its name
			if n.Recv != nil {
				ast.Inspect(n.Recv, inspect)
			}
			ast.Inspect(n.Type, inspect)
			ast.Inspect(n.Body, inspect)
			return false
		case *ast.SelectorExpr:
			use("." + n.Sel.Name)
			ast.Inspect(n.X, inspect)
			return false
		case *ast.Ident:
			use(n.Name)
		}
		return true
	}
	for len(left) > 0 {
		d := left[0]
		left, keep[d] = left[1:], true
		ast.Inspect(d, inspect)
	}
	return keep
}

// names returns the names that a declaration declares, and the name of a receiver's type.
func names(d ast.Node) (all []string) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			return []string{d.Name.Name}
		}
		of := d.Recv.List[0].Type
		if p, ok := of.(*ast.StarExpr); ok {
			of = p.X
		}
		return []string{"." + d.Name.Name, fmt.Sprint(of)}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			all = append(all, names(spec)...)
		}
	case *ast.TypeSpec:
		return []string{d.Name.Name}
	case *ast.ValueSpec:
		for _, name := range d.Names {
			all = append(all, name.Name)
		}
	}
	return all
}

// write writes the declarations to keep to a file, unless it has this content already. It removes
// the file if there are none.
func (f file) write(path string, keep map[ast.Node]bool) error {
	at := func(p token.Pos) int { return f.set.Position(p).Offset }
	var b bytes.Buffer
	if len(f.Imports) > 0 {
		b.Write(f.text[:at(f.Decls[0].End())])
	} else {
		b.Write(f.text[:at(f.Name.End())])
	}
	head := b.Len()
	for _, d := range f.declarations() {
		if !keep[d] {
			continue
		}
		start, keyword := at(d.Pos()), ""
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Doc != nil {
				start = at(d.Doc.Pos())
			}
		case *ast.GenDecl:
			if d.Doc != nil {
				start = at(d.Doc.Pos())
			}
		case *ast.ValueSpec:
			keyword = "var "
		}
		fmt.Fprintf(&b, "\n\n%s%s", keyword, f.text[start:at(d.End())])
	}
	if b.Len() == head {
		if err := os.Remove(path); !os.IsNotExist(err) {
			return err
		}
		return nil
	}
	text, err := imports.Process(path, b.Bytes(), nil) // it removes imports
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if before, err := os.ReadFile(path); err == nil && bytes.Equal(before, text) {
		return nil
	}
	return os.WriteFile(path, text, 0o644) //nolint:gosec // it is source code
}
