package pages

import (
	"bytes"
	"html/template"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// A guide is the migration guide, rendered for its page.
type guide struct {
	HTML     template.HTML
	Contents []heading // headings of the second and third level
	Titled   bool      // it has a heading of the first level
}

type heading struct {
	ID, Text string
	Level    int
}

// guideMarkdown omits HTML in the text, which is the default of goldmark. The guide contains none.
var guideMarkdown = goldmark.New(
	goldmark.WithExtensions(extension.Table),
	goldmark.WithParserOptions(parser.WithAutoHeadingID()),
	goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(scrollers{}, 100))),
)

// renderGuide renders the guide as HTML. It adds an anchor to each heading, and base to links to
// paths of this server.
func renderGuide(source []byte, base string) (guide, error) {
	context := parser.NewContext(parser.WithIDs(&ids{IDs: parser.NewContext().IDs()}))
	document := guideMarkdown.Parser().Parse(text.NewReader(source), parser.WithContext(context))
	var g guide
	err := ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Link:
			if entering && bytes.HasPrefix(n.Destination, []byte("/")) && !bytes.HasPrefix(n.Destination, []byte("//")) {
				n.Destination = append([]byte(base), n.Destination...)
			}
		case *ast.Heading:
			if entering {
				break
			}
			value, _ := n.AttributeString("id")
			id, _ := value.([]byte)
			g.Titled = g.Titled || n.Level == 1
			if n.Level == 2 || n.Level == 3 {
				g.Contents = append(g.Contents, heading{string(id), plain(n, source), n.Level})
			}
			if n.Level > 1 {
				n.AppendChild(n, ast.NewString([]byte(" "))) // otherwise screen readers read both as one word
				n.AppendChild(n, anchor(id))
			}
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return guide{}, err
	}
	var html bytes.Buffer
	if err := guideMarkdown.Renderer().Render(&html, source, document); err != nil {
		return guide{}, err
	}
	g.HTML = template.HTML(html.String()) // trusted: see Options.Guide
	return g, nil
}

// anchor returns a link from a heading to itself, from which users can copy the URL of the section.
func anchor(id []byte) ast.Node {
	link := ast.NewLink()
	link.Destination = append([]byte("#"), id...)
	link.SetAttributeString("class", "anchor")
	link.SetAttributeString("title", "Link to this section")
	link.AppendChild(link, ast.NewString([]byte("#")))
	return link
}

// plain returns the text of a node without markup.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			b.Write(util.UnescapePunctuations(c.Value(source)))
		case *ast.String:
			b.Write(c.Value)
		default:
			b.WriteString(plain(c, source))
		}
	}
	return b.String()
}

// ids assigns IDs to headings. A heading that is the ID of an operation, such as get_newest, keeps
// it as its ID, because responses and the OpenAPI document link to it.
type ids struct {
	parser.IDs
	taken map[string]bool
}

var operationID = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)+$`)

// Generate returns the ID of the heading with the source text value.
func (s *ids) Generate(value []byte, kind ast.NodeKind) []byte {
	id := string(bytes.Trim(value, "` \t\n"))
	if s.taken[id] || !operationID.MatchString(id) {
		return s.IDs.Generate(value, kind) // the IDs of goldmark contain no underscore
	}
	if s.taken == nil {
		s.taken = map[string]bool{}
	}
	s.taken[id] = true
	return []byte(id)
}

// scrollers renders tables and code blocks so that wide ones can be scrolled separately on a narrow
// screen, also with the keyboard.
type scrollers struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (scrollers) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(extast.KindTable, func(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
		part := "</table></div>\n"
		if entering {
			part = `<div class="wide" role="group" aria-label="Table" tabindex="0"><table>` + "\n"
		}
		_, err := w.WriteString(part)
		return ast.WalkContinue, err
	})
	r.Register(ast.KindFencedCodeBlock, func(w util.BufWriter, source []byte, n ast.Node,
		entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		language := template.HTMLEscapeString(string(n.(*ast.FencedCodeBlock).Language(source)))
		text := template.HTMLEscapeString(string(n.Lines().Value(source)))
		_, err := w.WriteString(`<pre tabindex="0"><code class="language-` + language + `">` + text + "</code></pre>\n")
		return ast.WalkContinue, err
	})
}
