package rest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/formatter"

	"github.com/meshyard/meshyard/graph"
	"github.com/meshyard/meshyard/internal/graphql/graphqlhttp"
)

const guideHead = `# From REST to GraphQL

Every path of the REST API runs a stored GraphQL document. This guide shows the document of each
path. To migrate a program:

1. Take the document of the path, and append the fragments that are named below it. All
   [fragments](#fragments) are at the end of this guide.
2. Send it to ` + "`POST /graphql`" + `, as ` + "`{\"query\": …, \"variables\": {…}}`" + `, with the same token. The
   variables have the same names as the parameters of the path, of the query and of the body.
3. Read the same data from ` + "`data.answer`" + ` of the response.

In GraphQL, IDs are strings, times have the format of RFC 3339, flags are booleans, and licenses are
enum values. The REST API builds some URLs from IDs; in GraphQL the client does that.

A program that continues to use REST finalizes uploads with ` + "`POST /files/0/FinalizeFiles`" + `, after
` + "`POST /files/0/uploadFile`" + `. The published interface marks that operation as deprecated, but has no
other operation that replaces it. Meshyard continues to support it.

The documents request pages of lists by number, as the REST API does: its layer passes the page as
the cursor ` + "`page:2`" + `. New programs should use cursors: the arguments ` + "`first`" + ` and ` + "`after`" + `, and
` + "`pageInfo { hasNextPage endCursor }`" + ` in the selection.
`

// Guide returns the migration guide in Markdown. It shows the GraphQL document that replaces each
// REST path.
func Guide(g *graph.Graph) ([]byte, error) {
	document, operations, err := loadOperations(g.Schema())
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	b.WriteString(guideHead)
	b.WriteString("\n## Deprecated operations\n\n| Operation | Path | Since | What to do | Replaced by |\n|---|---|---|---|---|\n")
	for _, r := range routes {
		if r.deprecated != nil {
			fmt.Fprintf(&b, "| [%s](#%[1]s) | `%s %s` | %s | %s | `%s` |\n", r.operation, r.method, r.path,
				r.deprecated.since.Format("2006-01-02"),
				operations[r.operation].reason(r.deprecated), r.deprecated.successor)
		}
	}
	for i, r := range routes {
		if r.method == head {
			continue
		}
		if tag := tagOf(r.path); i == 0 || tag != tagOf(routes[i-1].path) {
			fmt.Fprintf(&b, "\n## /%s\n", tag)
		}
		fmt.Fprintf(&b, "\n### %s\n\n`%s %s`: %s\n", r.operation, r.method, r.path, operations[r.operation].description)
		shown := r.operation
		if r.deprecated != nil {
			fmt.Fprintf(&b, "\n**Deprecated** since %s. %s Replaced by `%s`", r.deprecated.since.Format("2006-01-02"),
				operations[r.operation].reason(r.deprecated), r.deprecated.successor)
			by, _ := r.replacement()
			if shown = by.operation; shown == r.operation {
				b.WriteString(".\n")
			} else {
				fmt.Fprintf(&b, ", [%s](#%[1]s). The document of that operation is:\n", shown)
			}
		}
		op := operations[shown]
		fmt.Fprintf(&b, "\n```graphql\n%s```\n", text(op.OperationDefinition))
		if names := fragmentsOf(op.SelectionSet); len(names) > 0 {
			fmt.Fprintf(&b, "\nWith the fragments %s.\n", strings.Join(names, ", "))
		}
	}
	b.WriteString("\n## Operations that are not served\n\nEach returns 404 with the reason in `message`.\n\n| Operation | Reason |\n|---|---|\n")
	for _, u := range unservedOperations {
		fmt.Fprintf(&b, "| `%s %s` | %s |\n", u.method, u.path, u.reason)
	}
	b.WriteString("\n## Fragments\n")
	for _, f := range document.Fragments {
		var fragment strings.Builder
		formatter.NewFormatter(&fragment, formatter.WithIndent("  ")).
			FormatQueryDocument(&ast.QueryDocument{Fragments: ast.FragmentDefinitionList{f}})
		fmt.Fprintf(&b, "\n### %s\n\n```graphql\n%s```\n", f.Name, fragment.String())
	}
	return []byte(b.String()), nil
}

// Stored returns the document of each operation as the guide shows it, followed by its fragments. A
// client that migrates to GraphQL sends it in this form.
func Stored(g *graph.Graph) ([]graphqlhttp.Document, error) {
	document, _, err := loadOperations(g.Schema())
	if err != nil {
		return nil, err
	}
	stored := make([]graphqlhttp.Document, len(document.Operations))
	for i, op := range document.Operations {
		whole := ast.QueryDocument{Operations: ast.OperationList{op}}
		for _, name := range fragmentsOf(op.SelectionSet) {
			whole.Fragments = append(whole.Fragments, document.Fragments.ForName(name))
		}
		var b strings.Builder
		formatter.NewFormatter(&b, formatter.WithIndent("  ")).FormatQueryDocument(&whole)
		stored[i] = graphqlhttp.Document{Name: op.Name, Text: b.String()}
	}
	return stored, nil
}

// notice returns the sentence that names the replacement of a deprecated operation.
func (r route) notice(op *operation) string {
	if by, ok := r.replacement(); ok {
		return "Deprecated: use " + by.method + " " + r.deprecated.successor + ". In GraphQL: " + op.reason(r.deprecated)
	}
	return "Deprecated: " + op.reason(r.deprecated)
}

// replacement returns the route that replaces a deprecated one. If the successor is GraphQL, it
// returns the route itself, and ok is false.
func (r route) replacement() (by route, ok bool) {
	path, _, _ := strings.Cut(r.deprecated.successor, "?")
	i := slices.IndexFunc(routes, func(other route) bool { return other.path == path })
	if i < 0 {
		return r, false
	}
	return routes[i], true
}

// fragmentsOf returns the sorted names of the fragments that a selection uses, directly or through
// other fragments.
func fragmentsOf(set ast.SelectionSet) (names []string) {
	for _, selection := range set {
		switch s := selection.(type) {
		case *ast.Field:
			names = append(names, fragmentsOf(s.SelectionSet)...)
		case *ast.InlineFragment:
			names = append(names, fragmentsOf(s.SelectionSet)...)
		case *ast.FragmentSpread:
			names = append(append(names, s.Name), fragmentsOf(s.Definition.SelectionSet)...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
