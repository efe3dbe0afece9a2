package library

import (
	"context"
	"encoding/json"
	"time"

	"github.com/meshyard/meshyard/internal/bucket"
	"github.com/meshyard/meshyard/models"
)

// State is a library with what the database has of it.
type State struct {
	Library
	Dir     string // "" if the library is not among the settings
	Things  int64
	Files   int64
	Missing int64 // files
	Unread  int64 // files whose bytes were not read yet
	Skipped int64 // entries of the folder that became no part of a thing
}

// Progress returns the share of what the last scan found changed that is stored, from 0 to 1.
func (l Library) Progress() float64 {
	switch {
	case l.FinishedAt != nil:
		return 1
	case l.Places == 0:
		return 0
	}
	return float64(l.PlacesDone) / float64(l.Places)
}

// elapsed returns how long the last scan took, or takes as of its last sign of life.
func (l Library) elapsed() time.Duration {
	switch {
	case l.StartedAt == nil || l.BeatAt == nil:
		return 0
	case l.FinishedAt != nil:
		return l.FinishedAt.Sub(*l.StartedAt)
	}
	return l.BeatAt.Sub(*l.StartedAt)
}

// FilesPerSecond returns how many files the last scan read in a second.
func (l Library) FilesPerSecond() float64 {
	if l.elapsed() <= 0 {
		return 0
	}
	return float64(l.FilesRead) / l.elapsed().Seconds()
}

// Remaining returns the estimated time until the end of the scan in progress.
func (l Library) Remaining() (left time.Duration, known bool) {
	if l.Scanner == "" || l.FinishedAt != nil || l.PlacesDone == 0 {
		return 0, false
	}
	return time.Duration(float64(l.elapsed()) / float64(l.PlacesDone) * float64(l.Places-l.PlacesDone)), true
}

// List returns all libraries: those of the settings, and others that the database knows.
func (s *Store) List(ctx context.Context) ([]State, error) {
	var rows []Library
	if err := s.core.DB.Read.NewSelect().Model(&rows).Order("name").Scan(ctx); err != nil {
		return nil, err
	}
	var states []State
	for _, f := range s.options.Folders {
		states = append(states, State{Library: Library{Name: f.Name}, Dir: f.Dir})
	}
	for _, l := range rows {
		known := false
		for i := range states {
			if states[i].Name == l.Name {
				states[i].Library, known = l, true
			}
		}
		if !known {
			states = append(states, State{Library: l})
		}
	}
	for i := range states {
		if states[i].ID != 0 {
			if err := s.count(ctx, &states[i]); err != nil {
				return nil, err
			}
		}
	}
	return states, nil
}

// count sets the counts of a library.
func (s *Store) count(ctx context.Context, l *State) error {
	err := s.core.DB.Read.NewSelect().Model((*libraryThing)(nil)).ColumnExpr("count(*)").
		Where("library_id = ? AND thing_id IS NOT NULL", l.ID).Scan(ctx, &l.Things)
	if err != nil {
		return err
	}
	err = s.core.DB.Read.NewSelect().Model((*place)(nil)).ColumnExpr("CAST(coalesce(sum(skipped), 0) AS bigint)").
		Where("library_id = ?", l.ID).Scan(ctx, &l.Skipped)
	if err != nil {
		return err
	}
	return s.core.DB.Read.NewSelect().Model((*models.File)(nil)).
		ColumnExpr("count(*) AS files, count(missing_since) AS missing").
		ColumnExpr("count(CASE WHEN sha256 = '' AND missing_since IS NULL THEN 1 END) AS unread").
		Where("object_key >= ? AND object_key < ?", bucket.LibraryPrefix+l.Name+"/", bucket.LibraryPrefix+l.Name+"0").
		Scan(ctx, &l.Files, &l.Missing, &l.Unread)
}

// Problem is a file of a library that is missing, or an entry that a scan skipped.
type Problem struct {
	Library string
	Path    string // escaped
	Reason  string
	ThingID int64 // 0: none
}

// Problems calls fn with the problems that the last scans of libraries found.
func (s *Store) Problems(ctx context.Context, fn func(Problem) error) error {
	var libraries []Library
	if err := s.core.DB.Read.NewSelect().Model(&libraries).Order("name").Scan(ctx); err != nil {
		return err
	}
	for _, l := range libraries {
		if l.Error != "" {
			if err := fn(Problem{Library: l.Name, Reason: l.Error}); err != nil {
				return err
			}
		}
		if err := s.skips(ctx, l, fn); err != nil {
			return err
		}
	}
	for last := int64(0); ; {
		var files []*models.File
		err := s.core.DB.Read.NewSelect().Model(&files).Column("id", "object_key", "target_id", "missing_since").
			Where("missing_since IS NOT NULL AND id > ?", last).Order("id").Limit(atOnce).Scan(ctx)
		if err != nil || len(files) == 0 {
			return err
		}
		for _, f := range files {
			last = f.ID
			was, _ := bucket.ParseLibraryKey(f.ObjectKey)
			if err := fn(Problem{was.Library, bucket.EscapePath(was.Path), "is missing since " + f.MissingSince.UTC().
				Format("2006-01-02 15:04"), f.TargetID}); err != nil {
				return err
			}
		}
	}
}

// skips calls fn with what scans skipped in a library.
func (s *Store) skips(ctx context.Context, l Library, fn func(Problem) error) error {
	for after := (key{}); ; {
		var places []place
		err := s.core.DB.Read.NewSelect().Model(&places).Column("path", "kind", "skips").
			Where("library_id = ? AND skipped > 0 AND (path, kind) > (?, ?)", l.ID, after.path, after.kind).
			Order("path", "kind").Limit(atOnce).Scan(ctx)
		if err != nil || len(places) == 0 {
			return err
		}
		for _, p := range places {
			after = key{p.Path, p.Kind}
			var skips []Skip
			if err := json.Unmarshal([]byte(p.Skips), &skips); err != nil {
				return err
			}
			for _, skip := range skips {
				if err := fn(Problem{Library: l.Name, Path: skip.Path, Reason: skip.Reason}); err != nil {
					return err
				}
			}
		}
	}
}
