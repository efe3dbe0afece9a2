//go:build depthfirst

package graph

import "github.com/meshyard/meshyard/graph/exec"

// DepthFirst returns the same graph with the executor that gqlgen generates, which only tests
// compile: see docs/adr/0011-generated-code.md.
func (g *Graph) DepthFirst() *Graph {
	return &Graph{resolver: g.resolver, schema: exec.NewExecutableSchema(g.resolver.config())}
}
