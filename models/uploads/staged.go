package uploads

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"math"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/bucket"
	"github.com/meshyard/meshyard/models"
)

// StagedUpload is an upload with an ID and a target whose bytes are not uploaded yet.
type StagedUpload struct {
	FileID    int64
	Name      string
	Limit     int64 // maximum number of bytes
	ExpiresAt time.Time

	// IsComplete says that the bytes are there already.
	IsComplete bool
	resumable  *Resumable // nil: the bytes can only arrive by the form
}

// IsResumable reports whether the bytes can arrive by the tus protocol.
func (u *StagedUpload) IsResumable() bool { return u.resumable != nil }

// StageUpload creates a staged upload for a target of the caller. It opens a transaction.
func (s *Store) StageUpload(ctx context.Context, caller auth.Caller, name string,
	target models.Target) (staged *StagedUpload, err error) {
	err = s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := s.core.Claim(ctx, tx, caller.UserID, models.Claim{Pending: 1}); err != nil {
			return err
		}
		on, err := s.core.LockOwned(ctx, tx, caller, target)
		if err != nil {
			return err
		}
		staged, err = s.Stage(ctx, tx, caller, "name", name, on)
		return err
	})
	return staged, err
}

// Stage inserts the row of an upload that waits for its bytes. Errors about the name are about the
// given input.
func (s *Store) Stage(ctx context.Context, tx bun.Tx, caller auth.Caller, input, name string,
	on models.Owned) (*StagedUpload, error) {
	name, err := models.CleanFilename(input, name)
	if err != nil {
		return nil, err
	}
	at := models.Now()
	expires := at.Add(s.core.Options.PendingTTL)
	f := &models.File{
		OwnerID: caller.UserID, Name: name, Kind: models.Attachment, State: models.Staged, CreatedAt: at, ExpiresAt: &expires,
		TargetType: on.Type, TargetID: on.ID, ThingID: on.ThingID,
	}
	if _, err := tx.NewInsert().Model(f).Exec(ctx); err != nil {
		return nil, err
	}
	return &StagedUpload{FileID: f.ID, Name: name, Limit: s.core.Options.UploadLimit, ExpiresAt: expires},
		s.core.Enqueue(ctx, tx, models.Work{ExpireUpload: f.ID, At: expires})
}

// StoreStaged stores the bytes of a staged upload, at most limit of them. It has no caller, because
// it is authorized by the signed policy of the upload. Until the file is finalized, a further call
// replaces the bytes, for example after the response was lost. atLeast is the known minimum number
// of bytes.
func (s *Store) StoreStaged(ctx context.Context, id, atLeast, limit int64, bytes io.Reader) error {
	staged, err := s.openStaged(ctx, s.core.DB.Write, id)
	if err != nil {
		return err // before a byte is read
	}
	allowance, err := s.allowance(ctx, staged.OwnerID, 0)
	if err != nil {
		return err
	}
	begun, err := s.begun(ctx, s.core.DB.Write, id)
	if err != nil {
		return err
	}
	declared, err := s.declared(ctx, id)
	if err != nil {
		return err
	}
	reserved := staged.Size
	if begun != nil {
		reserved = begun.reserved()
	}
	allowance.left += min(reserved, math.MaxInt64-allowance.left)
	var up bucket.Upload
	kind := models.FileKind("")
	if declared == nil {
		up, err = s.receive(ctx, bytes, atLeast, limit, allowance)
	} else {
		kind = declared.Kind
		up, err = s.receiveDeclared(ctx, bytes, atLeast, limit, allowance, declared)
	}
	if err != nil {
		return err
	}
	var replaced string
	err = s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := s.core.LockUsage(ctx, tx, staged.OwnerID); err != nil {
			return err
		}
		f, err := s.openStaged(ctx, tx, id)
		if err != nil {
			return err
		}
		// From now on the size counts, and no longer what the upload has reserved.
		if _, err := tx.NewUpdate().Model((*Resumable)(nil)).Set("done = ?, received = coalesce(length, received)", true).
			Where("file_id = ? AND NOT done", id).Exec(ctx); err != nil {
			return err
		}
		if err := s.core.Claim(ctx, tx, f.OwnerID, models.Claim{Bytes: up.Size - f.Size}); err != nil {
			return err
		}
		replaced = f.ObjectKey
		f.SetContent(up, kind)
		_, err = tx.NewUpdate().Model(f).Column("state", "object_key", "size", "sha256", "md5", "kind", "content_type").
			WherePK().Exec(ctx)
		return err
	})
	if err != nil {
		s.discardUnreferenced(ctx, up.Key)
		return err
	}
	s.core.Discard(ctx, replaced)
	s.unstage(ctx, begun)
	s.uploaded(up)
	return nil
}

// declared returns what the owner has declared about the bytes of a staged upload. It returns nil
// if nothing was.
func (s *Store) declared(ctx context.Context, id int64) (*Resumable, error) {
	var rows []*Resumable
	err := s.core.DB.Write.NewSelect().Model(&rows).Where("up.file_id = ?", id).Scan(ctx)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return rows[0], nil
}

// receiveDeclared is like receive. It returns BadInput if the bytes are not what the owner has
// declared.
func (s *Store) receiveDeclared(ctx context.Context, bytes io.Reader, atLeast, limit int64, allowance *allowance,
	declared *Resumable) (bucket.Upload, error) {
	arriving := &verifying{r: bytes, hash: sha256.New()}
	up, err := s.receive(ctx, arriving, atLeast, limit, allowance)
	if err != nil {
		return up, err
	}
	if err = arriving.verify(declared); err == nil && declared.Kind == models.Image && !models.IsImage(up.ContentType) {
		err = models.Invalid("kind", "kind: the file must be a PNG, JPEG, GIF, WebP or AVIF image to be IMAGE (got %s)",
			up.ContentType)
	}
	if err != nil {
		s.core.Discard(ctx, up.Key)
	}
	return up, err
}

// verifying hashes the bytes that are read.
type verifying struct {
	r    io.Reader
	hash hash.Hash
	n    int64
}

func (v *verifying) Read(p []byte) (int, error) {
	n, err := v.r.Read(p)
	_, _ = v.hash.Write(p[:n]) // hashes return no errors
	v.n += int64(n)
	return n, err
}

// verify reads what remains. It returns BadInput if the bytes do not have the declared size and
// SHA-256.
func (v *verifying) verify(declared *Resumable) error {
	if _, err := io.Copy(io.Discard, v); err != nil {
		return models.Invalid("file", "file: ended early")
	}
	if declared.Length != nil && v.n != *declared.Length {
		return models.Invalid("file", "file: must have the declared %d bytes (got %d)", *declared.Length, v.n)
	}
	if got := hex.EncodeToString(v.hash.Sum(nil)); declared.SHA256 != "" && got != declared.SHA256 {
		return models.Invalid("file", "file: the bytes have the SHA-256 %s, and %s was declared", got, declared.SHA256)
	}
	return nil
}

// openStaged reads a staged upload. It returns Forbidden if the upload accepts no bytes any more.
// In a transaction it locks the row.
func (s *Store) openStaged(ctx context.Context, db bun.IDB, id int64) (*models.File, error) {
	var rows []*models.File
	q := db.NewSelect().Model(&rows).
		Where("f.id = ? AND (f.target_type <> '' OR EXISTS (SELECT 1 FROM uploads AS up WHERE up.file_id = f.id AND NOT up.partial)) AND f.state <> ? AND f.expires_at > ?", id, models.Finalized, models.Now())
	if _, ok := db.(bun.Tx); ok {
		q = s.core.DB.ForUpdate(q)
	}
	if err := q.Scan(ctx); err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, models.Fail(models.Forbidden, "upload %d accepts no bytes: it is finalized, expired or deleted", id)
	}
	return rows[0], s.checkNotSuspended(ctx, db, rows[0].OwnerID)
}

// checkNotSuspended returns Forbidden if a user is suspended. If db is a transaction, a concurrent
// suspension waits until the transaction ends.
func (s *Store) checkNotSuspended(ctx context.Context, db bun.IDB, userID int64) error {
	u := new(models.User)
	q := db.NewSelect().Model(u).Column("u.suspended_at", "u.suspension_reason").Where("u.id = ?", userID)
	if _, ok := db.(bun.Tx); ok {
		q = s.core.DB.ForShare(q)
	}
	if err := q.Scan(ctx); err != nil {
		return models.NoSuchIfNoRows(err, "user", userID)
	}
	if u.SuspendedAt != nil {
		return models.Fail(models.Forbidden, "the account is suspended and cannot upload: %s", u.SuspensionReason)
	}
	return nil
}

// StageUserImage stages the upload of an avatar or a cover of the caller. When the image is
// finalized, it replaces the previous one. It returns Forbidden if the username is not that of the
// caller.
func (s *Store) StageUserImage(ctx context.Context, caller auth.Caller, username string, on models.TargetType,
	name string) (*StagedUpload, error) {
	u, err := s.core.User(ctx, caller, models.UserAccess, username)
	if err != nil {
		return nil, err
	}
	if err := models.CheckOwnProfile(caller, u); err != nil {
		return nil, err
	}
	return s.StageUpload(ctx, caller, name, models.Target{Type: on, ID: u.ID})
}
