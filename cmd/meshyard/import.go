package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/meshyard/meshyard/cmd/meshyard/app"
	"github.com/meshyard/meshyard/internal/catalogue"
	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/models"
)

type importCatalogueCmd struct {
	Dir string `arg:"" type:"existingdir" help:"Folder with the tables."`
}

// Run loads the tables. Killed, it goes on where it was when it is run again.
func (c *importCatalogueCmd) Run(ctx context.Context, s config.Settings, logger *slog.Logger) (err error) {
	tables, err := catalogue.Open(c.Dir)
	if err != nil {
		return err
	}
	place, err := filepath.Abs(c.Dir)
	if err != nil {
		return err
	}
	a, err := app.Open(ctx, s, logger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	for _, why := range tables.Skipped {
		fmt.Fprintln(os.Stderr, "skipped:", why)
	}
	im := models.Import{Source: place, Total: tables.Len(), Things: tables.Things}
	progress := newProgress(im.Total)
	im.Progress = progress.tell
	im.Skipped = func(why string) { fmt.Fprintln(os.Stderr, "skipped:", why) }
	added, err := a.Store.Import(ctx, im)
	if err != nil {
		return fmt.Errorf("%w (run it again to go on)", err)
	}
	fmt.Printf("%d things are in, %d of them new, in %s\n", im.Total, added, time.Since(progress.started).Round(time.Second))
	return nil
}

// progress tells how far a long piece of work is, at most once a second.
type progress struct {
	total, first int
	started, at  time.Time
}

func newProgress(total int) *progress {
	return &progress{total: total, first: -1, started: time.Now()}
}

func (p *progress) tell(done int) {
	if p.first < 0 {
		p.first = done // what an earlier run did says nothing of the rate of this one
	}
	if done < p.total && time.Since(p.at) < time.Second {
		return
	}
	p.at = time.Now()
	rate := float64(done-p.first) / time.Since(p.started).Seconds()
	left := "…"
	if rate > 0 {
		left = (time.Duration(float64(p.total-done)/rate) * time.Second).String()
	}
	if done == p.total {
		left = "counting, building indexes"
	}
	fmt.Fprintf(os.Stderr, "%d of %d things, %.0f a second, %s to go\n", done, p.total, rate, left)
}
