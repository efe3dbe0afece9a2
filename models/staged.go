package models

import (
	"context"
	"io"
	"math"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
)

// StagedUpload is an upload with an ID and a target whose bytes are not uploaded yet.
type StagedUpload struct {
	FileID    int64
	Name      string
	Limit     int64 // maximum number of bytes
	ExpiresAt time.Time
}

// StageUpload creates a staged upload for a target of the caller. It opens a transaction.
func (s *Store) StageUpload(ctx context.Context, caller auth.Caller, name string, target Target) (staged *StagedUpload, err error) {
	err = s.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := s.claim(ctx, tx, caller.UserID, claim{pending: 1}); err != nil {
			return err
		}
		on, err := s.lockOwned(ctx, tx, caller, target)
		if err != nil {
			return err
		}
		staged, err = s.stage(ctx, tx, caller, "name", name, on)
		return err
	})
	return staged, err
}

// stage inserts the row of an upload that waits for its bytes. Errors about the name are about the
// given input.
func (s *Store) stage(ctx context.Context, tx bun.Tx, caller auth.Caller, input, name string, on owned) (*StagedUpload, error) {
	name, err := cleanFilename(input, name)
	if err != nil {
		return nil, err
	}
	at := Now()
	expires := at.Add(s.Options.PendingTTL)
	f := &File{
		OwnerID: caller.UserID, Name: name, Kind: Attachment, State: Staged, CreatedAt: at, ExpiresAt: &expires,
		TargetType: on.Type, TargetID: on.ID, ThingID: on.thingID,
	}
	if _, err := tx.NewInsert().Model(f).Exec(ctx); err != nil {
		return nil, err
	}
	return &StagedUpload{FileID: f.ID, Name: name, Limit: s.Options.UploadLimit, ExpiresAt: expires},
		s.Enqueue(ctx, tx, Work{ExpireUpload: f.ID, At: expires})
}

// StoreStaged stores the bytes of a staged upload, at most limit of them. It has no caller, because
// it is authorized by the signed policy of the upload. Until the file is finalized, a further call
// replaces the bytes, for example after the response was lost. atLeast is the known minimum number
// of bytes.
func (s *Store) StoreStaged(ctx context.Context, id, atLeast, limit int64, bytes io.Reader) error {
	staged, err := s.openStaged(ctx, s.DB.Write, id)
	if err != nil {
		return err // before a byte is read
	}
	room, err := s.room(ctx, staged.OwnerID, 0)
	if err != nil {
		return err
	}
	room.left += min(staged.Size, math.MaxInt64-room.left)
	up, err := s.receive(ctx, bytes, atLeast, limit, room)
	if err != nil {
		return err
	}
	var replaced string
	err = s.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := s.lockUsage(ctx, tx, staged.OwnerID); err != nil {
			return err
		}
		f, err := s.openStaged(ctx, tx, id)
		if err != nil {
			return err
		}
		if err := s.claim(ctx, tx, f.OwnerID, claim{bytes: up.Size - f.Size}); err != nil {
			return err
		}
		replaced = f.ObjectKey
		f.setContent(up, "")
		_, err = tx.NewUpdate().Model(f).Column("state", "object_key", "size", "sha256", "md5", "kind", "content_type").WherePK().Exec(ctx)
		return err
	})
	if err != nil {
		s.discardUnreferenced(ctx, up.Key)
		return err
	}
	s.Discard(ctx, replaced)
	s.uploaded(up)
	return nil
}

// openStaged reads a staged upload. It returns Forbidden if the upload accepts no bytes any more.
// In a transaction it locks the row.
func (s *Store) openStaged(ctx context.Context, db bun.IDB, id int64) (*File, error) {
	var rows []*File
	q := db.NewSelect().Model(&rows).Where("f.id = ? AND f.target_type <> '' AND f.state <> ? AND f.expires_at > ?", id, Finalized, Now())
	if _, ok := db.(bun.Tx); ok {
		q = s.DB.ForUpdate(q)
	}
	if err := q.Scan(ctx); err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, Fail(Forbidden, "upload %d accepts no bytes: it is finalized, expired or deleted", id)
	}
	return rows[0], s.checkNotSuspended(ctx, db, rows[0].OwnerID)
}

// checkNotSuspended returns Forbidden if a user is suspended. If db is a transaction, a concurrent
// suspension waits until the transaction ends.
func (s *Store) checkNotSuspended(ctx context.Context, db bun.IDB, userID int64) error {
	u := new(User)
	q := db.NewSelect().Model(u).Column("u.suspended_at", "u.suspension_reason").Where("u.id = ?", userID)
	if _, ok := db.(bun.Tx); ok {
		q = s.DB.ForShare(q)
	}
	if err := q.Scan(ctx); err != nil {
		return NoSuchIfNoRows(err, "user", userID)
	}
	if u.SuspendedAt != nil {
		return Fail(Forbidden, "the account is suspended and cannot upload: %s", u.SuspensionReason)
	}
	return nil
}
