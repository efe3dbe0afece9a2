package models

import (
	"context"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/preview"
)

// maxAlike is how many contents of the same shape are looked for.
const maxAlike = 1000

// Duplicates lists the other files on things that show the same shape as a file with that preview, as far as the caller may see them, the newest first.
func (s *Store) Duplicates(ctx context.Context, caller auth.Caller, f *File, p *Preview) (List, error) {
	var candidates []*Preview
	if p.Mesh != nil && len(p.Mesh.Keys) > 0 {
		share := s.db.read.NewSelect().TableExpr("shape_keys").ColumnExpr("preview_id").Where("key IN (?)", bun.List(p.Mesh.Keys))
		if err := s.db.read.NewSelect().Model(&candidates).Where("p.id IN (?)", share).Order("p.id").Limit(maxAlike).Scan(ctx); err != nil {
			return List{}, err
		}
	}
	alike := []int64{}
	for _, c := range candidates {
		if c.Mesh != nil && preview.SameShape(p.Mesh, c.Mesh) {
			alike = append(alike, c.ID)
		}
	}
	return List{db: s.db, by: order{id: "f.id"}, rows: func(int64) *bun.SelectQuery {
		return s.db.read.NewSelect().TableExpr("files AS f").Join("JOIN things AS t ON t.id = f.thing_id").
			Where("f.preview_id IN (?) AND f.id <> ? AND f.target_type = ? AND (t.state = ? OR t.owner_id = ?)", bun.List(alike), f.ID, OnThing, Published, caller.UserID)
	}}, nil
}
