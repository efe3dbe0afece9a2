// Command graphqlgen generates the Go code of the GraphQL schema: everything that gqlgen generates,
// functions for the enums, and the table that package breadthfirst uses to execute operations.
package main

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"

	"github.com/99designs/gqlgen/api"
	"github.com/99designs/gqlgen/codegen"
	"github.com/99designs/gqlgen/codegen/config"
	"github.com/99designs/gqlgen/codegen/templates"
)

func main() {
	c, err := config.LoadConfigFromDefaultLocations()
	if err == nil {
		err = api.Generate(c, api.AddPlugin(plugin{}))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "graphqlgen:", err)
		os.Exit(1)
	}
}

//go:embed breadthfirst.gotpl
var table string

// plugin generates the table and the functions for the enums.
type plugin struct{}

// Name returns the name of the plugin for errors.
func (plugin) Name() string { return "breadthfirst" }

// GenerateCode writes the table next to the code that gqlgen generates.
func (plugin) GenerateCode(data *codegen.Data) error {
	objects, err := describe(data)
	if err != nil {
		return err
	}
	return templates.Render(templates.Options{
		PackageName:     data.Config.Exec.Package,
		Filename:        filepath.Join(data.Config.Exec.DirName, "breadthfirst.generated.go"),
		Template:        table,
		Data:            map[string]any{"Objects": objects, "Interfaces": data.Interfaces},
		GeneratedHeader: true,
		Packages:        data.Config.Packages,
	})
}
