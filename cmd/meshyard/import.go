package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"time"

	"github.com/meshyard/meshyard/cmd/meshyard/server"
	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/internal/dataset"
	"github.com/meshyard/meshyard/internal/dataset/resample"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/catalogue"
	"github.com/meshyard/meshyard/models/importer"
	"github.com/meshyard/meshyard/models/uploads"
)

type importCatalogueCmd struct {
	Dir    string `arg:"" type:"existingdir" help:"Folder with the tables."`
	Meshes string `type:"existingdir" help:"Folder with model files, searched recursively. The first file is attached to the first thing, and so on." placeholder:"DIR"`
	Scale  int    `help:"Generate this many things with the distribution of those in the tables, to try a large catalogue. Default: load the tables as they are." placeholder:"N"`
	Seed   uint64 `help:"With --scale: the same seed generates the same things. Default: ${default}." default:"1" placeholder:"N"`
}

// importMemory is the soft memory limit of an import in bytes. It is lower than that of a server:
// above it, the garbage collector runs more often.
const importMemory = 160 << 20

// Run loads the tables. If an earlier run was killed, it continues where that one stopped.
func (c *importCatalogueCmd) Run(ctx context.Context, s config.Settings, logger *slog.Logger) (err error) {
	// Quotas apply only to what users upload themselves.
	s.LiftQuotas()
	debug.SetMemoryLimit(importMemory)
	tables, err := dataset.Open(c.Dir)
	if err != nil {
		return err
	}
	place, err := filepath.Abs(c.Dir)
	if err != nil {
		return err
	}
	a, err := server.Open(ctx, s, logger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	for _, why := range tables.Skipped {
		fmt.Fprintln(os.Stderr, "skipped:", escaped(why))
	}
	im := importer.Import{Source: place, Total: tables.Len(), Things: tables.ThingsFrom}
	if c.Scale > 0 {
		im.Source, im.Total = fmt.Sprintf("%s as %d things by seed %d", place, c.Scale, c.Seed), c.Scale
		r := resample.FromTables(tables)
		im.Things = func(first int) iter.Seq[dataset.Thing] { return r.ThingsFrom(c.Scale, c.Seed, first) }
	}
	progress := newProgress(im.Total)
	im.Progress = progress.print
	users := 0
	im.CreatedUsers = func(n int) { users += n }
	im.Skipped = func(why string) { fmt.Fprintln(os.Stderr, "skipped:", escaped(why)) }
	added, err := a.Store.Importer.Import(ctx, im)
	if err != nil {
		return fmt.Errorf("%w (run it again to continue)", err)
	}
	if c.Meshes != "" {
		if err := attach(ctx, a.Store, c.Meshes, im.Things(0)); err != nil {
			return fmt.Errorf("%w (the things are imported; run it again to continue)", err)
		}
	}
	stdout.printf("imported %s, %d of them new, and created %s, in %s\n", count(im.Total, "thing"), added,
		count(users, "user"), time.Since(progress.started).Round(time.Second))
	return nil
}

type importThingsCmd struct {
	File string `arg:"" type:"existingfile" help:"File with the extension .csv, .jsonl or .ndjson."`
}

// Run checks all rows before it loads any, and prints an error for each invalid one.
func (c *importThingsCmd) Run(ctx context.Context, s config.Settings, logger *slog.Logger) (err error) {
	a, err := server.Open(ctx, s, logger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	total, err := c.check(ctx, a.Store)
	if err != nil {
		return err
	}
	progress := newProgress(total)
	began := time.Now().UTC()
	users := 0
	added, err := a.Store.Importer.Import(ctx, importer.Import{
		Total: total, Whole: true, Progress: progress.print,
		Things: func(int) iter.Seq[dataset.Thing] {
			return func(yield func(dataset.Thing) bool) {
				for row := range c.rows() {
					if row.Thing.Date.IsZero() {
						row.Thing.Date = began
					}
					if row.Err != nil || !yield(row.Thing) {
						return
					}
				}
			}
		},
		Skipped:      func(why string) { fmt.Fprintln(os.Stderr, escaped(why)) },
		CreatedUsers: func(n int) { users += n },
	})
	if err == nil && added != total {
		err = fmt.Errorf("%s changed while it was read: imported %d of %d rows", c.File, added, total)
	}
	if err != nil {
		return err
	}
	stdout.printf("imported %s and created %s in %s\n", count(added, "thing"), count(users, "user"),
		time.Since(progress.started).Round(time.Second))
	return nil
}

// rows returns the rows of the file.
func (c *importThingsCmd) rows() iter.Seq2[dataset.Row, error] {
	return func(yield func(dataset.Row, error) bool) {
		format, err := dataset.FormatOf(c.File)
		if err != nil {
			yield(dataset.Row{}, err)
			return
		}
		file, err := os.Open(c.File)
		if err != nil {
			yield(dataset.Row{}, err)
			return
		}
		defer file.Close()
		for row, err := range dataset.Rows(file, format) {
			if !yield(row, err) {
				return
			}
		}
	}
}

// check validates all rows and returns their number.
func (c *importThingsCmd) check(ctx context.Context, store *catalogue.Catalogue) (total int, err error) {
	check, err := store.Importer.ImportCheck(ctx)
	if err != nil {
		return 0, err
	}
	wrong, named := 0, make(map[int64]int)
	for row, err := range c.rows() {
		if err != nil {
			return 0, err
		}
		total++
		problem := row.Err
		if problem == nil {
			problem = check(row.Thing)
		}
		switch before, twice := named[row.Thing.ID]; {
		case problem != nil:
		case row.Thing.ID != 0 && twice:
			problem = fmt.Errorf("id: %d is also the id of row %d", row.Thing.ID, before)
		case total > 1 && (row.Thing.ID == 0) != (named[0] != 0):
			problem = errors.New("id: either all rows or none must have one")
		}
		if problem == nil {
			named[row.Thing.ID] = row.Number
			continue
		}
		wrong++
		if row.Err == nil { // else the error contains the row number
			problem = fmt.Errorf("row %d (line %d): %w", row.Number, row.Line, problem)
		}
		fmt.Fprintln(os.Stderr, escaped(problem.Error()))
	}
	if wrong > 0 {
		return 0, fmt.Errorf("%d of %d rows are invalid, so nothing was loaded", wrong, total)
	}
	return total, nil
}

// attach uploads each model file in dir to one thing, as the owner of the thing: the first file to
// the first thing, and so on. It skips a file if the thing already has one with the same name.
func attach(ctx context.Context, store *catalogue.Catalogue, dir string, things iter.Seq[dataset.Thing]) error {
	var paths []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && models.IsModelName(path) {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		return err
	}
	attached := 0
	next, stop := iter.Pull(things)
	defer stop()
	for _, path := range paths {
		th, ok := next()
		if !ok {
			break // there are fewer things than files
		}
		done, err := attachOne(ctx, store, path, th.ID)
		if err != nil {
			return fmt.Errorf("%s onto thing %d: %w", path, th.ID, err)
		}
		if done {
			attached++
		}
	}
	stdout.printf("uploaded %d of %d model files\n", attached, len(paths))
	return nil
}

func attachOne(ctx context.Context, store *catalogue.Catalogue, path string, thingID int64) (done bool, err error) {
	found, err := store.ThingsByID(ctx, auth.Caller{}, models.AllThingFields, []int64{thingID})
	if err != nil || found[thingID] == nil {
		return false, err // the import skipped the thing
	}
	there, err := store.FilesOn(ctx, models.AllFileFields, models.OnThing, []int64{thingID})
	if err != nil || slices.ContainsFunc(there[thingID],
		func(f *models.File) bool { return f.Name == filepath.Base(path) && f.SHA256 != "" }) {
		return false, err
	}
	file, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer file.Close()
	owner := auth.Caller{UserID: found[thingID].OwnerID}
	up, err := store.Uploads.Upload(ctx, owner, uploads.NewUpload{Name: filepath.Base(path), Bytes: file})
	if err != nil {
		return false, err
	}
	_, err = store.Finalize(ctx, owner, []models.FinalizeFile{{ID: up.ID}}, models.Target{Type: models.OnThing,
		ID: thingID})
	return err == nil, err
}

// progress prints the progress of a long operation, at most once a second.
type progress struct {
	total, first int
	started, at  time.Time
}

func newProgress(total int) *progress {
	return &progress{total: total, first: -1, started: time.Now()}
}

func (p *progress) print(done int) {
	if p.first < 0 {
		// Things of an earlier run do not count towards the rate of this one.
		p.first = done
	}
	switch {
	case done == p.total:
		fmt.Fprintf(os.Stderr, "imported %s; counting and building indexes\n", count(done, "thing"))
	case done > p.first && time.Since(p.at) >= time.Second:
		p.at = time.Now()
		rate := float64(done-p.first) / time.Since(p.started).Seconds()
		left := time.Duration(float64(p.total-done) / rate * float64(time.Second)).Round(time.Second)
		fmt.Fprintf(os.Stderr, "%d of %d things, %.0f a second, %s to go\n", done, p.total, rate, left)
	}
}
