package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/meshyard/meshyard/cmd/meshyard/server"
	"github.com/meshyard/meshyard/internal/archive"
	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/internal/database/dblock"
	archives "github.com/meshyard/meshyard/models/archive"
	"github.com/meshyard/meshyard/models/catalogue"
)

type exportCmd struct {
	Path        string `arg:"" help:"Folder to create, or a ZIP file if the name ends in .zip."`
	User        string `help:"Export only this user: the profile, things, makes, comments, collections, likes and files. Default: everything." placeholder:"NAME"`
	Credentials bool   `help:"Include password hashes, sign-ins by OpenID Connect, applications and access tokens, so that users can sign in and programs work after an import."`
}

func (c *exportCmd) Run(ctx context.Context, s config.Settings, logger *slog.Logger) error {
	return withStore(ctx, s, logger, func(store *catalogue.Catalogue) (err error) {
		w, err := archive.Create(c.Path)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, w.Close()) }()
		steps := &steps{verb: "exported"}
		m, err := store.Archive.Admin().Export(ctx, w, archives.Export{
			User: c.User, Credentials: c.Credentials,
			Progress: func(noun string, done int64) { steps.print(noun, done, 0) },
		})
		if err != nil {
			return fmt.Errorf("%w (run it again to continue)", err)
		}
		rows := int64(0)
		for _, n := range m.Nouns {
			rows += n.Rows
		}
		stdout.printf("exported %s and %s (%s)\n", count(rows, "row"), count(m.Files.Count, "file content"),
			count(m.Files.Bytes, "byte"))
		for _, sum := range m.Missing {
			stdout.printf("the content with the SHA-256 %s is missing from the bucket, damaged or unreadable\n", sum)
		}
		if len(m.Missing) > 0 {
			return fmt.Errorf("%s missing; the archive contains everything else", count(len(m.Missing), "content"))
		}
		return nil
	})
}

type importArchiveCmd struct {
	Path string `arg:"" help:"Folder or ZIP file that export made."`
	User string `help:"New username for the user of an archive of one user. Default: the name in the archive." placeholder:"NAME"`
}

func (c *importArchiveCmd) Run(ctx context.Context, s config.Settings, logger *slog.Logger) error {
	r, err := archive.Open(c.Path)
	if err != nil {
		return err
	}
	defer r.Close()
	if r.User != "" {
		return withNewStore(ctx, s, logger, func(store *catalogue.Catalogue) error { return c.load(ctx, store, r) })
	}
	return c.loadAlone(ctx, s, logger, r)
}

// loadAlone loads an archive of everything. It has the database for itself. An import that was
// interrupted continues when it is run again; until then, no other command uses the database.
func (c *importArchiveCmd) loadAlone(ctx context.Context, s config.Settings, logger *slog.Logger,
	r *archive.Reader) (err error) {
	lock, begun, err := server.Lock(ctx, s, dblock.Exclusive, "meshyard import archive")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	path, err := filepath.Abs(c.Path)
	if err != nil {
		return err
	}
	marker := dblock.Unfinished{Source: "archive " + r.ID, Command: "meshyard import archive " + path}
	if begun != nil && begun.Source != marker.Source {
		return begun.Error()
	}
	marked := begun != nil
	begin := func() error {
		marked = true
		return lock.Begin(ctx, marker)
	}
	if empty, err := server.IsEmpty(ctx, s); err != nil {
		return err
	} else if empty && !marked {
		if err := begin(); err != nil {
			return err
		}
	}
	return withHeldStore(ctx, s, logger, lock, func(store *catalogue.Catalogue) error {
		state, err := store.Archive.Admin().ArchiveState(ctx)
		if err != nil {
			return err
		}
		switch {
		case begun != nil && state == archives.ArchiveLoaded:
			// It was interrupted after its last row: nothing else has used the database since.
			fmt.Fprintln(os.Stderr, "the import is complete")
			return lock.Finish(ctx)
		case !marked && state == archives.ArchiveNotBegun:
			if err := begin(); err != nil {
				return err
			}
		}
		failed := c.load(ctx, store, r)
		if !marked {
			return failed
		}
		// The marker stays if rows are loaded that only this import can complete.
		state, err = store.Archive.Admin().ArchiveState(context.WithoutCancel(ctx))
		if err == nil && state != archives.ArchiveLoading {
			err = lock.Finish(context.WithoutCancel(ctx))
		}
		return errors.Join(failed, err)
	})
}

// load loads an archive, and reports what it has loaded.
func (c *importArchiveCmd) load(ctx context.Context, store *catalogue.Catalogue, r *archive.Reader) error {
	steps := &steps{verb: "imported"}
	started := time.Now()
	report, err := store.Archive.Admin().ImportArchive(ctx, r, archives.Import{
		User: c.User, Progress: steps.print,
		Renumbered: func(noun string, from, to int64) error {
			_, err := fmt.Fprintf(stdout, "%s\t%d\t%d\n", noun, from, to)
			return err
		},
		Lost: func(fileID int64, cause error) {
			fmt.Fprintf(os.Stderr, "file %d of the archive: %s\n", fileID, escaped(cause.Error()))
		},
	})
	if ctx.Err() != nil {
		return fmt.Errorf("%w (run it again to continue)", ctx.Err())
	}
	if err != nil {
		return err
	}
	for _, what := range report.LeftOut {
		fmt.Fprintln(os.Stderr, escaped(what))
	}
	fmt.Fprintf(os.Stderr, "imported %s in %s; running servers make %s\n", count(report.Rows, "row"), time.Since(started).
		Round(time.Second), count(report.Previews, "preview"))
	if report.Lost > 0 {
		return fmt.Errorf("%s lost the content; everything else is imported", count(report.Lost, "file"))
	}
	return nil
}

// steps prints the progress of an operation with several steps to standard error, at most once a
// second.
type steps struct {
	verb string
	at   time.Time
}

func (p *steps) print(noun string, done, total int64) {
	if time.Since(p.at) < time.Second {
		return
	}
	p.at = time.Now()
	of := ""
	if total > 0 {
		of = fmt.Sprintf(" of %d", total)
	}
	fmt.Fprintf(os.Stderr, "%s %d%s %s\n", p.verb, done, of, strings.ReplaceAll(noun, "_", " "))
}
