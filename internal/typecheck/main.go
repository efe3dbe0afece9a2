// Typecheck reports the type errors that all packages and their tests have on other operating
// systems: go run ./internal/typecheck windows darwin. go vet would find them too, but it compiles
// all dependencies for each system, which takes minutes. Typecheck only reads the declarations in
// their source.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	dir, err := os.Getwd()
	if err != nil {
		fail(err)
	}
	failed := false
	for _, system := range os.Args[1:] {
		problems, err := check(dir, system)
		if err != nil {
			fail(err)
		}
		for _, p := range problems {
			fmt.Printf("%s: %s\n", system, p)
			failed = true
		}
	}
	if failed {
		os.Exit(1)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "typecheck:", err)
	os.Exit(1)
}

// check returns the type errors of the packages of the module in dir, and of their tests, on an
// operating system.
func check(dir, system string) (problems []string, err error) {
	roots, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedDeps | packages.NeedTypes |
			packages.NeedSyntax,
		Dir:   dir,
		Env:   append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0"),
		Tests: true,
		ParseFile: func(fset *token.FileSet, name string, src []byte) (*ast.File, error) {
			f, err := parser.ParseFile(fset, name, src, parser.SkipObjectResolution)
			if f != nil && !strings.HasPrefix(name, dir+string(filepath.Separator)) {
				removeBodies(f)
			}
			return f, err
		},
	}, "./...")
	known := map[string]bool{} // a file can be part of a package and of its tests
	for _, p := range roots {
		if strings.HasSuffix(p.PkgPath, ".test") {
			continue // a generated main package, which is not in dir
		}
		for _, e := range p.Errors {
			if text := e.Error(); !known[text] {
				known[text] = true
				problems = append(problems, text)
			}
		}
	}
	return problems, err
}

// removeBodies removes the bodies of the functions of a file.
func removeBodies(f *ast.File) {
	for _, d := range f.Decls {
		if d, ok := d.(*ast.FuncDecl); ok {
			d.Body = nil
		}
	}
}
