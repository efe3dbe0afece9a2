// Command graphqlgen generates the Go code of the GraphQL schema: the code of gqlgen that is used,
// functions for the enums, and the table that package breadthfirst uses to execute
// operations.
//
// With -depth-first DIR it writes the table and all code of gqlgen into DIR instead, and a file
// overlay.json. go test -overlay then compiles that code, with the executor of gqlgen.
package main

import (
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/99designs/gqlgen/api"
	"github.com/99designs/gqlgen/codegen"
	"github.com/99designs/gqlgen/codegen/config"
	"github.com/99designs/gqlgen/codegen/templates"
)

func main() {
	depthFirst := flag.String("depth-first", "", "the `directory` for all code that gqlgen generates")
	flag.Parse()
	if err := generate(*depthFirst); err != nil {
		fmt.Fprintln(os.Stderr, "graphqlgen:", err)
		os.Exit(1)
	}
}

// generate generates the code that is used, or all code into the directory all, unless that is "".
func generate(all string) error {
	c, err := config.LoadConfigFromDefaultLocations()
	if err != nil {
		return err
	}
	pruned := c.Exec.DirName
	temporary, err := os.MkdirTemp("", "graphqlgen")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temporary)
	c.SkipValidation = true // it would compile the unused code
	if err := api.Generate(c, api.AddPlugin(plugin{temporary})); err != nil {
		return err
	}
	if all != "" {
		return overlay(temporary, all, pruned)
	}
	return prune(temporary, pruned)
}

// overlay copies the files of the directory from to the directory to, whose content it replaces. It
// adds the file overlay.json, by which the go command reads them as files of the directory as.
func overlay(from, to, as string) error {
	to, err := filepath.Abs(to)
	if err != nil {
		return err
	}
	if as, err = filepath.Abs(as); err != nil {
		return err
	}
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		return err
	}
	paths, err := filepath.Glob(filepath.Join(to, pattern))
	if err != nil {
		return err
	}
	files := make(map[string]string)
	for _, path := range paths {
		files[filepath.Join(as, filepath.Base(path))] = path
	}
	text, err := json.Marshal(map[string]any{"Replace": files})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(to, "overlay.json"), text, 0o644) //nolint:gosec // it is not secret
}

//go:embed breadthfirst.gotpl
var table string

// plugin generates the table and the functions for the enums.
type plugin struct{ dir string }

// Name returns the name of the plugin for errors.
func (plugin) Name() string { return "breadthfirst" }

// GenerateCode writes the table into the directory of the plugin. gqlgen then generates its code
// there, too. The earlier plugins have used the name of the package of the final directory.
func (p plugin) GenerateCode(data *codegen.Data) error {
	objects, err := describe(data)
	if err != nil {
		return err
	}
	data.Config.Exec.DirName = p.dir
	return templates.Render(templates.Options{
		PackageName:     data.Config.Exec.Package,
		Filename:        filepath.Join(p.dir, tableFile),
		Template:        table,
		Data:            map[string]any{"Objects": objects, "Interfaces": data.Interfaces},
		GeneratedHeader: true,
		Packages:        data.Config.Packages,
	})
}
