package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/meshyard/meshyard/cmd/meshyard/server"
	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/models/catalogue"
	"github.com/meshyard/meshyard/models/maintenance"
	"github.com/meshyard/meshyard/models/previews"
)

type gcCmd struct {
	DryRun   bool          `help:"Only print what would be removed."`
	TakeOver bool          `help:"Collect garbage in this bucket from now on, although another database does so, or this one was restored to an earlier state. Files that only another database refers to are removed."`
	Grace    time.Duration `help:"Keep objects younger than this: they may belong to an upload in progress. Default: ${default}." default:"1h" placeholder:"DURATION"`
}

func (c *gcCmd) Run(ctx context.Context, s config.Settings, logger *slog.Logger) error {
	return withStore(ctx, s, logger, func(store *catalogue.Catalogue) error {
		if err := c.claim(ctx, store); err != nil {
			return err
		}
		sweep, err := store.Maintenance.CollectGarbage(ctx, c.Grace, c.DryRun)
		if sweep == nil {
			return err
		}
		removed := "removed"
		if c.DryRun {
			removed = "would remove"
		}
		for _, key := range sweep.Objects() {
			stdout.println(removed, key)
		}
		stdout.printf("%s %s and %s (%s)\n", removed, count(sweep.ExpiredUploads, "expired upload"),
			count(len(sweep.Objects()), "object"), count(sweep.Bytes, "byte"))
		return err
	})
}

// claim returns an error if this database must not collect garbage in the bucket.
func (c *gcCmd) claim(ctx context.Context, store *catalogue.Catalogue) error {
	switch {
	case c.DryRun:
		return nil
	case c.TakeOver:
		return store.Maintenance.TakeOverBucket(ctx)
	}
	err := store.Maintenance.CheckCollector(ctx)
	if errors.Is(err, maintenance.ErrOtherCollector) {
		return fmt.Errorf("%w: if the bucket belongs to this database alone, add --take-over", err)
	}
	return err
}

type deriveCmd struct {
	Again previews.Again `help:"Make again what has lost an object (missing), what failed (failed), or everything (all)." placeholder:"WHICH"`
}

func (c *deriveCmd) Run(ctx context.Context, s config.Settings, logger *slog.Logger) error {
	return withStore(ctx, s, logger, func(store *catalogue.Catalogue) error {
		wanted, err := store.Previews.SchedulePreviews(ctx, c.Again)
		if err != nil {
			return err
		}
		stdout.printf("queued %s: running servers make them\n", count(wanted, "preview"))
		return nil
	})
}

type recountCmd struct{}

func (*recountCmd) Run(ctx context.Context, s config.Settings, logger *slog.Logger) error {
	return withStore(ctx, s, logger, func(store *catalogue.Catalogue) error {
		changed, err := store.Maintenance.Recount(ctx)
		if err != nil {
			return err
		}
		stdout.printf("corrected %s and recomputed the popularity of all things\n", count(changed, "count"))
		return nil
	})
}

type doctorCmd struct{}

func (*doctorCmd) Run(ctx context.Context, s config.Settings, logger *slog.Logger) error {
	return withServer(ctx, s, logger, func(a *server.Server) error {
		findings, err := a.Diagnose(ctx)
		if err != nil {
			return err
		}
		for _, finding := range findings {
			stdout.println(finding)
		}
		if len(findings) > 0 {
			return fmt.Errorf("found %s", count(len(findings), "problem"))
		}
		stdout.println("found no problems")
		return nil
	})
}

// count returns a number with its noun: "1 place", "2 places".
func count[N int | int64](n N, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
