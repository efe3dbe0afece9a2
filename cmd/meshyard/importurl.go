package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/models/catalogue"
	"github.com/meshyard/meshyard/models/link"
)

type importURLCmd struct {
	Owner    string `required:"" help:"Username of the owner of the things." placeholder:"NAME"`
	Token    string `help:"Access token of the other service, if it requires one." env:"MESHYARD_IMPORT_TOKEN" placeholder:"TOKEN"`
	Category string `help:"Category of things without one, or whose category does not exist: its name or slug. Default: ${default}." default:"Other" placeholder:"CATEGORY"`
	DryRun   bool   `help:"List what would be imported and what would be skipped, and change nothing."`
	URL      string `arg:"" help:"URL of a thing of another Meshyard or of a service with the REST API, of a data package, of a ZIP archive or of a model file."`
}

// Run imports the things at a URL as drafts.
func (c *importURLCmd) Run(ctx context.Context, s config.Settings, logger *slog.Logger) error {
	// Quotas apply only to what users upload themselves.
	s.LiftQuotas()
	return withStore(ctx, s, logger, func(store *catalogue.Catalogue) error {
		owner, err := store.Admin().User(ctx, c.Owner)
		if err != nil {
			return err
		}
		caller := auth.Caller{UserID: owner.ID, Role: owner.Role(), Scopes: auth.Scopes{auth.Read, auth.Write}}
		if c.DryRun {
			return c.list(ctx, store, caller)
		}
		started, err := store.Link.Start(ctx, caller, link.Input{URL: c.URL, Token: c.Token, Category: c.Category})
		if err != nil {
			return explainLink(err)
		}
		done, err := store.Link.Run(ctx, caller, started.ID, func(i *link.Import) {
			if i.FilesTotal > 0 {
				fmt.Fprintf(os.Stderr, "%d of %s, %d of %d bytes\n", i.FilesDone, count(int(i.FilesTotal), "file"), i.BytesDone,
					i.BytesTotal)
			}
		})
		if err != nil {
			return fmt.Errorf("%w (run it again to continue)", err)
		}
		for _, skip := range done.Skipped {
			fmt.Fprintln(os.Stderr, escaped(skip.Path+": "+skip.Reason))
		}
		if done.State != link.Done {
			return explainLink(fmt.Errorf("the import has %s: %s", done.State, done.Error))
		}
		things, err := store.Link.Things(ctx, []int64{done.ID})
		if err != nil {
			return err
		}
		for _, id := range things[done.ID] {
			stdout.printf("imported thing %d\n", id)
		}
		return skippedError(len(done.Skipped))
	})
}

// list prints what would be imported.
func (c *importURLCmd) list(ctx context.Context, store *catalogue.Catalogue, caller auth.Caller) error {
	p, err := store.Link.Preview(ctx, caller, link.Source{URL: c.URL, Token: c.Token})
	if err != nil {
		return explainLink(err)
	}
	for _, t := range p.Things {
		line := fmt.Sprintf("thing %q under the license %s", t.Name, t.License)
		if t.Origin != nil && t.Origin.Creator != "" {
			line += fmt.Sprintf(" by %q", t.Origin.Creator)
		}
		if t.EarlierID != 0 {
			line += fmt.Sprintf(", which is thing %d", t.EarlierID)
		}
		stdout.println(escaped(line))
		for _, f := range t.Files {
			stdout.println(escaped(fmt.Sprintf("  %-10s %s, %d bytes", f.Kind, f.Path, f.Size)))
		}
	}
	for _, skip := range p.Skipped {
		stdout.println("skipped", escaped(skip.Path+": "+skip.Reason))
	}
	return skippedError(len(p.Skipped))
}

// explainLink adds to the error of a private address how to allow it.
func explainLink(err error) error {
	if strings.Contains(err.Error(), "no address of the public internet") {
		return fmt.Errorf("%w: --link-allow-private connects to private addresses", err)
	}
	return err
}
