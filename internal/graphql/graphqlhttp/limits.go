package graphqlhttp

import (
	"unicode/utf8"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/lexer"

	"github.com/meshyard/meshyard/internal/apierror"
)

// The limits of one GraphQL document. Validation takes quadratic time, and the cost calculation
// takes exponential time in nested fragments, so documents are bounded before either runs.
const (
	maxDocumentBytes       = 128 << 10
	maxTokens              = 2_000
	maxNameBytes           = 100 // names are repeated in responses and errors
	maxNesting             = 64  // levels of brackets of any kind
	maxFields              = 500 // with all fragments expanded
	maxAliases             = 100 // as written; expanded aliases count as fields
	maxDepth               = 24  // levels of fields
	maxDirectives          = 50
	maxDirectivesOnOneNode = 4     // the schema has two for each location
	maxComparisons         = 2_000 // of fields with one response name, by the overlapping-fields rule
)

// documentStats counts how much of a document was inspected before it was accepted or refused.
type documentStats struct{ tokens, fields, comparisons int }

// scan reads the tokens of a document and stops at the first limit that is exceeded. Syntax errors
// are left to the parser.
func (s *documentStats) scan(text string) *apierror.Error {
	switch {
	case len(text) > maxDocumentBytes:
		return overLimit("bytes", maxDocumentBytes)
	case !utf8.ValidString(text):
		return apierror.Invalid("query", "query: must be valid UTF-8")
	}
	nesting := 0
	for l := lexer.New(&ast.Source{Input: text}); ; {
		token, err := l.ReadToken()
		if err != nil || token.Kind == lexer.EOF {
			return nil //nolint:nilerr // the parser reports syntax errors
		}
		if s.tokens++; s.tokens > maxTokens {
			return overLimit("tokens", maxTokens)
		}
		switch token.Kind {
		case lexer.BraceL, lexer.BracketL, lexer.ParenL:
			if nesting++; nesting > maxNesting {
				return overLimit("levels of brackets", maxNesting)
			}
		case lexer.BraceR, lexer.BracketR, lexer.ParenR:
			nesting--
		case lexer.Name:
			if len(token.Value) > maxNameBytes {
				return overLimit("bytes per name", maxNameBytes)
			}
		}
	}
}

// check counts the parts of a parsed document with all fragments expanded. It runs in time linear
// in the length of the document and in maxFields.
func (s *documentStats) check(document *ast.QueryDocument) *apierror.Error {
	c := &documentCounter{
		documentStats: s,
		fragments:     make(map[string]*ast.FragmentDefinition),
		expanded:      make(map[string]*counts),
	}
	for _, f := range document.Fragments {
		if c.fragments[f.Name] != nil {
			return apierror.Invalid("query", "query: fragment %s is defined twice", f.Name)
		}
		c.fragments[f.Name] = f
	}
	var total counts
	for _, op := range document.Operations {
		total = total.plus(c.selectionSet(op.SelectionSet)).plus(directiveCounts(op.Directives))
		for _, v := range op.VariableDefinitions {
			total = total.plus(directiveCounts(v.Directives))
		}
	}
	for _, f := range document.Fragments {
		total = total.plus(c.fragment(f.Name)) // validation visits unused fragments too
	}
	switch {
	case c.cycle != "":
		return apierror.Invalid("query", "query: fragment %s spreads itself", c.cycle)
	case total.fields > maxFields:
		return overLimit("fields with all fragments expanded", maxFields)
	case c.aliases > maxAliases:
		return overLimit("aliases", maxAliases)
	case total.depth > maxDepth:
		return overLimit("levels of fields", maxDepth)
	case total.directives > maxDirectives:
		return overLimit("directives", maxDirectives)
	case total.onOneNode > maxDirectivesOnOneNode:
		return overLimit("directives on one node", maxDirectivesOnOneNode)
	}
	for _, op := range document.Operations {
		c.compare([]ast.SelectionSet{op.SelectionSet})
	}
	for _, f := range document.Fragments {
		c.compare([]ast.SelectionSet{f.SelectionSet})
	}
	if s.comparisons > maxComparisons {
		return overLimit("comparisons of fields with the same response name", maxComparisons)
	}
	return nil
}

func overLimit(what string, limit int64) *apierror.Error {
	err := apierror.New(apierror.TooLarge, "query: too large: must have at most %d %s", limit, what)
	err.Field, err.Limit = "query", limit
	return err
}

// counts describes a part of a document. onOneNode is the maximum number of directives on one node.
type counts struct{ fields, depth, directives, onOneNode int }

// plus returns the counts of two parts side by side. Sums saturate far above the limits.
func (n counts) plus(o counts) counts {
	return counts{
		fields:     min(n.fields+o.fields, 1<<30),
		depth:      max(n.depth, o.depth),
		directives: min(n.directives+o.directives, 1<<30),
		onOneNode:  max(n.onOneNode, o.onOneNode),
	}
}

func directiveCounts(list ast.DirectiveList) counts {
	return counts{directives: len(list), onOneNode: len(list)}
}

// documentCounter counts the parts of a document. It counts each fragment once.
type documentCounter struct {
	*documentStats
	aliases   int
	fragments map[string]*ast.FragmentDefinition
	expanded  map[string]*counts // nil while the fragment is being counted
	cycle     string             // the name of a fragment that spreads itself
}

func (c *documentCounter) selectionSet(set ast.SelectionSet) (total counts) {
	for _, selection := range set {
		var n counts
		c.fields++
		switch s := selection.(type) {
		case *ast.Field:
			n = c.selectionSet(s.SelectionSet)
			n.depth++
			n = n.plus(directiveCounts(s.Directives))
			if s.Alias != s.Name {
				c.aliases++
			}
		case *ast.InlineFragment:
			n = c.selectionSet(s.SelectionSet).plus(directiveCounts(s.Directives))
		case *ast.FragmentSpread:
			n = c.fragment(s.Name).plus(directiveCounts(s.Directives))
		}
		n.fields++ // spreads and inline fragments count too
		total = total.plus(n)
	}
	return total
}

func (c *documentCounter) fragment(name string) counts {
	f := c.fragments[name]
	if f == nil {
		return counts{}
	}
	switch known, started := c.expanded[name]; {
	case known != nil:
		return *known
	case started:
		c.cycle = name
		return counts{}
	}
	c.expanded[name] = nil
	n := c.selectionSet(f.SelectionSet).plus(directiveCounts(f.Directives))
	c.expanded[name] = &n
	return n
}

// compare counts the pairs of fields that the overlapping-fields rule compares: those with the same
// response name in merged selection sets. The document must have no fragment cycle and be within
// maxFields.
func (c *documentCounter) compare(sets []ast.SelectionSet) {
	byName := make(map[string][]ast.SelectionSet)
	var collect func(ast.SelectionSet)
	collect = func(set ast.SelectionSet) {
		for _, selection := range set {
			c.fields++
			switch s := selection.(type) {
			case *ast.Field:
				c.comparisons += len(byName[s.Alias])
				byName[s.Alias] = append(byName[s.Alias], s.SelectionSet)
			case *ast.InlineFragment:
				collect(s.SelectionSet)
			case *ast.FragmentSpread:
				if f := c.fragments[s.Name]; f != nil {
					collect(f.SelectionSet)
				}
			}
		}
	}
	for _, set := range sets {
		collect(set)
	}
	for _, below := range byName {
		if c.comparisons > maxComparisons {
			return
		}
		c.compare(below)
	}
}
