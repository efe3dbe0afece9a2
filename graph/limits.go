package graph

import (
	"strconv"
	"unicode/utf8"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/lexer"

	"github.com/meshyard/meshyard/models"
)

// The limits of one GraphQL document. Validation and the count of costs take a time that grows with the square of what is
// written, or with the power of what fragments unfold to; so all is bounded before either begins.
const (
	maxDocument    = 128 << 10 // bytes
	maxTokens      = 2_000
	maxName        = 100 // bytes; names come back in answers and errors
	maxNesting     = 64  // of brackets of any kind
	maxFields      = 500 // with every fragment unfolded wherever it is spread
	maxAliases     = 100 // that stand in the document; see also maxFields
	maxDepth       = 24
	maxDirectives  = 50
	maxTogether    = 4     // directives in one place; the schema knows two for each
	maxComparisons = 2_000 // of fields that answer under one name, to see whether they can be merged
)

// effort is how much of a document was looked at before it was let through or refused.
type effort struct{ tokens, fields, comparisons int }

// scan reads a document token by token and stops at the first limit that is passed. What cannot be read is left to the parser to tell.
func (e *effort) scan(text string) *models.Error {
	switch {
	case len(text) > maxDocument:
		return overLimit("bytes", maxDocument)
	case !utf8.ValidString(text):
		return BadInput("query", "query: holds text that is no UTF-8")
	}
	nesting := 0
	for l := lexer.New(&ast.Source{Input: text}); ; {
		token, err := l.ReadToken()
		if err != nil || token.Kind == lexer.EOF {
			return nil
		}
		if e.tokens++; e.tokens > maxTokens {
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
			if len(token.Value) > maxName {
				return overLimit("bytes of a name", maxName)
			}
		}
	}
}

// measure looks at a parsed document, with every fragment unfolded. Its time is linear in what is written, and in maxFields.
func (e *effort) measure(document *ast.QueryDocument) *models.Error {
	m := &measure{effort: e, fragments: make(map[string]*ast.FragmentDefinition), unfolded: make(map[string]*extent)}
	for _, f := range document.Fragments {
		if m.fragments[f.Name] != nil {
			return BadInput("query", "query: there are two fragments of the name %s", f.Name)
		}
		m.fragments[f.Name] = f
	}
	var all extent
	for _, op := range document.Operations {
		all = all.beside(m.set(op.SelectionSet)).beside(directed(op.Directives))
		for _, v := range op.VariableDefinitions {
			all = all.beside(directed(v.Directives))
		}
	}
	for _, f := range document.Fragments {
		all = all.beside(m.fragment(f.Name)) // one that is nowhere spread is validated too
	}
	switch {
	case m.circle != "":
		return BadInput("query", "query: the fragment %s spreads itself", m.circle)
	case all.fields > maxFields:
		return overLimit("fields, with every fragment unfolded,", maxFields)
	case m.aliases > maxAliases:
		return overLimit("aliases", maxAliases)
	case all.depth > maxDepth:
		return overLimit("levels", maxDepth)
	case all.directives > maxDirectives:
		return overLimit("directives", maxDirectives)
	case all.together > maxTogether:
		return overLimit("directives in one place", maxTogether)
	}
	for _, op := range document.Operations {
		m.compare([]ast.SelectionSet{op.SelectionSet})
	}
	for _, f := range document.Fragments {
		m.compare([]ast.SelectionSet{f.SelectionSet})
	}
	if e.comparisons > maxComparisons {
		return overLimit("comparisons of fields that answer under one name", maxComparisons)
	}
	return nil
}

func overLimit(what string, limit int64) *models.Error {
	return &models.Error{Code: models.BadInput, Field: "query", Limit: limit, Message: "query: too large: at most " + strconv.FormatInt(limit, 10) + " " + what + " are taken"}
}

// extent is how far a piece of a document reaches.
type extent struct{ fields, depth, directives, together int }

// beside adds what stands beside it. Counts stop far above the limits, so that they cannot overflow.
func (e extent) beside(o extent) extent {
	return extent{min(e.fields+o.fields, 1<<30), max(e.depth, o.depth), min(e.directives+o.directives, 1<<30), max(e.together, o.together)}
}

func directed(list ast.DirectiveList) extent {
	return extent{directives: len(list), together: len(list)}
}

// measure finds extents; that of a fragment is found once.
type measure struct {
	*effort
	aliases   int
	fragments map[string]*ast.FragmentDefinition
	unfolded  map[string]*extent // nil while it is being found
	circle    string             // a fragment that spreads itself
}

func (m *measure) set(set ast.SelectionSet) (all extent) {
	for _, selection := range set {
		in := extent{}
		m.fields++
		switch s := selection.(type) {
		case *ast.Field:
			in = m.set(s.SelectionSet)
			in.depth++
			in = in.beside(directed(s.Directives))
			if s.Alias != s.Name {
				m.aliases++
			}
		case *ast.InlineFragment:
			in = m.set(s.SelectionSet).beside(directed(s.Directives))
		case *ast.FragmentSpread:
			in = m.fragment(s.Name).beside(directed(s.Directives))
		}
		in.fields++ // fragments are work, too
		all = all.beside(in)
	}
	return all
}

func (m *measure) fragment(name string) extent {
	f := m.fragments[name]
	if f == nil {
		return extent{}
	}
	switch known, begun := m.unfolded[name]; {
	case known != nil:
		return *known
	case begun:
		m.circle = name
		return extent{}
	}
	m.unfolded[name] = nil
	e := m.set(f.SelectionSet).beside(directed(f.Directives))
	m.unfolded[name] = &e
	return e
}

// compare counts the pairs that validation compares: of the fields that sets, unfolded and merged, answer under one name. It is asked
// where no fragment spreads itself and the fields are within their limit.
func (m *measure) compare(sets []ast.SelectionSet) {
	named := make(map[string][]ast.SelectionSet)
	var collect func(ast.SelectionSet)
	collect = func(set ast.SelectionSet) {
		for _, selection := range set {
			m.fields++
			switch s := selection.(type) {
			case *ast.Field:
				m.comparisons += len(named[s.Alias])
				named[s.Alias] = append(named[s.Alias], s.SelectionSet)
			case *ast.InlineFragment:
				collect(s.SelectionSet)
			case *ast.FragmentSpread:
				if f := m.fragments[s.Name]; f != nil {
					collect(f.SelectionSet)
				}
			}
		}
	}
	for _, set := range sets {
		collect(set)
	}
	for _, below := range named {
		if m.comparisons > maxComparisons {
			return
		}
		m.compare(below)
	}
}
