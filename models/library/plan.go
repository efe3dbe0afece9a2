package library

import (
	"context"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/bucket"
	"github.com/meshyard/meshyard/internal/layout"
)

// The maximum numbers of things, of their files, and of skipped entries, that a plan lists.
const (
	planned      = 100
	plannedFiles = 20
)

// Plan is what the things of a folder would be.
type Plan struct {
	Things, Files, Skips int
	FirstThings          []PlannedThing
	FirstSkips           []Skip
}

// PlannedThing is a thing of a plan, with the first of its files.
type PlannedThing struct {
	layout.Thing // Source is escaped
	FileCount    int
	ByKind       map[layout.Kind]int
}

// Plan returns a library and what the things in its folder would be. It changes nothing. The errors
// are those of [Store.Request].
func (s *Store) Plan(ctx context.Context, caller auth.Caller, name string) (*State, *Plan, error) {
	l, err := s.find(ctx, caller, name)
	if err != nil {
		return nil, nil, err
	}
	p := new(Plan)
	err = s.DryRun(ctx, name, func(r layout.Result) error {
		for _, t := range r.Things {
			p.Files += len(t.Files)
			if p.Things++; p.Things <= planned {
				p.FirstThings = append(p.FirstThings, planOf(t))
			}
		}
		for _, skip := range r.Skipped {
			if p.Skips++; p.Skips <= planned {
				p.FirstSkips = append(p.FirstSkips, Skip{bucket.EscapePath(skip.Source), skip.Reason})
			}
		}
		return nil
	})
	return l, p, err
}

func planOf(t layout.Thing) PlannedThing {
	p := PlannedThing{Thing: t, FileCount: len(t.Files), ByKind: map[layout.Kind]int{}}
	for _, f := range t.Files {
		p.ByKind[f.Kind]++
	}
	p.Source, p.Files = bucket.EscapePath(t.Source), ordered(t.Files)[:min(plannedFiles, len(t.Files))]
	return p
}
