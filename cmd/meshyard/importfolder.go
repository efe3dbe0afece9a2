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

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/internal/dataset/folder"
	"github.com/meshyard/meshyard/internal/layout"
	"github.com/meshyard/meshyard/internal/license"
	"github.com/meshyard/meshyard/models/catalogue"
	"github.com/meshyard/meshyard/models/importer"
)

// importOptions are the flags of imports from folders and archives.
type importOptions struct {
	Owner    string       `required:"" help:"Username of the owner of the things." placeholder:"NAME"`
	Publish  bool         `help:"Publish the things that have a model and a known license, or --license. Default: they are drafts."`
	DryRun   bool         `help:"List what would become a thing and what would be skipped, and change nothing."`
	Loose    layout.Loose `help:"Models that lie beside other things, or in the top folder: each a thing, one thing for each folder, or auto. Default: ${default}." default:"auto" enum:"auto,each,one"`
	Template string       `help:"What the folders of each level are, such as {creator}/{collection}/{thing}. Default: found by rules." placeholder:"TEMPLATE"`
	License  string       `help:"License of things without a known one: an SPDX identifier such as CC-BY-4.0, or a code of the REST API. Default: unknown." placeholder:"ID"`
	Category string       `help:"Category of things without one: its name, slug or id. Default: ${default}." default:"Other" placeholder:"CATEGORY"`
}

type importFolderCmd struct {
	importOptions
	Dir string `arg:"" type:"existingdir" help:"Folder that is a thing or contains things, also in folders below it."`
}

func (c *importFolderCmd) Run(ctx context.Context, s config.Settings, logger *slog.Logger) error {
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return err
	}
	files, err := folder.OpenDir(dir)
	if err != nil {
		return err
	}
	defer files.Close()
	return c.run(ctx, s, logger, []source{{files.Tree, folder.CleanName(filepath.Base(dir)), false}})
}

type importZipCmd struct {
	importOptions
	Files         []string    `arg:"" type:"existingfile" help:"ZIP archives of one or more things."`
	UnpackedLimit config.Size `help:"Maximum size of all files of an archive together, such as 5GiB. Default: 1 GiB, or 50 times the size of the archive if that is more." placeholder:"SIZE"`
}

func (c *importZipCmd) Run(ctx context.Context, s config.Settings, logger *slog.Logger) error {
	var sources []source
	for _, file := range c.Files {
		archive, err := folder.OpenZIP(file, int64(c.UnpackedLimit))
		if _, ok := errors.AsType[*folder.TooLargeError](err); ok {
			return fmt.Errorf("%s: %w: set --unpacked-limit to import it", file, err)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		defer archive.Close()
		base := filepath.Base(file)
		sources = append(sources, source{archive.Tree, folder.CleanName(strings.TrimSuffix(base, filepath.Ext(base))), true})
	}
	return c.run(ctx, s, logger, sources)
}

// source is a folder or an archive that contains things.
type source struct {
	*folder.Tree
	name    string
	archive bool
}

// find calls visit for the places of the source. It reports notes about names and unread folders on
// standard error first, and returns the number of those that say that something is skipped.
func (src source) find(ctx context.Context, o importOptions, visit func(layout.Result) error) (skipped int, err error) {
	options := layout.Options{Name: src.name, Archive: src.archive, Loose: o.Loose}
	if o.Template != "" {
		if options.Template, err = layout.ParseTemplate(o.Template); err != nil {
			return 0, fmt.Errorf("--%w", err)
		}
	}
	for _, note := range src.Notes {
		fmt.Fprintln(os.Stderr, escaped(src.name+": "+note))
		if strings.Contains(note, "was skipped") {
			skipped++
		}
	}
	return skipped, layout.Find(ctx, src, options, visit)
}

// run imports the things of all sources. If a thing cannot be imported, it continues with the next
// one and returns an error at the end. It stops at an outage.
func (o importOptions) run(ctx context.Context, s config.Settings, logger *slog.Logger, sources []source) error {
	fallback, err := licenseID(o.License)
	if err != nil {
		return err
	}
	if o.DryRun {
		return o.list(ctx, sources)
	}
	// Quotas apply only to what users upload themselves.
	s.LiftQuotas()
	return withStore(ctx, s, logger, func(store *catalogue.Catalogue) error {
		owner, err := store.Admin().User(ctx, o.Owner)
		if err != nil {
			return err
		}
		caller := auth.Caller{UserID: owner.ID, Role: owner.Role(), Scopes: auth.Scopes{auth.Read, auth.Write}}
		im := &importing{FoundImport: store.Importer.Found(caller, importer.FoundOptions{Publish: o.Publish,
			License: fallback, Category: o.Category})}
		started := time.Now()
		for _, src := range sources {
			skipped, err := src.find(ctx, o, func(r layout.Result) error { return im.place(ctx, src, r) })
			im.skipped += skipped
			if err != nil {
				return fmt.Errorf("%s: %w (run it again to continue)", src.name, err)
			}
		}
		if im.seen == 0 && im.skipped == 0 {
			return errNoThing
		}
		stdout.printf("imported %s with %s in %s; updated %s; %d had been imported before\n", count(im.added, "thing"),
			count(im.files, "file"),
			time.Since(started).Round(time.Second), count(im.updated, "thing"), im.there)
		var failures []error
		if im.failed > 0 {
			failures = append(failures, fmt.Errorf("%d of %d things were not imported", im.failed, im.seen))
		}
		return errors.Join(append(failures, skippedError(im.skipped))...)
	})
}

// licenseID returns the SPDX identifier that the flag --license means; "" if it is empty.
func licenseID(flag string) (license.ID, error) {
	if flag == "" {
		return "", nil
	}
	if id, ok := license.Coded(flag); ok {
		return id, nil
	}
	if l, ok := license.Find(flag); ok {
		return l.ID, nil
	}
	ids := make([]license.ID, len(license.All))
	for i, l := range license.All {
		ids[i] = l.ID
	}
	return "", fmt.Errorf("--license %q: must be one of %s, or a code of the REST API such as cc-sa", flag, ids)
}

var errNoThing = errors.New("found no thing: a thing is a folder with at least one model")

// skippedError returns an error that says how many files were skipped, or nil.
func skippedError(n int) error {
	if n == 0 {
		return nil
	}
	return fmt.Errorf("skipped %s: see above", count(n, "file"))
}

// list prints what would become of the files of all sources.
func (o importOptions) list(ctx context.Context, sources []source) error {
	things, files, skipped, ignored := 0, 0, 0, 0
	for _, src := range sources {
		more, err := src.find(ctx, o, func(r layout.Result) error {
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
		skipped += more
		if err != nil {
			return fmt.Errorf("%s: %w", src.name, err)
		}
	}
	stdout.printf("would import %s with %s; would skip %s, and ignore %d of operating systems\n", count(things, "thing"),
		count(files, "file"), count(skipped, "file"), ignored)
	if things == 0 && skipped == 0 {
		return errNoThing
	}
	return skippedError(skipped)
}

// listThing prints a thing and what its files are.
func listThing(t layout.Thing) {
	line := fmt.Sprintf("thing %q from %q", t.Name, t.Source)
	if len(t.Collection) > 0 {
		line += fmt.Sprintf(" in collection %q", strings.Join(t.Collection, " / "))
	}
	if t.Creator != "" {
		line += fmt.Sprintf(" by %q", t.Creator)
	}
	stdout.println(escaped(line))
	for _, f := range t.Files {
		line := fmt.Sprintf("  %-10s %s", f.Kind, f.Path)
		if f.Variant != "" {
			line += " [" + f.Variant + "]"
		}
		if f.Cover {
			line += " (cover)"
		}
		stdout.println(escaped(line))
	}
	for _, u := range t.Used {
		stdout.println(escaped(fmt.Sprintf("  %-10s %s as %s", "read", u.Source, u.As)))
	}
	for _, note := range t.Notes {
		stdout.println(escaped("  note       " + note))
	}
}
