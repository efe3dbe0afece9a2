// Package problem finds what is wrong with things: missing files, files without a preview, meshes
// with holes, suspicious sizes, duplicates, and things without a license or tags.
package problem

import (
	"context"
	"fmt"
	"slices"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/license"
	"github.com/meshyard/meshyard/models"
)

// Kind is a kind of problems.
type Kind string

// The kinds of problems. Those of the first group are about files.
const (
	MissingFile      Kind = "missing_file"
	NoPreview        Kind = "no_preview"
	NotWatertight    Kind = "not_watertight"
	SuspiciousUnits  Kind = "suspicious_units"
	DuplicateContent Kind = "duplicate_content"
	DuplicateShape   Kind = "duplicate_shape"

	NoLicense Kind = "no_license"
	NoTags    Kind = "no_tags"
)

// Kinds are all kinds, in the order of the list.
var Kinds = []Kind{MissingFile, NoPreview, NotWatertight, SuspiciousUnits, DuplicateContent, DuplicateShape, NoLicense,
	NoTags}

// A model is suspicious if its longest side is outside of these bounds: its file probably has
// another unit than millimeters.
const (
	minMillimeters = 2
	maxMillimeters = 2_000
)

// maxCounted is the maximum number of problems of a kind that are counted.
const maxCounted = 10_000

// Problem is something that is wrong with a thing, or with a file of it.
type Problem struct {
	Kind    Kind `bun:"-"`
	ThingID int64
	FileID  int64   // 0: the whole thing
	OtherID int64   // the older file of the same contents or shape; 0: none
	Longest float64 // the longest side, in millimeters, if it is suspicious
	Reason  string  // why there is no preview
}

// id is the position of the problem among those of its kind.
func (p *Problem) id() int64 {
	if p.FileID != 0 {
		return p.FileID
	}
	return p.ThingID
}

// Message describes the problem.
func (p *Problem) Message() string {
	switch p.Kind {
	case MissingFile:
		return "The last scan of the library did not find the file."
	case NoPreview:
		return "The preview could not be generated: " + p.Reason
	case NotWatertight:
		return "The mesh is not watertight: it has holes or inverted faces."
	case SuspiciousUnits:
		return fmt.Sprintf("The longest side is %.4g mm: the unit of the file is probably not millimeters.", p.Longest)
	case DuplicateContent:
		return "Another file has the same contents."
	case DuplicateShape:
		return "Another file has the same shape."
	case NoLicense:
		return "The license is unknown."
	case NoTags:
		return "There are no tags."
	}
	return ""
}

// Store has the operations on problems.
type Store struct{ core *models.Store }

// New adds problems to the core.
func New(core *models.Store) *Store { return &Store{core} }

// Find are the conditions of a list of problems.
type Find struct {
	Kinds  []Kind // empty: all
	OfAll  bool   // the things of all users, which requires an administrator
	Caller auth.Caller
}

// Check returns Forbidden if the caller may not list the problems.
func (f Find) Check() error {
	if f.OfAll && !f.Caller.Administers() {
		return models.Fail(models.Forbidden, "problems of the things of all users: requires an administrator")
	}
	return nil
}

// kinds returns the kinds in the order of the list.
func (f Find) kinds() []Kind {
	if len(f.Kinds) == 0 {
		return Kinds
	}
	return slices.DeleteFunc(slices.Clone(Kinds), func(k Kind) bool { return !slices.Contains(f.Kinds, k) })
}

// Page returns a part of the problems, those of a kind after the other, and those of a kind in the
// order of the IDs of their files or things. It runs at most one statement for each kind.
func (s *Store) Page(ctx context.Context, f Find, part models.Slice) (page models.Page[Problem], err error) {
	limit, backwards, from := part.First, part.Last > 0, part.After
	kinds := f.kinds()
	if backwards {
		limit, from = part.Last, part.Before
		kinds = slices.Clone(kinds)
		slices.Reverse(kinds)
	}
	for _, kind := range kinds {
		at := int64(slices.Index(Kinds, kind))
		if from != nil && (!backwards && at < from.Key || backwards && at > from.Key) {
			continue
		}
		q, id := s.query(f, kind)
		switch {
		case from == nil || at != from.Key:
		case backwards:
			q = q.Where("? < ?", bun.Ident(id), from.ID)
		default:
			q = q.Where("? > ?", bun.Ident(id), from.ID)
		}
		order := " ASC"
		if backwards {
			order = " DESC"
		}
		var rows []*Problem
		if err := q.OrderExpr(id+order).Limit(int64(limit-len(page.Entries)+1)).Scan(ctx, &rows); err != nil {
			return page, fmt.Errorf("problems %s: %w", kind, err)
		}
		for _, p := range rows {
			if len(page.Entries) == limit {
				page.More = true
				break
			}
			p.Kind = kind
			page.Entries = append(page.Entries, models.Entry[Problem]{Position: models.Position{Key: at, ID: p.id()}, Node: p})
		}
		if page.More {
			break
		}
	}
	if backwards {
		slices.Reverse(page.Entries)
	}
	return page, nil
}

// Count returns the number of problems. It counts at most 10,000 of each kind.
func (s *Store) Count(ctx context.Context, f Find) (total int64, err error) {
	for _, kind := range f.kinds() {
		q, _ := s.query(f, kind)
		n, err := s.core.DB.Read.NewSelect().TableExpr("(?) AS p", q.Limit(maxCounted)).Count(ctx)
		if err != nil {
			return 0, fmt.Errorf("count problems %s: %w", kind, err)
		}
		total += n
	}
	return total, nil
}

// query selects the problems of a kind. id is the column that identifies them.
func (s *Store) query(f Find, kind Kind) (q *bun.SelectQuery, id string) {
	q = s.core.DB.Read.NewSelect().Where("t.deletes_at IS NULL")
	if kind == NoLicense || kind == NoTags {
		q = q.TableExpr("things AS t").ColumnExpr("t.id AS thing_id")
		if !f.OfAll {
			q = q.Where("t.owner_id = ?", f.Caller.UserID)
		}
		if kind == NoLicense {
			return q.Where("t.license_id = ?", license.Unknown), "t.id"
		}
		return q.Where("NOT EXISTS (SELECT 1 FROM thing_tags AS tt WHERE tt.thing_id = t.id)"), "t.id"
	}
	q = q.TableExpr("files AS f").Join("JOIN things AS t ON t.id = f.target_id").
		ColumnExpr("t.id AS thing_id, f.id AS file_id").
		Where("f.target_type = ? AND f.state = ?", models.OnThing, models.Finalized)
	same := "o.id < f.id AND o.target_type = 'thing' AND o.state = 'finalized'"
	if !f.OfAll {
		q = q.Where("f.owner_id = ? AND t.owner_id = f.owner_id", f.Caller.UserID)
		same += " AND o.owner_id = f.owner_id"
	}
	switch kind {
	case MissingFile:
		q = q.Where("f.missing_since IS NOT NULL")
	case NoPreview:
		q = q.Join("JOIN previews AS p ON p.id = f.preview_id").ColumnExpr("p.error AS reason").
			Where("f.preview_id <> 0 AND p.state = ?", models.PreviewFailed)
	case NotWatertight:
		q = q.Where("f.format IS NOT NULL AND NOT f.watertight")
	case SuspiciousUnits:
		q = q.ColumnExpr("f.longest_mm AS longest").Where("f.format IS NOT NULL AND (f.longest_mm < ? OR f.longest_mm > ?)",
			minMillimeters, maxMillimeters)
	case DuplicateContent:
		other := "SELECT min(o.id) FROM files AS o WHERE o.sha256 = f.sha256 AND " + same
		q = q.ColumnExpr("(" + other + ") AS other_id").
			Where("f.sha256 <> '' AND EXISTS (" + "SELECT 1 FROM files AS o WHERE o.sha256 = f.sha256 AND " + same + ")")
	case DuplicateShape:
		from := " FROM previews AS op JOIN files AS o ON o.preview_id = op.id WHERE op.shape_id = p.shape_id AND o.preview_id <> 0 AND o.sha256 <> f.sha256 AND " + same
		q = q.Join("JOIN previews AS p ON p.id = f.preview_id").ColumnExpr("(SELECT min(o.id)" + from + ") AS other_id").
			Where("f.preview_id <> 0 AND p.shape_id IS NOT NULL AND EXISTS (SELECT 1" + from + ")")
	}
	return q, "f.id"
}
