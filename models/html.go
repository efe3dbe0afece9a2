package models

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/markdown"
)

// The HTML of a Markdown text is rendered once, when the text is saved, and stored with the version
// of the renderer. A job renders the texts of rows with an older version again (see RenderStale);
// until then they are rendered on demand.

// markdownText names a column with a text in Markdown of up to [maxText] characters, whose HTML is
// in the column with the suffix _html.
type markdownText struct{ table, column string }

// The texts in Markdown.
var (
	thingDescription      = markdownText{"things", "description"}
	thingInstructions     = markdownText{"things", "instructions"}
	MakeDescription       = markdownText{"makes", "description"}
	collectionDescription = markdownText{"collections", "description"}
	CommentBody           = markdownText{"comments", "body"}
	userBio               = markdownText{"users", "bio"}

	markdownTexts = []markdownText{thingDescription, thingInstructions, MakeDescription, collectionDescription, CommentBody, userBio}
)

// textsOf returns the texts of a table.
func textsOf(table string) []markdownText {
	return slices.DeleteFunc(slices.Clone(markdownTexts), func(t markdownText) bool { return t.table != table })
}

func (t markdownText) html() bun.Ident { return bun.Ident(t.column + "_html") }

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
	markdownText
	html string
}

// RenderTo renders a text that will be saved, and adds the HTML to all. It does nothing if text is
// nil. It must be called before the transaction, which must not wait for a slot.
func (s *Store) RenderTo(ctx context.Context, all *RenderedHTML, of markdownText, text *string) error {
	if text == nil {
		return nil
	}
	html, err := s.renderer.render(ctx, *text)
	*all = append(*all, struct {
		markdownText
		html string
	}{of, html})
	return err
}

// Insert adds the HTML to the insertion of a row. All texts of the row must have been rendered.
func (all RenderedHTML) Insert(q *bun.InsertQuery) *bun.InsertQuery {
	for _, r := range all {
		q = q.Value(r.column+"_html", "?", r.html)
	}
	return q.Value("html_version", "?", markdown.Version)
}

// Update adds the HTML to the update of a row in which some texts change. A row with an older
// version stays stale if another of its texts does not change, because the HTML of that text is
// still old.
func (all RenderedHTML) Update(q *bun.UpdateQuery) *bun.UpdateQuery {
	for _, r := range all {
		q = q.Set("? = ?", r.markdownText.html(), r.html)
	}
	if len(all) > 0 && len(all) == len(textsOf(all[0].table)) {
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

// staleBatch is the number of rows that one transaction of RenderStale updates.
const staleBatch = 50

// RenderStale renders the texts of rows whose HTML has an older version, in batches, each in its
// own transaction. It returns the number of updated rows. If it is called again, it continues.
func (s *Store) RenderStale(ctx context.Context) (updated int, err error) {
	for _, table := range []string{"things", "makes", "collections", "comments", "users"} {
		n, err := s.renderTable(ctx, table, textsOf(table))
		updated += n
		if err != nil {
			return updated, fmt.Errorf("render %s: %w", table, err)
		}
	}
	return updated, nil
}

// renderTable is RenderStale for one table with one or two texts.
func (s *Store) renderTable(ctx context.Context, table string, texts []markdownText) (updated int, err error) {
	// The order is that of the index. A row that a transaction leaves stale is not read again.
	for lastVersion, last := int64(math.MinInt32), int64(0); ; {
		var rows []struct {
			ID            int64
			Version       int64 `bun:"html_version"`
			First, Second string
		}
		second := bun.Safe("''")
		if len(texts) > 1 {
			second = bun.Safe(texts[1].column)
		}
		err := s.DB.Read.NewSelect().Table(table).ColumnExpr("id, html_version, ? AS first, ? AS second", bun.Ident(texts[0].column), second).
			Where("html_version < ? AND (html_version, id) > (?, ?)", markdown.Version, lastVersion, last).Order("html_version", "id").Limit(staleBatch).Scan(ctx, &rows)
		if err != nil || len(rows) == 0 {
			return updated, err
		}
		html := make([]RenderedHTML, len(rows))
		for i, row := range rows {
			lastVersion, last = row.Version, row.ID
			for j, text := range []string{row.First, row.Second}[:len(texts)] {
				if err := s.RenderTo(ctx, &html[i], texts[j], &text); err != nil {
					return updated, err
				}
			}
		}
		err = s.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
			for i, row := range rows {
				q := tx.NewUpdate().Table(table).Set("html_version = ?", markdown.Version).Where("id = ? AND html_version < ?", row.ID, markdown.Version)
				for j, text := range []string{row.First, row.Second}[:len(texts)] {
					// A text that has changed in the meantime is left to the next run.
					q = q.Set("? = ?", texts[j].html(), html[i][j].html).Where("? = ?", bun.Ident(texts[j].column), text)
				}
				if _, err := q.Exec(ctx); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return updated, err
		}
		updated += len(rows)
	}
}
