package database

import (
	"context"

	"github.com/uptrace/bun"
)

// InSnapshot runs fn in a read-only transaction that sees a consistent snapshot of the database.
func (db *DB) InSnapshot(ctx context.Context, fn func(ctx context.Context, tx bun.Tx) error) error {
	return db.Read.RunInTx(ctx, db.snapshot(), fn)
}

// Exported is a consistent snapshot of the database that other programs can read.
type Exported struct {
	bun.IDB
	// Name is the name under which pg_dump reads the snapshot. It is empty on SQLite.
	Name string
}

// Export calls fn with a snapshot. On PostgreSQL the snapshot is valid until fn returns. On SQLite
// it is a copy of the database in a file, which is kept. The file must exist and be empty.
func (db *DB) Export(ctx context.Context, file string, fn func(Exported) error) error {
	return db.export(ctx, db, file, fn)
}

// CheckPrimary returns an error if PostgreSQL is read-only, as a standby is. table is any table. It
// does nothing on SQLite; see [DB.CheckDisk].
func (db *DB) CheckPrimary(ctx context.Context, table string) error {
	return db.checkPrimary(ctx, db, table)
}
