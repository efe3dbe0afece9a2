package graph

import (
	"github.com/meshyard/meshyard/graph/model"
	"github.com/meshyard/meshyard/models/library"
)

func libraryOf(s library.State) *model.Library {
	l := &model.Library{
		Name: s.Name, Folder: orNull(s.Dir), ThingCount: s.Things, FileCount: s.Files, MissingCount: s.Missing, UnreadCount: s.Unread, SkippedCount: s.Skipped,
		IsScanning: s.Scanner != "" || s.RequestedAt != nil,
	}
	if s.StartedAt != nil {
		l.LastScan = &model.LibraryScan{
			StartedAt: *s.StartedAt, FinishedAt: s.FinishedAt, Error: orNull(s.Error), Found: s.FilesFound, Added: s.FilesAdded, Changed: s.FilesChanged,
			Moved: s.FilesMoved, Missing: s.FilesMissing, Skipped: s.Skipped, ThingsAdded: s.ThingsAdded,
		}
	}
	return l
}

func planOf(p *library.Plan) *model.LibraryPlan {
	plan := &model.LibraryPlan{
		ThingCount: int32(p.Things), FileCount: int32(p.Files), SkippedCount: int32(p.Skips), Things: []*model.PlannedThing{}, Skipped: []*model.LibrarySkip{},
	}
	for i, t := range p.FirstThings {
		plan.Things = append(plan.Things, &model.PlannedThing{Path: t.Source, Name: t.Name, FileCount: int32(p.FirstFiles[i])})
	}
	for _, s := range p.FirstSkips {
		plan.Skipped = append(plan.Skipped, &model.LibrarySkip{Path: s.Path, Reason: s.Reason})
	}
	return plan
}

// orNull returns nil for an empty text.
func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
