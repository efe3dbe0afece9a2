// Package markdown turns what users write into HTML that is safe to show.
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

// Version is the version of the renderer. It goes up with each change that makes other HTML of a
// text, so that stored HTML is rendered again.
const Version = 1

// HTML renders Markdown (CommonMark with GitHub's tables, strikethrough and links) and leaves
// nothing in it that runs, loads from elsewhere by itself save pictures, or leaves the page's
// frame. Empty text gives empty HTML.
//
// A text that would cost a parser far more than its length, such as thousands of brackets that
// never close or lists hundreds deep, or whose HTML would pass 64 KiB and four times its length, or
// 320 KiB, is shown as it was written: escaped, in one paragraph, with a line break for each of its
// own. That is at most five times its length.
//
// HTML is safe for concurrent use. It cannot be cancelled, so callers bound how many run at the
// same time.
func HTML(text string) string {
	if text == "" {
		return ""
	}
	if html, ok := render([]byte(text)); ok {
		return html
	}
	return Plain(text)
}

// longestHTML is the length up to which HTML is given for n bytes of Markdown: at most 320 KiB.
func longestHTML(n int) int { return min(4*n, 256<<10) + 64<<10 }

// render returns safe HTML, or false if the text is too expensive.
func render(source []byte) (string, bool) {
	if !affordable(source) {
		return "", false
	}
	document := renderer().Parser().Parse(text.NewReader(source))
	if addresses(document) > longestHTML(len(source)) {
		return "", false
	}
	var b bytes.Buffer
	if err := renderer().Renderer().Render(&b, source, document); err != nil {
		return "", false // bytes.Buffer does not fail
	}
	if b.Len() > longestHTML(len(source)) {
		return "", false
	}
	html := policy().SanitizeReader(&b)
	return html.String(), html.Len() <= longestHTML(len(source))
}

// addresses is the length of the addresses and titles of all links: one definition may be used
// thousands of times.
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

var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "\x00", "\ufffd", "\r\n", "<br>", "\n", "<br>", "\r", "<br>")

// Plain returns HTML that shows a text as it was written: escaped, in one paragraph.
func Plain(text string) string { return "<p>" + escaper.Replace(text) + "</p>" }
