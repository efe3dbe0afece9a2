package models

import (
	"context"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
)

// Changers are those who may change the files of a target.
type Changers bool

const (
	OwnerOnly         Changers = false
	OwnerOrModerators Changers = true // and administrators
)

// ChangeFile locks a finalized file and its target and calls change. It returns Forbidden if the
// caller is not among who, and Conflict if the file is a pending upload. If the target is a thing
// or a make, its modification time changes. It opens a transaction.
func (s *Store) ChangeFile(ctx context.Context, caller auth.Caller, id int64, on *Target, who Changers,
	change func(ctx context.Context, tx bun.Tx, f *File, owner int64) error) error {
	if _, err := s.File(ctx, caller, FileAccess, id); err != nil {
		return err
	}
	return s.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		seen := new(File)
		if err := tx.NewSelect().Model(seen).Where("f.id = ?", id).Scan(ctx); err != nil {
			return NoSuchIfNoRows(err, "file", id)
		}
		target, ok := seen.Target()
		if !ok {
			e := Fail(Conflict, "file %d is a pending upload: it is not attached to anything yet", id)
			e.Field = "id"
			return e
		}
		if on != nil && *on != target {
			return NoSuch("file", id) // not on the required target
		}
		// The target is locked before the file, as in finalizations.
		locked, err := s.LockOwned(ctx, tx, caller, target)
		if err != nil && !(who == OwnerOrModerators && CodeOf(err) == Forbidden &&
			CheckDecides(caller, locked.Owner) == nil) {
			return err
		}
		f, err := s.LockFile(ctx, tx, id)
		if err != nil {
			return err
		}
		if err := change(ctx, tx, f, locked.Owner); err != nil {
			return err
		}
		if err := Touch(ctx, tx, target); err != nil {
			return err
		}
		return s.DB.indexTarget(ctx, tx, locked)
	})
}
