package main

import (
	"context"
	"log/slog"
	"strconv"
	"time"

	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/models/catalogue"
	"github.com/meshyard/meshyard/models/previews"
)

type previewListCmd struct{}

func (*previewListCmd) Run(ctx context.Context, s config.Settings, logger *slog.Logger) error {
	return withStore(ctx, s, logger, func(store *catalogue.Catalogue) error {
		out := table("ID", "FILE", "NAME", "OWNER", "FAILED", "ERROR")
		err := store.Previews.Admin().EachFailedPreview(ctx, func(f previews.FailedPreview) error {
			out.row(strconv.FormatInt(f.ID, 10), strconv.FormatInt(f.FileID, 10), f.FileName, f.Owner,
				f.FailedAt.Format(time.RFC3339), f.Error)
			return nil
		})
		if err != nil {
			return err
		}
		return out.Flush()
	})
}

type previewRetryCmd struct {
	IDs []int64 `arg:"" name:"id" help:"Ids, as printed by preview list."`
}

func (c *previewRetryCmd) Run(ctx context.Context, s config.Settings, logger *slog.Logger) error {
	return withStore(ctx, s, logger, func(store *catalogue.Catalogue) error {
		for _, id := range c.IDs {
			if err := store.Previews.Admin().RetryPreview(ctx, id); err != nil {
				return err
			}
			stdout.println("queued preview", id)
		}
		return nil
	})
}
