package models

import (
	"context"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/internal/preview"
)

// maxAlike is the maximum number of contents of the same shape that are compared and listed.
const maxAlike = 200

// Duplicates lists, for mesh files, the other files of things that have the same shape and are
// visible to the caller, the newest first. It considers the latest 200 contents of a shape.
func (s *Store) Duplicates(caller auth.Caller) List {
	return List{DB: s.db.DB, By: database.Order{ID: "f.id"}, Rows: func(fileID int64) *bun.SelectQuery {
		shape := s.db.Read.NewSelect().TableExpr("files AS o").Join("JOIN previews AS op ON op.id = o.preview_id").ColumnExpr("op.shape_id").Where("o.id = ?", fileID)
		alike := s.db.Read.NewSelect().TableExpr("previews AS p").ColumnExpr("p.id").Where("p.shape_id = (?)", shape).OrderExpr("p.id DESC").Limit(maxAlike)
		if s.db.Engine == database.Postgres { // it looks an array up, but would join all files
			return s.db.Read.NewSelect().TableExpr("files AS f").Join("JOIN things AS t ON t.id = f.thing_id").Where("f.preview_id = ANY(ARRAY(?)) AND f.preview_id <> 0", alike).
				Where("f.id <> ? AND f.target_type = ? AND (t.state = ? OR t.owner_id = ?)", fileID, OnThing, Published, caller.UserID)
		}
		// SQLite joins in the order that CROSS JOIN says: from the few previews to their files. Their
		// index holds no 0.
		return s.db.Read.NewSelect().TableExpr("(?) AS p", alike).Join("CROSS JOIN files AS f CROSS JOIN things AS t").Where("f.preview_id = p.id AND f.preview_id <> 0 AND t.id = f.thing_id").
			Where("f.id <> ? AND f.target_type = ? AND (t.state = ? OR t.owner_id = ?)", fileID, OnThing, Published, caller.UserID)
	}}.Bounded(MaxFound)
}

// shapeLock is the key of the advisory lock under which PostgreSQL assigns shapes: otherwise two
// previews of one new shape that finish at the same time would get two shapes.
const shapeLock = 0x6d657369

// lockShapes takes that lock until tx ends. It must precede any lock of a preview.
func (db *DB) lockShapes(ctx context.Context, tx bun.Tx) error {
	if db.Engine != database.Postgres {
		return nil
	}
	_, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock(?)", shapeLock)
	return err
}

// assignShape sets the shape of a preview with a mesh to that of the first preview with the same
// shape, or to a new one.
func assignShape(ctx context.Context, tx bun.Tx, p *Preview) error {
	shape := p.ID
	if len(p.Mesh.Keys) > 0 {
		var candidates []struct {
			ShapeID int64
			Mesh    *preview.Mesh `bun:"type:jsonb"`
		}
		share := tx.NewSelect().TableExpr("shape_keys").ColumnExpr("preview_id").Where("key IN (?)", bun.List(p.Mesh.Keys))
		err := tx.NewSelect().TableExpr("previews AS p").ColumnExpr("p.shape_id, p.mesh").Where("p.id IN (?) AND p.id <> ? AND p.shape_id IS NOT NULL AND p.mesh IS NOT NULL", share, p.ID).
			OrderExpr("p.id").Limit(maxAlike).Scan(ctx, &candidates)
		if err != nil {
			return err
		}
		for _, c := range candidates {
			if preview.SameShape(p.Mesh, c.Mesh) {
				shape = c.ShapeID
				break
			}
		}
	}
	_, err := tx.NewUpdate().Model(p).Set("shape_id = ?", shape).WherePK().Exec(ctx)
	return err
}

// shapeBatch is the number of previews that one transaction of AssignShapes updates.
const shapeBatch = 20

// AssignShapes assigns shapes to previews of versions without shapes, in batches, each in its own
// transaction. It returns the number of updated previews. If it is called again, it continues.
func (s *Store) AssignShapes(ctx context.Context) (assigned int, err error) {
	for {
		var rows []*Preview
		err := s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
			rows = nil
			if err := s.db.lockShapes(ctx, tx); err != nil {
				return err
			}
			shapeless := tx.NewSelect().Model(&rows).Column("p.id", "p.mesh").Where("p.shape_id IS NULL AND p.state = 'done' AND p.mesh IS NOT NULL").Order("p.id").Limit(shapeBatch)
			if err := s.db.ForUpdate(shapeless).Scan(ctx); err != nil {
				return err
			}
			for _, p := range rows {
				if err := assignShape(ctx, tx, p); err != nil {
					return err
				}
			}
			return nil
		})
		assigned += len(rows)
		if err != nil || len(rows) == 0 {
			return assigned, err
		}
	}
}
