package uploads

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/apierror"
	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/bucket"
	"github.com/meshyard/meshyard/models"
)

// Resumable is an upload that arrives in several requests. Its file is staged until all bytes have
// arrived, and then an ordinary pending upload.
type Resumable struct {
	bun.BaseModel `bun:"table:uploads,alias:up"`

	FileID    int64 `bun:",pk"`
	OwnerID   int64
	Name      string // of the staged object
	Multipart string
	Kind      models.FileKind // that the owner has declared, or empty
	SHA256    string          `bun:"sha256"` // that the owner has declared, or empty
	Metadata  string          // JSON
	Length    *int64          // bytes; nil: not known yet
	Received  int64           // bytes that are durable
	Sums      []byte
	Partial   bool   // a part of another upload, which is never a file
	Parts     string // JSON: the IDs of the parts that are joined
	Done      bool
	// Direct says that clients may send parts to S3 directly. Then Sums are not those of the bytes.
	Direct   bool
	LockedBy string
	// LockedUntil is when another request may take the lock.
	LockedUntil *time.Time
	Wanted      bool
	CreatedAt   time.Time

	ExpiresAt time.Time `bun:",scanonly"`
}

// NewResumable is the input of CreateResumable.
type NewResumable struct {
	Name     string
	Kind     models.FileKind // the kind that the owner declares; empty: derived from the name
	Length   *int64          // bytes; nil: DeclareLength follows
	SHA256   string          // of all bytes, in hex; empty: unknown
	Metadata map[string]string
	Partial  bool
	Parts    []int64        // the parts that JoinResumables will join; nil: none
	Target   *models.Target // to which FinalizeOne attaches the file; nil: none
}

// staged returns the stored bytes. The bucket hashes them again if clients may have replaced some.
func (u *Resumable) staged() bucket.Staged {
	if u.Direct {
		return bucket.Staged{Name: u.Name, Multipart: u.Multipart, Size: u.Received}
	}
	return bucket.Staged{Name: u.Name, Multipart: u.Multipart, Size: u.Received, Sums: u.Sums}
}

// MetadataMap returns the metadata that the client sent.
func (u *Resumable) MetadataMap() map[string]string {
	var m map[string]string
	_ = json.Unmarshal([]byte(u.Metadata), &m)
	return m
}

// PartIDs returns the files that the upload joins.
func (u *Resumable) PartIDs() []int64 {
	var ids []int64
	_ = json.Unmarshal([]byte(u.Parts), &ids)
	return ids
}

// Complete reports whether all bytes have arrived.
func (u *Resumable) Complete() bool { return u.Length != nil && *u.Length == u.Received }

// reserved returns how many bytes the upload counts as before it is done.
func (u *Resumable) reserved() int64 {
	if u.Length != nil {
		return *u.Length
	}
	return u.Received
}

// CreateResumable begins an upload of the caller that arrives in several requests. Its length
// counts towards the quota from now on. It opens a transaction.
func (s *Store) CreateResumable(ctx context.Context, caller auth.Caller, n NewResumable) (*Resumable, error) {
	name, err := models.CleanFilename("filename", n.Name)
	if err != nil {
		return nil, err
	}
	if n, err = n.checked(); err != nil {
		return nil, err
	}
	switch n.Kind {
	case "", models.Model, models.Image, models.Attachment:
	default:
		return nil, models.Invalid("kind", "kind: must be model, image or attachment (got %q)", n.Kind)
	}
	reserve := int64(0)
	if n.Length != nil {
		if err := s.checkLength(*n.Length); err != nil {
			return nil, err
		}
		reserve = *n.Length
	}
	metadata, err := json.Marshal(n.Metadata)
	if err != nil {
		return nil, err
	}
	parts, err := json.Marshal(n.Parts)
	if err != nil {
		return nil, err
	}
	if err := s.MayUpload(ctx, caller, reserve); err != nil { // before anything is stored
		return nil, err
	}
	staged, err := s.core.Bucket.Stage(ctx)
	if err != nil {
		return nil, err
	}
	u := &Resumable{
		OwnerID: caller.UserID, Name: staged.Name, Multipart: staged.Multipart, Kind: n.Kind, SHA256: n.SHA256,
		Metadata: string(metadata),
		Length:   n.Length, Partial: n.Partial, Parts: string(parts), CreatedAt: models.Now(),
	}
	u.ExpiresAt = u.CreatedAt.Add(s.core.Options.PendingTTL)
	err = s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := s.core.Claim(ctx, tx, caller.UserID, models.Claim{Bytes: reserve, Pending: 1}); err != nil {
			return err
		}
		f := &models.File{OwnerID: caller.UserID, Name: name, Kind: models.Attachment, State: models.Staged,
			CreatedAt: u.CreatedAt, ExpiresAt: &u.ExpiresAt}
		if err := s.stageOn(ctx, tx, caller, f, n.Target); err != nil {
			return err
		}
		if _, err := tx.NewInsert().Model(f).Exec(ctx); err != nil {
			return err
		}
		u.FileID = f.ID
		if _, err := tx.NewInsert().Model(u).Exec(ctx); err != nil {
			return err
		}
		return s.core.Enqueue(ctx, tx, models.Work{ExpireUpload: f.ID, At: u.ExpiresAt})
	})
	if err != nil {
		s.unstage(ctx, u)
		return nil, fmt.Errorf("create upload: %w", err)
	}
	return u, nil
}

// checkLength returns an error about the length of an upload that is not allowed.
func (s *Store) checkLength(length int64) error {
	if length < 1 {
		return models.Invalid("file", "file: is empty").WithFieldCode(apierror.FieldRequired)
	}
	if length > s.core.Options.UploadLimit {
		return overLimit("files", s.core.Options.UploadLimit)
	}
	return nil
}

// begun returns the upload of a file whose bytes are not those of a pending upload yet, or nil.
func (s *Store) begun(ctx context.Context, db bun.IDB, fileID int64) (*Resumable, error) {
	var rows []*Resumable
	err := db.NewSelect().Model(&rows).Where("up.file_id = ? AND NOT up.done", fileID).Scan(ctx)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return rows[0], nil
}

// unstage removes the bytes of an upload that has no row any more. If that fails, the garbage
// collector removes them later.
func (s *Store) unstage(ctx context.Context, u *Resumable) {
	if u == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	_ = s.core.Bucket.Unstage(ctx, u.staged())
	_ = s.core.Bucket.Remove(ctx, u.staged().Key()) // of a call of Finish that was interrupted
}

// Resumable returns an upload of the caller. It returns NotFound for those of other users and for
// those that have expired.
func (s *Store) Resumable(ctx context.Context, caller auth.Caller, id int64) (*Resumable, error) {
	u := new(Resumable)
	err := s.core.DB.Write.NewSelect().Model(u).ColumnExpr("up.*").ColumnExpr("coalesce(f.expires_at, ?) AS expires_at",
		models.Now().Add(s.core.Options.PendingTTL)).
		Join("JOIN files AS f ON f.id = up.file_id").
		Where("up.file_id = ? AND up.owner_id = ? AND (f.expires_at > ? OR f.state = ?)", id, caller.UserID, models.Now(),
			models.Finalized).Scan(ctx)
	if err != nil {
		return nil, models.NoSuchIfNoRows(err, "upload", id)
	}
	return u, nil
}

// DeclareLength sets the length of an upload that was created without one. It opens a transaction.
func (s *Store) DeclareLength(ctx context.Context, caller auth.Caller, id, length int64) error {
	if err := s.checkLength(length); err != nil {
		return err
	}
	return s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := s.core.LockUsage(ctx, tx, caller.UserID); err != nil {
			return err
		}
		u, err := s.lockResumable(ctx, tx, caller, id)
		if err != nil {
			return err
		}
		if u.Length != nil || length < u.Received {
			return models.Fail(models.Conflict,
				"the length of upload %d is known, or is less than the %d bytes that have arrived", id, u.Received)
		}
		if err := s.core.Claim(ctx, tx, caller.UserID, models.Claim{Bytes: length - u.Received}); err != nil {
			return err
		}
		u.Length = &length
		_, err = tx.NewUpdate().Model(u).Column("length").WherePK().Exec(ctx)
		return err
	})
}

// lockResumable reads an upload of the caller and locks its row until tx ends.
func (s *Store) lockResumable(ctx context.Context, tx bun.Tx, caller auth.Caller, id int64) (*Resumable, error) {
	u := new(Resumable)
	err := s.core.DB.ForUpdate(tx.NewSelect().Model(u).Where("up.file_id = ? AND up.owner_id = ?", id, caller.UserID)).
		Scan(ctx)
	return u, models.NoSuchIfNoRows(err, "upload", id)
}

// AppendResumable adds the bytes of r at the offset, and returns how many are durable. Bytes before
// an error of r are kept, unless verify is given, which is called after the last byte: then all are
// kept or none. It returns Conflict if the offset is not the number of bytes that have arrived,
// also if another request has stored some meanwhile. Each part is committed in a transaction of its
// own.
func (s *Store) AppendResumable(ctx context.Context, caller auth.Caller, id, offset int64, r io.Reader,
	verify func() error) (int64, error) {
	u, err := s.Resumable(ctx, caller, id)
	if err != nil {
		return 0, err
	}
	if u.Received != offset || u.Done {
		return 0, models.Fail(models.Conflict, "upload %d continues at byte %d (got %d)", id, u.Received, offset)
	}
	limit := s.core.Options.UploadLimit
	if u.Length != nil {
		limit = *u.Length
	}
	stored, err := s.core.Bucket.Append(ctx, u.staged(), io.LimitReader(r, limit-offset), verify,
		func(next bucket.Staged) error {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitTimeout)
			defer cancel()
			return s.commitReceived(ctx, u, next)
		})
	return stored.Size - offset, err
}

// commitTimeout limits how long the transaction takes that stores how many bytes have arrived.
const commitTimeout = 30 * time.Second

// commitReceived stores how many bytes of u are durable, and sets u to that.
func (s *Store) commitReceived(ctx context.Context, u *Resumable, next bucket.Staged) error {
	err := s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if u.Length == nil {
			if err := s.core.Claim(ctx, tx, u.OwnerID, models.Claim{Bytes: next.Size - u.Received}); err != nil {
				return err
			}
		}
		done, err := tx.NewUpdate().Model((*Resumable)(nil)).Set("received = ?, sums = ?", next.Size, next.Sums).
			Where("file_id = ? AND received = ? AND NOT done", u.FileID, u.Received).Exec(ctx)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n == 0 {
			return errors.Join(err, models.Fail(models.Conflict, "upload %d was deleted, or another request has continued it",
				u.FileID))
		}
		// It expires after a time without progress. The job that is due earlier does nothing, and the
		// garbage collector removes what it leaves.
		_, err = tx.NewUpdate().Model((*models.File)(nil)).Set("expires_at = ?", models.Now().Add(s.core.Options.PendingTTL)).
			Where("id = ? AND state = ? AND expires_at < ?", u.FileID, models.Staged, models.Now().
				Add(s.core.Options.PendingTTL-time.Minute)).Exec(ctx)
		return err
	})
	if err == nil {
		u.Received, u.Sums = next.Size, next.Sums
	}
	return err
}

// FinishResumable makes an upload whose bytes have all arrived an ordinary pending upload, or a
// part that JoinResumables can join. It is idempotent. If the bytes are refused, the upload is
// deleted. It opens a transaction.
func (s *Store) FinishResumable(ctx context.Context, caller auth.Caller, id int64) error {
	u, err := s.Resumable(ctx, caller, id)
	if err != nil || u.Done {
		return err
	}
	if !u.Complete() {
		return models.Fail(models.Conflict, "upload %d is not complete: %d bytes have arrived", id, u.Received)
	}
	stored, err := s.core.Bucket.Finish(ctx, u.staged())
	if err != nil {
		return err
	}
	if u.Partial {
		return s.finishPart(ctx, u, stored)
	}
	return s.finishFile(ctx, caller, u, stored)
}

// finishPart records the object of a part. Its file remains staged, so it is never finalized.
func (s *Store) finishPart(ctx context.Context, u *Resumable, stored bucket.Upload) error {
	return s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if _, err := tx.NewUpdate().Model((*models.File)(nil)).Set("object_key = ?", stored.Key).
			Where("id = ? AND state = ?", u.FileID, models.Staged).Exec(ctx); err != nil {
			return err
		}
		_, err := tx.NewUpdate().Model((*Resumable)(nil)).Set("done = ?", true).Where("file_id = ?", u.FileID).Exec(ctx)
		return err
	})
}

// finishFile makes the file of u pending, with the stored bytes.
func (s *Store) finishFile(ctx context.Context, caller auth.Caller, u *Resumable, stored bucket.Upload) error {
	kept, err := s.accept(ctx, u, stored)
	if err != nil {
		if models.CodeOf(err) != models.Internal { // the bytes are refused
			err = errors.Join(err, s.DeletePendingUpload(ctx, caller, u.FileID))
			s.core.Discard(ctx, stored.Key)
		}
		return err
	}
	err = s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		f, err := s.core.LockFile(ctx, tx, u.FileID)
		if err != nil {
			return err
		}
		if f.State != models.Staged {
			return nil // another request was first
		}
		f.SetContent(kept, u.Kind)
		if _, err := tx.NewUpdate().Model(f).Column("state", "object_key", "size", "sha256", "md5", "kind", "content_type").
			WherePK().Exec(ctx); err != nil {
			return err
		}
		_, err = tx.NewUpdate().Model((*Resumable)(nil)).Set("done = ?", true).Where("file_id = ?", u.FileID).Exec(ctx)
		return err
	})
	if err != nil {
		if kept.Key != stored.Key {
			s.discardUnreferenced(ctx, kept.Key)
		}
		return fmt.Errorf("finish upload %d: %w", u.FileID, err)
	}
	if kept.Key != stored.Key {
		s.core.Discard(ctx, stored.Key)
	}
	s.uploaded(kept)
	return nil
}

// accept checks the bytes of a finished upload. It stores images again, without their metadata.
func (s *Store) accept(ctx context.Context, u *Resumable, stored bucket.Upload) (bucket.Upload, error) {
	if u.SHA256 != "" && u.SHA256 != stored.SHA256 {
		return stored, models.Invalid("sha256", "sha256: the bytes have %s (got %s)", stored.SHA256, u.SHA256)
	}
	kind, contentType := models.Classify(stored.ContentType, "", u.Kind)
	switch {
	case u.Kind == models.Image && kind != models.Image:
		return stored, models.Invalid("kind",
			"kind: the file must be a PNG, JPEG, GIF, WebP or AVIF image to be IMAGE (got %s)", contentType)
	case kind == models.Image && stored.Size > s.core.Options.ImageLimit:
		return stored, overLimit("images", s.core.Options.ImageLimit)
	case kind != models.Image && !strings.HasPrefix(stored.ContentType, "image/"):
		return stored, nil
	}
	r, _, err := s.core.Bucket.Reader(ctx, stored.Key)
	if err != nil {
		return stored, err
	}
	defer r.Close()
	return s.receive(ctx, r, 0, stored.Size, &allowance{left: math.MaxInt64})
}
