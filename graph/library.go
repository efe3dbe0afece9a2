package graph

import (
	"slices"

	"github.com/meshyard/meshyard/graph/model"
	"github.com/meshyard/meshyard/internal/layout"
	"github.com/meshyard/meshyard/internal/license"
	"github.com/meshyard/meshyard/models/library"
)

func libraryOf(s library.State) *model.Library {
	l := &model.Library{
		Name: s.Name, Folder: orNull(s.Dir), ThingCount: s.Things, FileCount: s.Files, MissingCount: s.Missing,
		UnreadCount: s.Unread, SkippedCount: s.Skipped,
		IsScanning: s.Scanner != "" || s.RequestedAt != nil,
	}
	if s.StartedAt != nil {
		l.LastScan = &model.LibraryScan{
			StartedAt: *s.StartedAt, FinishedAt: s.FinishedAt, Error: orNull(s.Error), Found: s.FilesFound, Added: s.FilesAdded,
			Changed: s.FilesChanged,
			Moved:   s.FilesMoved, Missing: s.FilesMissing, Skipped: s.Skipped, ThingsAdded: s.ThingsAdded, Read: s.FilesRead,
			Progress:       s.Progress(),
			FilesPerSecond: s.FilesPerSecond(),
		}
		if left, known := s.Remaining(); known {
			l.LastScan.RemainingSeconds = new(int32(left.Seconds()))
		}
	}
	return l
}

func planOf(p *library.Plan) *model.LibraryPlan {
	plan := &model.LibraryPlan{
		ThingCount: int32(p.Things), FileCount: int32(p.Files), SkippedCount: int32(p.Skips), Things: []*model.PlannedThing{},
		Skipped: []*model.LibrarySkip{},
	}
	for _, t := range p.FirstThings {
		plan.Things = append(plan.Things, plannedOf(t))
	}
	for _, s := range p.FirstSkips {
		plan.Skipped = append(plan.Skipped, &model.LibrarySkip{Path: s.Path, Reason: s.Reason})
	}
	return plan
}

func plannedOf(t library.PlannedThing) *model.PlannedThing {
	planned := &model.PlannedThing{
		Path: t.Source, Name: t.Name, Collection: slices.Concat([]string{}, t.Collection), FileCount: int32(t.FileCount),
		ModelCount:   int32(t.ByKind[layout.Model]),
		PictureCount: int32(t.ByKind[layout.Picture]), DocumentCount: int32(t.ByKind[layout.Document]),
		AttachmentCount: int32(t.ByKind[layout.Attachment]),
	}
	if id := t.License.ID(); id != license.Unknown {
		planned.License = new(id.Name())
	}
	for _, f := range t.Files {
		planned.Files = append(planned.Files, &model.PlannedFile{Path: f.Path, Kind: f.Kind, Variant: orNull(f.Variant),
			IsCover: f.Cover})
	}
	return planned
}

// orNull returns nil for an empty text.
func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
