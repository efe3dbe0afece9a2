package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/internal/layout"
	"github.com/meshyard/meshyard/models/catalogue"
	"github.com/meshyard/meshyard/models/library"
)

var errNoLibrary = errors.New("there is no library: set --library NAME=DIR or MESHYARD_LIBRARY")

type libraryListCmd struct{}

func (libraryListCmd) Run(ctx context.Context, s config.Settings, logger *slog.Logger) error {
	return withStore(ctx, s, logger, func(store *catalogue.Catalogue) error {
		libraries, err := store.Library.List(ctx)
		if err != nil {
			return err
		}
		for _, l := range libraries {
			folder := l.Dir
			if folder == "" {
				folder = "(not among the settings)"
			}
			stdout.printf("%s\t%s\t%s, %s, %d missing, %d skipped\t%s\n", l.Name, escaped(folder), count(int(l.Things), "thing"),
				count(int(l.Files), "file"), l.Missing, l.Skipped, escaped(lastScan(l)))
		}
		return nil
	})
}

// lastScan describes the last scan of a library.
func lastScan(l library.State) string {
	switch {
	case l.StartedAt == nil:
		return "not scanned yet"
	case l.FinishedAt == nil && l.Scanner != "":
		return "a scan is in progress since " + l.StartedAt.UTC().Format(time.DateTime)
	case l.FinishedAt == nil:
		return "the scan of " + l.StartedAt.UTC().Format(time.DateTime) + " was interrupted"
	case l.Error != "":
		return "the scan of " + l.StartedAt.UTC().Format(time.DateTime) + " failed: " + l.Error
	}
	return "scanned at " + l.FinishedAt.UTC().Format(time.DateTime) + ": " + changes(l.Counts)
}

// changes describes what a scan did.
func changes(c library.Counts) string {
	return fmt.Sprintf("%s found; %s added with %s; %d changed, %d moved, %d missing",
		count(int(c.FilesFound), "file"), count(int(c.ThingsAdded), "thing"), count(int(c.FilesAdded), "file"),
		c.FilesChanged, c.FilesMoved, c.FilesMissing)
}

type libraryScanCmd struct {
	DryRun bool   `help:"List what would become a thing and what would be skipped, and change nothing."`
	Name   string `arg:"" optional:"" help:"Library to scan. Default: all."`
}

func (c libraryScanCmd) Run(ctx context.Context, s config.Settings, logger *slog.Logger) error {
	if len(s.Library) == 0 {
		return errNoLibrary
	}
	names := []string{c.Name}
	if c.Name == "" {
		names = nil
		for _, l := range s.Library {
			names = append(names, l.Name)
		}
	}
	return withStore(ctx, s, logger, func(store *catalogue.Catalogue) error {
		for _, name := range names {
			var err error
			if c.DryRun {
				err = dryRun(ctx, store, name)
			} else {
				err = scanLibrary(ctx, store, name)
			}
			if err != nil {
				return err
			}
		}
		if c.DryRun {
			return nil
		}
		started := time.Now()
		read, err := store.Library.Read(ctx, func(read int) {
			fmt.Fprintf(os.Stderr, "read %s (%.0f/s)\n", count(read, "file"), float64(read)/time.Since(started).Seconds())
		})
		if err != nil {
			return err
		}
		left, err := store.Library.Unread(ctx)
		if err == nil && left > 0 {
			err = fmt.Errorf("%s cannot be read; meshyard fsck lists them", count(int(left), "file"))
		}
		stdout.printf("read %s\n", count(read, "file"))
		return err
	})
}

// scanLibrary scans a library. If another scan is in progress, it waits until that has ended.
func scanLibrary(ctx context.Context, store *catalogue.Catalogue, name string) error {
	waiting := false
	for {
		started, shown := time.Now(), time.Now()
		counts, err := store.Library.Scan(ctx, name, func(p library.Progress) {
			if time.Since(shown) < time.Second {
				return
			}
			shown = time.Now()
			fmt.Fprintf(os.Stderr, "%s: %d of %d places, %s (%.0f/s), %s remaining\n", name, p.Done, p.Places,
				count(int(p.FilesRead), "file"), float64(p.FilesRead)/p.Elapsed.Seconds(), p.Remaining().Round(time.Second))
		})
		if errors.Is(err, library.ErrBusy) {
			if !waiting {
				fmt.Fprintf(os.Stderr, "%s: another scan is in progress, or was killed less than 10 seconds ago: waiting\n", name)
			}
			waiting = true
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(time.Second):
			}
			continue
		}
		if err != nil {
			return err
		}
		stdout.printf("%s: %s, in %s\n", name, changes(counts), time.Since(started).Round(10*time.Millisecond))
		return nil
	}
}

// dryRun prints what would become of the files of a library.
func dryRun(ctx context.Context, store *catalogue.Catalogue, name string) error {
	things, files, skipped, ignored := 0, 0, 0, 0
	err := store.Library.DryRun(ctx, name, func(r layout.Result) error {
		for _, t := range r.Things {
			things, files = things+1, files+len(t.Files)
			listThing(t)
		}
		for _, s := range r.Skipped {
			stdout.println("skipped", escaped(s.Source+": "+s.Reason))
		}
		skipped, ignored = skipped+len(r.Skipped), ignored+r.Ignored
		return nil
	})
	if err != nil {
		return err
	}
	stdout.printf("%s: %s with %s; would skip %s, and ignore %d of operating systems\n", name, count(things, "thing"),
		count(files, "file"), count(skipped, "file"), ignored)
	return skippedError(skipped)
}

type libraryProblemsCmd struct{}

func (libraryProblemsCmd) Run(ctx context.Context, s config.Settings, logger *slog.Logger) error {
	return withStore(ctx, s, logger, func(store *catalogue.Catalogue) error {
		found := 0
		err := store.Library.Problems(ctx, func(p library.Problem) error {
			found++
			line := strings.TrimSuffix(p.Library+"/"+p.Path, "/") + ": " + p.Reason
			if p.ThingID != 0 {
				line += fmt.Sprintf(" (thing %d)", p.ThingID)
			}
			stdout.println(escaped(line))
			return nil
		})
		if err == nil && found > 0 {
			err = fmt.Errorf("found %s", count(found, "problem"))
		}
		return err
	})
}
