package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/meshyard/meshyard/internal/bucket"
	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/models/catalogue"
	"github.com/meshyard/meshyard/models/fsck"
	"github.com/meshyard/meshyard/models/maintenance"
)

type fsckCmd struct {
	Rehash     bool          `help:"Read every content and compare its SHA-256."`
	Grace      time.Duration `help:"Do not report objects younger than this: they may belong to an upload in progress. Default: ${default}." default:"1h" placeholder:"DURATION"`
	Repair     bool          `help:"Repair what can be: make previews, counts and rows of the search index again, and remove what is left over. A damaged file is marked, so that an upload of the same bytes replaces it."`
	RepairFrom string        `help:"Bucket from which --repair replaces missing and damaged objects, such as that of a backup: file:///DIR/objects or s3://BUCKET?region=…." placeholder:"URL"`
	Workers    int           `help:"Objects to check concurrently. Default: ${default}." default:"8" placeholder:"N"`
	Prefix     string        `help:"Check only the objects whose keys begin with this, such as files/3f, and no rows." placeholder:"PREFIX"`
	Resume     bool          `help:"Go on where an interrupted run with the same options has stopped."`
}

// Validate implements the interface of kong that checks a command before it runs.
func (c *fsckCmd) Validate() error {
	if c.RepairFrom != "" && !c.Repair {
		return errors.New("--repair-from: requires --repair")
	}
	return checkWorkers(c.Workers)
}

// checkWorkers returns an error if a command cannot handle so many objects concurrently.
func checkWorkers(n int) error {
	if n < 1 || n > maxWorkers {
		return fmt.Errorf("--workers %d: must be from 1 to %d", n, maxWorkers)
	}
	return nil
}

// The number of objects that a command handles concurrently.
const (
	defaultWorkers = 8
	maxWorkers     = 256
)

func (c *fsckCmd) Run(ctx context.Context, s config.Settings, logger *slog.Logger) error {
	return withStore(ctx, s, logger, func(store *catalogue.Catalogue) error {
		o := fsck.Options{Grace: c.Grace, Rehash: c.Rehash, Repair: c.Repair, Workers: c.Workers, Prefix: c.Prefix,
			Resume: c.Resume}
		if c.RepairFrom != "" {
			from, err := bucket.Open(ctx, c.RepairFrom)
			if err != nil {
				return fmt.Errorf("--repair-from: %w", err)
			}
			defer from.Close()
			o.From = from
		}
		return check(ctx, store, logger, o)
	})
}

// check runs fsck and prints the problems. It returns an error if some are not repaired.
func check(ctx context.Context, store *catalogue.Catalogue, logger *slog.Logger, o fsck.Options) error {
	began, repaired := time.Now(), 0
	problems, err := store.Fsck.Check(ctx, o, func(p fsck.Problem) {
		if p.Repaired != "" {
			repaired++
		}
		stdout.println(p)
	})
	if err != nil {
		return err
	}
	if o.Prefix == "" {
		recordRun(ctx, store, logger, maintenance.LastRun{Command: maintenance.RunFsck, At: began, Problems: problems})
	}
	if repaired > 0 {
		stdout.println("repaired", count(repaired, "problem"))
	}
	if problems > 0 {
		return fmt.Errorf("database and bucket disagree in %s", count(problems, "place"))
	}
	stdout.println("database and bucket agree")
	return nil
}
