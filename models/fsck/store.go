// Package fsck compares the rows of the database with each other and with the objects in the
// bucket, and repairs what it can.
package fsck

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/bucket"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/maintenance"
	"github.com/meshyard/meshyard/models/previews"
	"github.com/meshyard/meshyard/models/uploads"
)

// Store checks a catalogue.
type Store struct {
	core        *models.Store
	maintenance *maintenance.Store
	previews    *previews.Store
	uploads     *uploads.Store
}

// New adds checks to the core.
func New(core *models.Store, upkeep *maintenance.Store, pictures *previews.Store, begun *uploads.Store) *Store {
	core.DB.Register((*checkpoint)(nil))
	return &Store{core, upkeep, pictures, begun}
}

// Options are the options of a run.
type Options struct {
	// Grace is the age below which objects without a row are ignored, because an upload stores its
	// bytes before its row.
	Grace time.Duration
	// Rehash reads every content and verifies its hash, which takes as long as reading the bucket.
	Rehash bool
	// Repair corrects what it can.
	Repair bool
	// From is a bucket with good copies of damaged objects, such as that of a backup. It may be nil.
	From *bucket.Bucket
	// Workers is the number of objects that are checked concurrently; at least 1.
	Workers int
	// ObjectsOnly compares rows with objects, but not rows with each other.
	ObjectsOnly bool
	// Prefix restricts the run to the objects whose keys begin with it, without rows. Empty: the run
	// checks everything.
	Prefix string
	// Resume goes on where an interrupted run with the same options has stopped.
	Resume bool
}

// Problem is an inconsistency.
type Problem struct {
	Text     string // what is wrong
	Repaired string // what was done about it; empty: nothing
}

func (p Problem) String() string {
	if p.Repaired == "" {
		return p.Text
	}
	return p.Text + ": " + p.Repaired
}

// run is a run in progress.
type run struct {
	Options
	core     *models.Store
	upkeep   *maintenance.Store
	pictures *previews.Store
	uploads  *uploads.Store
	report   func(Problem)

	reporting sync.Mutex
	saved     checkpoint
}

// step is a part of a run. check begins after a position and calls done with each position that it
// has reached; "" is the beginning.
type step struct {
	name  string
	check func(ctx context.Context, after string, done func(position string)) error
}

// Check compares rows and objects, calls report with each inconsistency, and returns the number of
// those that it did not repair. If the run is interrupted, the next one with Resume goes on where
// it stopped, and counts the problems of the first one, too. It needs constant memory.
func (s *Store) Check(ctx context.Context, o Options, report func(Problem)) (problems int, err error) {
	o.Workers = max(1, o.Workers)
	r := &run{Options: o, core: s.core, upkeep: s.maintenance, pictures: s.previews, uploads: s.uploads, report: report}
	steps := r.steps()
	first, after, err := r.resume(ctx, steps)
	if err != nil {
		return 0, fmt.Errorf("read the checkpoint: %w", err)
	}
	for _, step := range steps[first:] {
		r.begin(step.name, after)
		if err := step.check(ctx, after, func(position string) { r.save(ctx, position) }); err != nil {
			r.stop(ctx)
			return 0, fmt.Errorf("check %s: %w", step.name, err)
		}
		after = ""
	}
	r.end(ctx)
	return r.saved.Problems, nil
}

// steps returns the steps in their order. What one of them repairs, such as a comment without its
// thing, can be a problem of a later one, such as a count.
func (r *run) steps() (steps []step) {
	if r.Prefix == "" && !r.ObjectsOnly {
		steps = []step{{"expired uploads", r.expired}}
		for _, d := range dangling {
			steps = append(steps, step{d.name(), r.dangling(d)})
		}
	}
	if r.Prefix == "" {
		steps = append(steps, step{"files", r.files}, step{"previews", r.previews})
	}
	if r.Prefix == "" && !r.ObjectsOnly {
		for _, table := range maintenance.CountedTables() {
			steps = append(steps, step{"counts of " + table, r.counts(table)})
		}
		for _, ix := range models.Indexes {
			steps = append(steps, step{"the search index of " + ix.Noun + "s", r.index(ix)})
		}
	}
	for _, prefix := range []string{bucket.PendingPrefix, bucket.ContentPrefix, bucket.DerivedPrefix} {
		if ranges := r.ranges(prefix); len(ranges) > 0 {
			steps = append(steps, step{"objects " + prefix, r.objects(prefix, ranges)})
		}
	}
	if r.Prefix == "" {
		steps = append(steps, step{"staged uploads", r.staged})
	}
	return steps
}

// found reports a problem. If problems are to be repaired, it calls repair first, which returns
// what it did, or "" if it could do nothing.
func (r *run) found(ctx context.Context, text string, repair func(context.Context) (string, error)) error {
	p := Problem{Text: text}
	if r.Repair && repair != nil {
		did, err := repair(ctx)
		if err != nil {
			return fmt.Errorf("repair %s: %w", text, err)
		}
		p.Repaired = did
	}
	r.reporting.Lock()
	defer r.reporting.Unlock()
	if p.Repaired == "" {
		r.saved.Problems++
	}
	r.report(p)
	return nil
}

// db returns the database to read from.
func (r *run) db() bun.IDB { return r.core.DB.Write }
