package uploads

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/apierror"
	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models"
)

// DeletePendingUpload deletes a pending upload of the caller with its bytes. It returns NotFound
// for an upload of another user, and Conflict for a finalized file. It opens a transaction.
func (s *Store) DeletePendingUpload(ctx context.Context, caller auth.Caller, id int64) error {
	var key string
	var begun *Resumable
	err := s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		f, err := s.core.LockFile(ctx, tx, id)
		if models.CodeOf(err) == models.NotFound {
			return models.NoSuch("pending upload", id) // the same message as for a file of another user
		} else if err != nil {
			return err
		}
		if f.OwnerID != caller.UserID {
			return models.NoSuch("pending upload", id)
		}
		if begun, err = s.begun(ctx, tx, id); err != nil {
			return err
		}
		joinable := f.State == models.Staged && f.ObjectKey != "" // a finished part of a resumable upload
		if begun == nil && !joinable && !f.Live(models.Now()) {
			return models.NoSuch("pending upload", id)
		}
		if f.State == models.Finalized {
			e := models.Fail(models.Conflict, "file %d is finalized: it is not a pending upload any more", id)
			e.Field = "id"
			return e.WithFieldCode(apierror.FieldInvalid)
		}
		key = f.ObjectKey
		_, err = tx.NewDelete().Model(f).WherePK().Exec(ctx)
		return err
	})
	if err != nil {
		return err
	}
	s.core.Discard(ctx, key)
	s.unstage(ctx, begun)
	return nil
}

// ExpireUpload deletes an upload that has expired without being finalized. It does nothing if the
// file was deleted or finalized, or has not expired. A concurrent finalization locks the row, so
// one of the two waits and then sees the result of the other.
func (s *Store) ExpireUpload(ctx context.Context, id int64) error {
	begun, err := s.begun(ctx, s.core.DB.Write, id)
	if err != nil {
		return fmt.Errorf("expire upload %d: %w", id, err)
	}
	var keys []string
	err = s.core.DB.Write.NewDelete().Model((*models.File)(nil)).
		Where("id = ? AND state <> ? AND expires_at <= ?", id, models.Finalized, models.Now()).Returning("object_key").
		Scan(ctx, &keys)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("expire upload %d: %w", id, err)
	}
	for _, key := range keys {
		s.core.Discard(ctx, key)
		s.unstage(ctx, begun)
	}
	return nil
}
