package importer

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/dataset"
	"github.com/meshyard/meshyard/internal/license"
	"github.com/meshyard/meshyard/models"
)

// Import describes an import of things.
type Import struct {
	// Source identifies what is imported. An import that was interrupted continues when it is started
	// again with the same source.
	Source string
	Total  int // the number of things
	// Things returns the things from an index on, always the same ones in the same order.
	Things func(first int) iter.Seq[dataset.Thing]
	// Progress is called after each batch with the number of things, some of which may have existed
	// before.
	Progress func(done int)
	// Skipped is called with a description of each skipped item.
	Skipped func(why string)
	// CreatedUsers, if set, is called with the number of users that were created for authors.
	CreatedUsers func(n int)
	// Whole imports everything in one transaction, or nothing if anything would be skipped.
	Whole bool
}

// importBatch is the number of things that one transaction imports.
const importBatch = 1_000

// Import imports things with the metadata of their files. It publishes the things, and creates
// users for their authors. It keeps IDs and skips things whose ID exists, so repeating an import
// does not add things with an ID again. Each batch of things is committed together with the
// progress of the import: an interrupted import continues after its last batch. Import returns the
// number of new things.
//
// A server may run at the same time. On PostgreSQL a large import into an empty catalogue drops
// indexes until its end, which makes lists and searches slower meanwhile.
func (s *Store) Import(ctx context.Context, im Import) (added int, err error) {
	l := &loader{db: s.core.DB, Import: im, started: models.Now().Truncate(24 * time.Hour), tags: make(map[string]int64),
		words: make(map[string]bool)}
	if im.Whole {
		return l.importWhole(ctx)
	}
	if err := l.begin(ctx); err != nil {
		return 0, fmt.Errorf("import: %w", err)
	}
	if im.Progress != nil {
		im.Progress(l.done)
	}
	reading, stop := context.WithCancel(ctx)
	defer stop()
	for batch := range l.batches(reading) {
		if err := l.commit(ctx, batch); err != nil {
			return l.added, fmt.Errorf("import: after %d things: %w", l.done, err)
		}
	}
	if err := ctx.Err(); err != nil {
		return l.added, fmt.Errorf("import: after %d things: %w", l.done, err)
	}
	if err := l.finish(ctx); err != nil {
		return l.added, fmt.Errorf("import: all things are imported; counts and indexes: %w", err)
	}
	return l.added, nil
}

// importWhole imports everything in one transaction, or nothing if anything would be skipped.
func (l *loader) importWhole(ctx context.Context) (int, error) {
	skipped, report := 0, l.Skipped
	l.Skipped = func(why string) {
		skipped++
		report(why)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	err := l.inTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := l.findCategories(ctx, tx); err != nil {
			return err
		}
		if err := l.reserve(ctx, tx); err != nil {
			return err
		}
		for batch := range l.batches(ctx) {
			added, learned, err := l.add(ctx, tx, batch)
			if err != nil {
				return err
			}
			l.advance(len(batch), added, learned)
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case skipped > 0:
			return models.Invalid("", "%d of %d would be skipped, so nothing is imported", skipped, l.done)
		}
		return l.db.CountThings(ctx, tx)
	})
	if err != nil {
		return 0, fmt.Errorf("import: %w", err)
	}
	return l.added, nil
}

// loader imports batches.
type loader struct {
	Import
	db    *models.DB
	conn  bun.Conn // of the current transaction
	done  int      // things that have been imported or skipped
	added int      // things that this run has imported
	// started is the day on which the import began. Likes, downloads and so on from before the import
	// count for this day.
	started time.Time

	categories map[string]int64 // by slug and by name in lower case
	tags       map[string]int64 // by slug
	words      map[string]bool  // known to be in the vocabulary of things
}

// inTx runs fn in a transaction on a connection of its own, which COPY needs. Between transactions
// others can use the connection, because SQLite has only one for writing.
func (l *loader) inTx(ctx context.Context, fn func(ctx context.Context, tx bun.Tx) error) (err error) {
	if l.conn, err = l.db.Write.Conn(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.conn.Close()) }()
	return l.conn.RunInTx(ctx, nil, fn)
}

// begin stores a new import, or reads the progress of an interrupted one.
func (l *loader) begin(ctx context.Context) error {
	if err := l.findCategories(ctx, l.db.Read); err != nil {
		return err
	}
	if err := l.reserve(ctx, l.db.Write); err != nil {
		return err
	}
	row := &models.ImportRow{Source: l.Source}
	err := l.db.Write.NewSelect().Model(row).WherePK().Scan(ctx)
	if err == nil {
		l.done, l.started = row.Done, row.StartedAt
		return nil
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	return l.inTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		later, err := l.dropIndexes(ctx, tx)
		if err != nil {
			return err
		}
		row.Later, row.StartedAt = strings.Join(later, "\n"), l.started
		_, err = tx.NewInsert().Model(row).Exec(ctx)
		return err
	})
}

// findCategories reads the IDs of the categories.
func (l *loader) findCategories(ctx context.Context, db bun.IDB) (err error) {
	l.categories, err = models.CategoriesByName(ctx, db)
	return err
}

// categoryOf returns the most specific category of a thing, in lower case.
func categoryOf(th dataset.Thing) string { return strings.ToLower(cmp.Or(th.Subcategory, th.Category)) }

// ImportCheck returns a function that returns an error for what an import would skip or change
// of a thing.
func (s *Store) ImportCheck(ctx context.Context) (func(dataset.Thing) error, error) {
	categories, err := models.CategoriesByName(ctx, s.core.DB.Read)
	return func(th dataset.Thing) error {
		errs := []error{models.CheckText("name", th.Name, models.MaxName), models.CheckText("description", th.Description,
			models.MaxText)}
		if strings.TrimSpace(th.Name) == "" {
			errs = append(errs, models.Required("name"))
		}
		if author(th) != th.Author {
			errs = append(errs, models.Invalid("creator",
				"creator: %.60q is not a username: must be 1 to 64 letters, digits, '_', '.' or '-', beginning with a letter or digit, not digits alone", th.Author))
		}
		if th.License != "" && licenseID(th.License) == license.Unknown &&
			!strings.EqualFold(th.License, string(license.Unknown)) {
			errs = append(errs, models.Invalid("license",
				"license: %.60q is not one of %s, nor the name or SPDX identifier of a license that this server knows", th.License,
				models.Licenses))
		}
		o := th.Origin
		errs = append(errs, (&models.NewOrigin{Creator: &o.Creator, CreatorURL: &o.CreatorURL, URL: &o.URL, Site: &o.Site}).
			Check())
		if _, known := categories[categoryOf(th)]; categoryOf(th) != "" && !known {
			errs = append(errs, models.Invalid("category", "category: %.60q does not exist", categoryOf(th)))
		}
		_, err := models.CleanTags(th.Tags)
		return errors.Join(append(errs, err)...)
	}, err
}
