package models

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/markdown"
)

// The HTML of a Markdown text is rendered once, when the text is saved, and stored with the version
// of the renderer. A job renders the texts of rows with an older version again (see RenderStale);
// until then they are rendered on demand.

// MarkdownText names a column with a text in Markdown of up to [maxText] characters, whose HTML is
// in the column with the suffix _html.
type MarkdownText struct{ table, Column string }

// The texts in Markdown.
var (
	thingDescription      = MarkdownText{"things", "description"}
	thingInstructions     = MarkdownText{"things", "instructions"}
	MakeDescription       = MarkdownText{"makes", "description"}
	CollectionDescription = MarkdownText{"collections", "description"}
	CommentBody           = MarkdownText{"comments", "body"}
	userBio               = MarkdownText{"users", "bio"}

	markdownTexts = []MarkdownText{thingDescription, thingInstructions, MakeDescription, CollectionDescription,
		CommentBody, userBio}
)

// TextsOf returns the texts of a table.
func TextsOf(table string) []MarkdownText {
	return slices.DeleteFunc(slices.Clone(markdownTexts), func(t MarkdownText) bool { return t.table != table })
}

func (t MarkdownText) HTMLColumn() bun.Ident { return bun.Ident(t.Column + "_html") }

// renderersAtOnce is the maximum number of texts that the process renders at the same time: one
// takes up to about 100 ms and 10 MiB.
const renderersAtOnce = 2

// renderer renders Markdown with limited concurrency.
type renderer struct {
	slots    chan struct{}
	rendered atomic.Int64
}

func newRenderer() *renderer { return &renderer{slots: make(chan struct{}, renderersAtOnce)} }

// render waits for a slot, or until ctx ends, and returns the HTML of a text.
func (r *renderer) render(ctx context.Context, text string) (string, error) {
	if text == "" {
		return "", nil
	}
	if err := ctx.Err(); err != nil {
		return "", err
	}
	select {
	case r.slots <- struct{}{}:
		defer func() { <-r.slots }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	r.rendered.Add(1)
	return markdown.HTML(text), nil
}

// RenderMarkdown returns the HTML of a text in Markdown that is not stored, as [Store.render] does.
// It returns BadInput if the text could not be stored.
func (s *Store) RenderMarkdown(ctx context.Context, source string) (string, error) {
	if err := CheckText("text", source, MaxText); err != nil {
		return "", err
	}
	return s.render(ctx, source)
}

// render returns the HTML of a text whose HTML is not stored. It waits for a slot. The text counts
// towards maxRendered, the limit of one operation; beyond it, the text is returned unformatted.
func (s *Store) render(ctx context.Context, text string) (string, error) {
	if !mayRender(ctx, len(text)) {
		return markdown.Plain(text), nil
	}
	return s.renderer.render(ctx, text)
}

// Renders returns the number of texts that have been rendered since the store was created.
func (s *Store) Renders() int64 { return s.renderer.rendered.Load() }

// RenderedHTML holds the HTML of texts that will be saved.
type RenderedHTML []struct {
	MarkdownText
	HTML string
}

// RenderTo renders a text that will be saved, and adds the HTML to all. It does nothing if text is
// nil. It must be called before the transaction, which must not wait for a slot.
func (s *Store) RenderTo(ctx context.Context, all *RenderedHTML, of MarkdownText, text *string) error {
	if text == nil {
		return nil
	}
	html, err := s.renderer.render(ctx, *text)
	*all = append(*all, struct {
		MarkdownText
		HTML string
	}{of, html})
	return err
}

// Insert adds the HTML to the insertion of a row. All texts of the row must have been rendered.
func (all RenderedHTML) Insert(q *bun.InsertQuery) *bun.InsertQuery {
	for _, r := range all {
		q = q.Value(r.Column+"_html", "?", r.HTML)
	}
	return q.Value("html_version", "?", markdown.Version)
}

// Update adds the HTML to the update of a row in which some texts change. A row with an older
// version stays stale if another of its texts does not change, because the HTML of that text is
// still old.
func (all RenderedHTML) Update(q *bun.UpdateQuery) *bun.UpdateQuery {
	for _, r := range all {
		q = q.Set("? = ?", r.HTMLColumn(), r.HTML)
	}
	if len(all) > 0 && len(all) == len(TextsOf(all[0].table)) {
		return q.Set("html_version = ?", markdown.Version)
	}
	return q.Set("html_version = CASE WHEN html_version < ?0 THEN html_version ELSE ?0 END", markdown.Version)
}

// HTML returns the HTML of a text that was read as a field such as Thing.ShownDescription: HTML or,
// if stale is set, Markdown to render. It renders up to maxRendered in one operation; beyond that,
// texts are returned unformatted.
func (s *Store) HTML(ctx context.Context, text string, stale bool) (string, error) {
	if !stale {
		return text, nil
	}
	return s.render(ctx, text)
}
