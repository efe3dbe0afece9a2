// Package markdown turns what users write into HTML that is safe to show.
package markdown

import (
	"bytes"
	"crypto/sha256"
	"strings"
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"
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

// What is kept of what was rendered: at most rememberedTexts times the longest HTML, 32 MiB.
const (
	rememberedTexts = 512
	rememberedBytes = 64 << 10
)

// remembered holds the HTML of texts rendered before, by SHA-256 of the text. HTML depends on nothing but its text, so
// nothing can tell whether an answer comes from here, save by the time it takes.
var remembered = sync.OnceValue(func() *lru.Cache[[sha256.Size]byte, string] {
	c, err := lru.New[[sha256.Size]byte, string](rememberedTexts)
	if err != nil {
		panic(err) // the size is above 0
	}
	return c
})

// HTML renders Markdown (CommonMark with GitHub's tables, strikethrough and links) and leaves nothing in it that runs,
// loads from elsewhere by itself save pictures, or leaves the page's frame. Empty text gives empty HTML.
//
// A text that would cost a parser far more than its length, such as thousands of brackets that never close or lists
// hundreds deep, or whose HTML would pass four times its length and 64 KiB, is shown as it was written: escaped, in one
// paragraph, with a line break for each of its own. That is at most five times its length.
//
// HTML is safe for concurrent use, and remembers what it rendered last.
func HTML(text string) string {
	if text == "" {
		return ""
	}
	key := sha256.Sum256([]byte(text))
	if html, ok := remembered().Get(key); ok {
		return html
	}
	html, ok := render([]byte(text))
	if !ok {
		html = plain(text)
	}
	if len(html) <= rememberedBytes {
		remembered().Add(key, html)
	}
	return html
}

// longestHTML is the length up to which HTML is given for n bytes of Markdown.
func longestHTML(n int) int { return 4*n + 64<<10 }

// render gives safe HTML, or false when the text costs too much.
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

// addresses is the length of the addresses and titles of all links: one definition may be used thousands of times.
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

// plain shows a text as it was written.
func plain(text string) string { return "<p>" + escaper.Replace(text) + "</p>" }
