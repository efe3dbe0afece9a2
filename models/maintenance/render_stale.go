package maintenance

import (
	"context"
	"fmt"
	"math"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/markdown"
	"github.com/meshyard/meshyard/models"
)

// staleBatch is the number of rows that one transaction of RenderStale updates.
const staleBatch = 50

// RenderStale renders the texts of rows whose HTML has an older version, in batches, each in its
// own transaction. It returns the number of updated rows. If it is called again, it continues.
func (s *Store) RenderStale(ctx context.Context) (updated int, err error) {
	for _, table := range []string{"things", "makes", "collections", "comments", "users"} {
		n, err := s.renderTable(ctx, table, models.TextsOf(table))
		updated += n
		if err != nil {
			return updated, fmt.Errorf("render %s: %w", table, err)
		}
	}
	return updated, nil
}

// renderTable is RenderStale for one table with one or two texts.
func (s *Store) renderTable(ctx context.Context, table string, texts []models.MarkdownText) (updated int, err error) {
	// The order is that of the index. A row that a transaction leaves stale is not read again.
	for lastVersion, last := int64(math.MinInt32), int64(0); ; {
		var rows []struct {
			ID            int64
			Version       int64 `bun:"html_version"`
			First, Second string
		}
		second := bun.Safe("''")
		if len(texts) > 1 {
			second = bun.Safe(texts[1].Column)
		}
		err := s.core.DB.Read.NewSelect().Table(table).ColumnExpr("id, html_version, ? AS first, ? AS second",
			bun.Ident(texts[0].Column), second).
			Where("html_version < ? AND (html_version, id) > (?, ?)", markdown.Version, lastVersion, last).
			Order("html_version", "id").Limit(staleBatch).Scan(ctx, &rows)
		if err != nil || len(rows) == 0 {
			return updated, err
		}
		html := make([]models.RenderedHTML, len(rows))
		for i, row := range rows {
			lastVersion, last = row.Version, row.ID
			for j, text := range []string{row.First, row.Second}[:len(texts)] {
				if err := s.core.RenderTo(ctx, &html[i], texts[j], &text); err != nil {
					return updated, err
				}
			}
		}
		err = s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
			for i, row := range rows {
				q := tx.NewUpdate().Table(table).Set("html_version = ?", markdown.Version).Where("id = ? AND html_version < ?",
					row.ID, markdown.Version)
				for j, text := range []string{row.First, row.Second}[:len(texts)] {
					// A text that has changed in the meantime is left to the next run.
					q = q.Set("? = ?", texts[j].HTMLColumn(), html[i][j].HTML).Where("? = ?", bun.Ident(texts[j].Column), text)
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
