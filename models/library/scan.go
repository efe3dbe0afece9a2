package library

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/layout"
	"github.com/meshyard/meshyard/models"
)

// Progress is the progress of a scan.
type Progress struct {
	Counts
	Places, Done int // the parts of the library that have changed, and how many of them are stored
	Elapsed      time.Duration
}

// Remaining returns the estimated time until the end of the scan; 0 if it is not known yet.
func (p Progress) Remaining() time.Duration {
	if p.Done == 0 {
		return 0
	}
	return time.Duration(float64(p.Elapsed) / float64(p.Done) * float64(p.Places-p.Done))
}

// The size of a transaction of a scan.
const (
	batchFiles  = 1_000
	batchPlaces = 100
)

// scan is a scan in progress.
type scan struct {
	*Store
	folder  Folder
	root    *os.Root
	library *Library
	lease   *lease
	owner   auth.Caller
	tree    *tree
	moved   *vanished
	sums    map[string]string // SHA-256 of files that were read, of the current batch
	counts  Counts
	batch   batch

	started      time.Time // of storing
	places, done int
	report       func(Progress)
}

// Scan brings the rows of a library up to date with its folder and returns what it did. It returns
// ErrBusy if another scan of the library is in progress. If ctx ends, the next scan continues.
// report may be nil. It opens a transaction for each batch of places.
func (s *Store) Scan(ctx context.Context, name string, report func(Progress)) (counts Counts, err error) {
	folder, err := s.folder(name)
	if err != nil {
		return Counts{}, err
	}
	owner, err := s.owner(ctx)
	if err != nil {
		return Counts{}, err
	}
	l, err := s.row(ctx, name)
	if err != nil {
		return Counts{}, err
	}
	held, err := s.acquire(ctx, l)
	if err != nil {
		return Counts{}, err
	}
	keeping, stop := context.WithCancel(ctx)
	defer stop()
	go held.keep(keeping)
	defer func() { err = errors.Join(err, held.release(ctx, counts, err)) }()
	if report == nil {
		report = func(Progress) {}
	}
	root, err := os.OpenRoot(folder.Dir)
	if err != nil {
		return Counts{}, fmt.Errorf("library %s: %w", name, err)
	}
	defer root.Close()
	sc := &scan{Store: s, folder: folder, root: root, library: l, lease: held, owner: owner, report: report,
		sums: map[string]string{}}
	if err := sc.run(ctx); err != nil {
		return sc.counts, fmt.Errorf("library %s: %w", name, err)
	}
	return sc.counts, nil
}

// layout returns the options for finding things in the folder.
func (f Folder) layout() layout.Options { return layout.Options{Name: f.Name, Library: true} }

func (sc *scan) run(ctx context.Context) (err error) {
	if sc.tree, err = walk(ctx, sc.root); err != nil {
		return err
	}
	sc.counts.FilesFound, sc.started = sc.tree.found, time.Now()
	options := sc.folder.layout()
	places := layout.Places(sc.tree.folders[""], options)
	stored, err := sc.storedPlaces(ctx)
	if err != nil {
		return err
	}
	if len(sc.tree.folders) == 1 && sc.tree.found == 0 && len(stored) > 0 {
		return fmt.Errorf("the folder %s is empty, but the library had files: mount the disk of the folder, or check --library", sc.folder.Dir)
	}
	changed := map[key]bool{}
	now := map[key]bool{}
	prints := map[key]int64{}
	for _, p := range places {
		if p.IsEmpty() {
			continue
		}
		k := keyOf(p)
		now[k], prints[k] = true, sc.tree.fingerprint(p)
		if print, known := stored[k]; !known || print != prints[k] {
			changed[k] = true
		}
	}
	var gone []key
	for k := range stored {
		if !now[k] && !sc.tree.isUncertain(k.path) {
			gone = append(gone, k)
		}
	}
	if sc.moved, err = sc.findVanished(ctx, changed, gone); err != nil {
		return err
	}
	sc.places = len(changed)
	options.Unchanged = func(p layout.Place) bool { return !p.IsEmpty() && !changed[keyOf(p)] }
	err = layout.Visit(ctx, source{sc.root}, places, options, func(r layout.Result) error {
		if r.Place.IsEmpty() {
			return nil
		}
		k := keyOf(r.Place)
		sc.batch.add(k, prints[k], r)
		if sc.batch.files < batchFiles && len(sc.batch.places) < batchPlaces {
			return nil
		}
		return sc.store(ctx)
	})
	if err == nil {
		err = sc.store(ctx)
	}
	if err == nil {
		err = sc.endVanished(ctx, gone)
	}
	return err
}

// store stores the batch.
func (sc *scan) store(ctx context.Context) error {
	if len(sc.batch.places) == 0 {
		return nil
	}
	if err := sc.write(ctx, &sc.batch); err != nil {
		return err
	}
	sc.done += len(sc.batch.places)
	sc.batch = batch{}
	sc.report(Progress{sc.counts, sc.places, sc.done, time.Since(sc.started)})
	return nil
}

// storedPlaces returns the fingerprints of the places that earlier scans stored.
func (sc *scan) storedPlaces(ctx context.Context) (map[key]int64, error) {
	var rows []place
	err := sc.core.DB.Write.NewSelect().Model(&rows).Column("path", "kind", "fingerprint").
		Where("library_id = ?", sc.library.ID).Scan(ctx)
	stored := make(map[key]int64, len(rows))
	for _, p := range rows {
		stored[key{p.Path, p.Kind}] = p.Fingerprint
	}
	return stored, err
}

// inTx runs fn in a transaction of the scan, which fails if another scan has taken over. fn adds to
// the counts, and starts from the same ones if the transaction is repeated.
func (sc *scan) inTx(ctx context.Context, fn func(ctx context.Context, tx bun.Tx, counts *Counts) error) error {
	var counts Counts
	err := sc.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		counts = sc.counts
		if err := sc.lease.hold(ctx, tx, counts, sc.places, sc.done); err != nil {
			return err
		}
		return fn(ctx, tx, &counts)
	})
	if err == nil {
		sc.counts = counts
	}
	return err
}

// markMissing marks files of things as missing, unless they are, and returns their number.
func (sc *scan) markMissing(ctx context.Context, tx bun.Tx, things []int64) (int64, error) {
	if len(things) == 0 {
		return 0, nil
	}
	marked, err := tx.NewUpdate().Model((*models.File)(nil)).Set("missing_since = ?", models.Now()).
		Where("target_type = ? AND target_id IN (?) AND missing_since IS NULL", models.OnThing, bun.List(things)).
		Where("object_key LIKE ?", sc.prefix()+"%").Exec(ctx)
	if err != nil {
		return 0, err
	}
	return marked.RowsAffected()
}
