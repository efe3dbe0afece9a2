// Package markdown converts Markdown that users write to HTML that is safe to display: an
// allow-list of elements and attributes, without raw HTML and scripts. The time and the length of
// the result are bounded for any input. A text that would exceed them is escaped and shown as it
// was written.
package markdown

import (
	"bytes"
	"strings"
	"sync"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

var (
	renderer = sync.OnceValue(func() goldmark.Markdown { return goldmark.New(goldmark.WithExtensions(extension.GFM)) })
	policy   = sync.OnceValue(bluemonday.UGCPolicy)
)

// Version is the version of the renderer. Increment it with every change that alters the HTML of
// any text, so that stored HTML is rendered again.
const Version = 1

// HTML renders Markdown (CommonMark with GitHub's tables, strikethrough and links) to sanitized
// HTML. The HTML contains no scripts, loads nothing from other hosts except images, and cannot
// affect the rest of the page. Empty text yields empty HTML.
//
// Some texts are not rendered but shown as [Plain] returns them. One kind would take a parser far
// longer than their length suggests, such as thousands of brackets that are never closed or lists
// nested hundreds of levels deep. The HTML of the other kind would be longer than four times their
// length plus 64 KiB, or than 320 KiB. The HTML of such a text is at most five times as long as the
// text.
//
// HTML is safe for concurrent use. It cannot be canceled, so callers limit the number of
// concurrent calls.
func HTML(text string) string {
	if text == "" {
		return ""
	}
	if html, ok := render([]byte(text)); ok {
		return html
	}
	return Plain(text)
}

// longestHTML returns the maximum length of the HTML for n bytes of Markdown: at most 320 KiB.
func longestHTML(n int) int { return min(4*n, 256<<10) + 64<<10 }

// render returns sanitized HTML, or false if the text is too expensive to render.
func render(source []byte) (string, bool) {
	if !withinBudget(source) {
		return "", false
	}
	document := renderer().Parser().Parse(text.NewReader(source))
	if addresses(document) > longestHTML(len(source)) {
		return "", false
	}
	var b bytes.Buffer
	if err := renderer().Renderer().Render(&b, source, document); err != nil {
		return "", false // unreachable: bytes.Buffer returns no errors
	}
	if b.Len() > longestHTML(len(source)) {
		return "", false
	}
	html := policy().SanitizeReader(&b)
	return html.String(), html.Len() <= longestHTML(len(source))
}

// addresses returns the total length of the URLs and titles of all links and images. A short text
// can produce many of them, because it can refer to one link definition thousands of times.
func addresses(document ast.Node) int {
	total := 0
	_ = ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			total += len(n.Destination) + len(n.Title)
		case *ast.Image:
			total += len(n.Destination) + len(n.Title)
		}
		return ast.WalkContinue, nil
	})
	return total
}

var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "\x00", "\ufffd", "\r\n", "<br>", "\n",
	"<br>", "\r", "<br>")

// Plain returns HTML that shows a text as it was written: escaped, in one paragraph, with its line
// breaks.
func Plain(text string) string { return "<p>" + escaper.Replace(text) + "</p>" }
