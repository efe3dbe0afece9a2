package maintenance

import (
	"context"
	"encoding/hex"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/bucket"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/internal/database/dblock"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/previews"
)

// Snapshot is a consistent view of the database, for a backup that is made while servers write.
type Snapshot struct {
	// Exported is the name under which pg_dump reads the same snapshot. It is empty on SQLite.
	Exported string
	// Schema is the schema of PostgreSQL that contains the tables. It is empty on SQLite.
	Schema string

	db bun.IDB
}

// SnapshotObject is an object in the bucket that rows of a snapshot refer to.
type SnapshotObject struct {
	Key    string
	SHA256 string // hex; empty for derived objects
	FileID int64  // of a pending upload, otherwise 0
}

// DatabaseID returns the random ID by which a backup recognizes the database. Copies of the
// database, such as a restored backup, have the same ID.
func (a Admin) DatabaseID(ctx context.Context) (string, error) {
	row := models.SecretRow{Name: "database"}
	err := a.store.core.DB.Read.NewSelect().Model(&row).WherePK().Scan(ctx)
	return hex.EncodeToString(row.Value), err
}

// Snapshot calls fn with a snapshot. On PostgreSQL the snapshot is valid until fn returns. On
// SQLite it is a copy of the database in a file, which is kept. The file must exist and be empty.
func (a Admin) Snapshot(ctx context.Context, file string, fn func(*Snapshot) error) error {
	return a.store.core.DB.Export(ctx, file, func(e database.Exported) error {
		schema, err := a.store.core.DB.SchemaOf(ctx, e, models.MigrationTable)
		if err != nil {
			return fmt.Errorf("look up the schema of the tables: %w", err)
		}
		return fn(&Snapshot{Exported: e.Name, Schema: schema, db: e.IDB})
	})
}

// Migration returns the name of the newest migration of the snapshot.
func (s *Snapshot) Migration(ctx context.Context) (name string, err error) {
	err = s.db.NewSelect().Table("schema_migrations").Column("name").Order("number DESC").Limit(1).Scan(ctx, &name)
	return name, err
}

// Objects calls fn with each object that rows of the snapshot refer to. Files in libraries are left
// out.
func (s *Snapshot) Objects(ctx context.Context, fn func(SnapshotObject) error) error {
	for last := ""; ; {
		var sums []string
		err := s.db.NewSelect().Model((*models.File)(nil)).ColumnExpr("DISTINCT f.sha256").
			Where("f.state = ? AND f.sha256 > ? AND f.object_key NOT LIKE 'library/%'", models.Finalized, last).
			OrderExpr("f.sha256").Limit(models.ObjectsAtOnce).Scan(ctx, &sums)
		if err != nil {
			return err
		}
		if len(sums) == 0 {
			break
		}
		last = sums[len(sums)-1]
		for _, sum := range sums {
			if err := fn(SnapshotObject{Key: bucket.ContentKey(sum), SHA256: sum}); err != nil {
				return err
			}
		}
	}
	for last := int64(0); ; {
		var rows []*models.File
		err := s.db.NewSelect().Model(&rows).Column("f.id", "f.sha256", "f.object_key").
			Where("f.id > ? AND f.state = ?", last, models.Pending).Order("f.id").Limit(models.ObjectsAtOnce).Scan(ctx)
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			break
		}
		for _, f := range rows {
			last = f.ID
			if err := fn(SnapshotObject{f.ObjectKey, f.SHA256, f.ID}); err != nil {
				return err
			}
		}
	}
	done := func(q *bun.SelectQuery) { q.Where("p.state = ?", models.PreviewDone) }
	return previews.EachPreview(ctx, s.db, done, func(p *models.Preview) error {
		for _, part := range p.Parts() {
			if err := fn(SnapshotObject{Key: p.Key(part.Object())}); err != nil {
				return err
			}
		}
		return nil
	})
}

// RowState is the state of a row compared with that in a snapshot.
type RowState int

// The states of rows. A row that has changed refers to another object than in the snapshot.
const (
	RowUnchanged RowState = iota
	RowChanged
	RowDeleted
)

// RowState returns the state of the rows that refer to an object of a snapshot. It does not support
// derived objects.
func (a Admin) RowState(ctx context.Context, o SnapshotObject) (RowState, error) {
	q := a.store.core.DB.Write.NewSelect().Model((*models.File)(nil)).Column("f.state", "f.object_key")
	if o.FileID == 0 {
		q = q.Where("f.sha256 = ? AND f.state = ? AND f.object_key NOT LIKE 'library/%'", o.SHA256, models.Finalized)
	} else {
		q = q.Where("f.id = ?", o.FileID)
	}
	var rows []*models.File
	switch err := q.Limit(1).Scan(ctx, &rows); {
	case err != nil:
		return 0, err
	case len(rows) == 0:
		return RowDeleted, nil
	case o.FileID != 0 && (rows[0].State != models.Pending || rows[0].ObjectKey != o.Key):
		return RowChanged, nil
	}
	return RowUnchanged, nil
}

// DeleteUploads deletes the rows of pending uploads that have no bytes, after a restore, and
// recomputes all counts.
func (a Admin) DeleteUploads(ctx context.Context, ids []int64) error {
	if len(ids) == 0 {
		return nil
	}
	s := a.store
	if _, err := s.core.DB.Write.NewDelete().Model((*models.File)(nil)).Where("id IN (?) AND state <> ?", bun.List(ids),
		models.Finalized).Exec(ctx); err != nil {
		return fmt.Errorf("delete uploads without bytes: %w", err)
	}
	_, err := s.Recount(ctx)
	return err
}

// IsEmpty reports whether a PostgreSQL database has no tables in the schema in which the role
// creates tables, except the marker of an operation that was interrupted, and no tables of Meshyard
// in another schema of the search_path. Managed databases have tables of their own in other
// schemas.
func IsEmpty(ctx context.Context, db *models.DB) (empty bool, err error) {
	err = db.Read.NewRaw("SELECT to_regclass('schema_migrations') IS NULL AND "+
		"NOT EXISTS (SELECT 1 FROM pg_catalog.pg_tables WHERE schemaname = current_schema() AND tablename <> ?)",
		dblock.Table).Scan(ctx, &empty)
	return empty, err
}

// HasFiles reports whether the database refers to content in the bucket.
func HasFiles(ctx context.Context, db *models.DB) (has bool, err error) {
	if err := db.Read.NewRaw("SELECT EXISTS (SELECT 1 FROM contents WHERE size > 0)").Scan(ctx, &has); err != nil {
		return false, fmt.Errorf("look for files: %w", err)
	}
	return has, nil
}

// HasContent reports whether there are users other than administrators, things, collections, or
// files, including drafts.
func (a Admin) HasContent(ctx context.Context) (has bool, err error) {
	err = a.store.core.DB.Write.NewRaw(
		"SELECT EXISTS (SELECT 1 FROM users WHERE NOT is_admin) OR EXISTS (SELECT 1 FROM things) "+
			"OR EXISTS (SELECT 1 FROM collections) OR EXISTS (SELECT 1 FROM files)").Scan(ctx, &has)
	if err != nil {
		return false, fmt.Errorf("look for content: %w", err)
	}
	return has, nil
}
