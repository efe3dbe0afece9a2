package main

import (
	"context"
	"fmt"
	"os"
	"path"

	"github.com/meshyard/meshyard/internal/layout"
	"github.com/meshyard/meshyard/internal/outage"
	"github.com/meshyard/meshyard/models/importer"
)

// importing is an import in progress.
type importing struct {
	*importer.FoundImport

	seen, added, updated, there, failed, files, skipped int
}

func (im *importing) note(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%d: %s\n", im.seen, escaped(fmt.Sprintf(format, args...)))
}

// place imports the things at a place of a source. The error is an outage, or that ctx is done.
func (im *importing) place(ctx context.Context, src source, r layout.Result) error {
	im.skipped += len(r.Skipped)
	for _, s := range r.Skipped {
		fmt.Fprintln(os.Stderr, escaped(path.Join(src.name, s.Source)+": was skipped: "+s.Reason))
	}
	for _, t := range r.Things {
		im.seen++
		done, err := im.Thing(ctx, importer.FoundThing{Thing: t, Content: src, Skipped: r.Skipped})
		im.skipped += done.Skipped
		if done.ThingID != 0 {
			im.report(t.Name, done)
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case outage.Of(err) != nil: // others would fail, too
			return fmt.Errorf("%s: %w", t.Source, err)
		case err != nil:
			im.failed++
			im.note("%s: %v", path.Join(src.name, t.Source), err)
		}
	}
	return nil
}

// report counts a thing and prints what became of it.
func (im *importing) report(name string, done importer.Imported) {
	im.files += done.Files
	switch {
	case !done.Existed:
		im.added++
		im.note("thing %d, %s, with %s", done.ThingID, name, count(done.Files, "file"))
	case done.Files > 0:
		im.updated++
		im.note("thing %d, %s, now has %s more", done.ThingID, name, count(done.Files, "file"))
	default:
		im.there++
	}
	for _, note := range done.Notes {
		im.note("thing %d: %s", done.ThingID, note)
	}
}
