package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// engineFiles are the files that may compare the database engine: the two implementations of
// database.Dialect and what chooses one of them, the code that checks the setting, the restore of a
// backup, which must be of the same engine, and code of tests and benchmarks, which creates
// databases.
var engineFiles = []string{
	"internal/database/dialect*.go", "internal/config/settings.go", "cmd/meshyard/restore.go",
	"internal/database/databasetest/*.go", "internal/pgtest/*.go", "bench/*.go", "test/servertest/*.go",
}

// engineNames are names of constants for an engine: those of internal/database, of Bun and of
// packages that define their own.
var engineNames = []string{"SQLite", "Postgres", "PG"}

// engineTexts are the beginnings of texts with the name of an engine, or with a database URL.
var engineTexts = []string{"sqlite", "postgres"}

// comparisons returns the positions in a file at which it compares the database engine, by an
// operator, a switch or the prefix of a URL. It does not find maps with a value for each engine:
// these are implementations, chosen in one place.
func comparisons(file *ast.File) (found []token.Pos) {
	// named reports whether e is an engine, or a conversion or call with one.
	var named func(e ast.Expr) bool
	named = func(e ast.Expr) bool {
		switch e := e.(type) {
		case *ast.Ident:
			return slices.Contains(engineNames, e.Name)
		case *ast.SelectorExpr:
			return e.Sel.Name == "Engine" || e.Sel.Name == "engine" || slices.Contains(engineNames, e.Sel.Name)
		case *ast.BasicLit:
			text := strings.ToLower(strings.Trim(e.Value, "`\""))
			return e.Kind == token.STRING && slices.ContainsFunc(engineTexts, func(name string) bool {
				return text == name || strings.HasPrefix(text, name+":") || strings.HasPrefix(text, name+"ql")
			})
		case *ast.ParenExpr:
			return named(e.X)
		case *ast.CallExpr:
			return named(e.Fun) || slices.ContainsFunc(e.Args, named)
		}
		return false
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if (n.Op == token.EQL || n.Op == token.NEQ) && (named(n.X) || named(n.Y)) {
				found = append(found, n.OpPos)
			}
		case *ast.SwitchStmt:
			if n.Tag != nil && named(n.Tag) {
				found = append(found, n.Switch)
			}
		case *ast.CaseClause:
			if slices.ContainsFunc(n.List, named) {
				found = append(found, n.Case)
			}
		case *ast.CallExpr:
			f, ok := n.Fun.(*ast.SelectorExpr)
			if ok && slices.Contains([]string{"HasPrefix", "CutPrefix", "TrimPrefix", "EqualFold"}, f.Sel.Name) &&
				slices.ContainsFunc(n.Args, named) {
				found = append(found, n.Lparen)
			}
		}
		return true
	})
	return found
}

// TestOnlyDialectComparesEngines checks that what differs between the engines is in one place.
// Other code calls a method of database.Dialect, or asks it for a capability.
func TestOnlyDialectComparesEngines(t *testing.T) {
	root := filepath.Join("..", "..")
	files := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "node_modules" || d.Name() == "data" || strings.HasPrefix(d.Name(), ".") &&
			path != root) {
			return fs.SkipDir
		}
		name, _ := filepath.Rel(root, path)
		name = filepath.ToSlash(name)
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") ||
			slices.ContainsFunc(engineFiles, func(pattern string) bool {
				match, _ := filepath.Match(pattern, name)
				return match
			}) {
			return nil
		}
		files++
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, at := range comparisons(file) {
			t.Errorf("%s:%d compares the database engine: use database.Dialect", name, set.Position(at).Line)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 100 {
		t.Errorf("found only %d files", files)
	}
}

func TestComparisonsAreFound(t *testing.T) {
	for code, want := range map[string]int{
		`db.Engine == database.Postgres`:            1,
		`string(m.Engine) != name`:                  1,
		`database.Engine(name) == x`:                1,
		`tx.Dialect().Name() == dialect.PG`:         1,
		`Postgres == e`:                             1,
		`name == "sqlite"`:                          1,
		`strings.HasPrefix(url, "sqlite:")`:         1,
		`strings.HasPrefix(url, "postgresql://")`:   1,
		`db.Dialect.HasLateral() == true`:           0,
		`name == "sqlite_sequence"`:                 0,
		`string(db.Engine)`:                         0,
		`implementations[db.Engine].Text() == text`: 0,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "", "package p; var _ = "+code, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(comparisons(file)); got != want {
			t.Errorf("%s: found %d comparisons, want %d", code, got, want)
		}
	}
	for code, want := range map[string]int{
		`switch db.Engine {}`:                          1,
		`switch scheme { case "postgres": }`:           1,
		`switch { case db.Engine == database.SQLite:}`: 1,
		`switch db.Dialect.IsDumped() { case true: }`:  0,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "", "package p; func f() { "+code+" }", 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(comparisons(file)); got != want {
			t.Errorf("%s: found %d comparisons, want %d", code, got, want)
		}
	}
}
