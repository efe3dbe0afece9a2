// Package markdown turns what users write into HTML that is safe to show.
package markdown

import (
	"bytes"
	"sync"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
)

var (
	renderer = sync.OnceValue(func() goldmark.Markdown { return goldmark.New(goldmark.WithExtensions(extension.GFM)) })
	policy   = sync.OnceValue(bluemonday.UGCPolicy)
)

// HTML renders Markdown (CommonMark with GitHub's tables, strikethrough and links) and leaves nothing in it that runs,
// loads from elsewhere by itself save pictures, or leaves the page's frame. Empty text gives empty HTML.
func HTML(text string) string {
	if text == "" {
		return ""
	}
	var b bytes.Buffer
	if err := renderer().Convert([]byte(text), &b); err != nil {
		return "" // bytes.Buffer does not fail
	}
	return policy().SanitizeReader(&b).String()
}
