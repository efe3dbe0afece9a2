package uploads

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models"
)

// CompleteUpload is an upload of CompleteStagedUploads.
type CompleteUpload struct {
	ID     int64
	SHA256 *string // of the bytes, in hex
}

// CompletedUpload is the result for an upload: the pending or finalized file, or why there is none.
type CompletedUpload struct {
	ID    int64
	File  *models.File
	Error *string
}

// CompleteStagedUploads verifies that the bytes of uploads of the caller have arrived and have the
// declared size and SHA-256, and makes uploads whose parts clients have sent to S3 pending. An
// error about an upload is in its result. It is idempotent. Each upload has transactions of its
// own.
func (s *Store) CompleteStagedUploads(ctx context.Context, caller auth.Caller,
	uploads []CompleteUpload) ([]*CompletedUpload, error) {
	if len(uploads) == 0 {
		return nil, models.RequiredList("uploads")
	}
	if len(uploads) > MaxStaged {
		return nil, models.TooMany("uploads", len(uploads), MaxStaged)
	}
	results, ids := make([]*CompletedUpload, len(uploads)), make([]int64, len(uploads))
	for i, u := range uploads {
		if slices.Contains(ids[:i], u.ID) {
			return nil, models.GivenTwice("uploads", u.ID)
		}
		ids[i], results[i] = u.ID, &CompletedUpload{ID: u.ID}
		err := s.complete(ctx, caller, u)
		if models.CodeOf(err) == models.Internal && err != nil {
			return nil, err
		}
		if err != nil {
			text := err.Error()
			results[i].Error = &text
		}
	}
	files, err := s.core.FilesByID(ctx, models.AllFileFields, ids)
	if err != nil {
		return nil, err
	}
	for i, r := range results {
		if r.Error != nil {
			continue
		}
		if r.File = files[ids[i]]; r.File == nil {
			text := models.NoSuch("pending upload", ids[i]).Error() // deleted since
			r.Error = &text
		}
	}
	return results, nil
}

func (s *Store) complete(ctx context.Context, caller auth.Caller, c CompleteUpload) error {
	want := ""
	if c.SHA256 != nil {
		n, err := NewResumable{SHA256: *c.SHA256}.checked()
		if err != nil {
			return err
		}
		want = n.SHA256
	}
	var rows []*models.File
	if err := s.core.DB.Write.NewSelect().Model(&rows).Where("f.id = ? AND f.owner_id = ?", c.ID, caller.UserID).
		Scan(ctx); err != nil {
		return err
	}
	if len(rows) == 0 || rows[0].State != models.Finalized && !rows[0].ExpiresAt.After(models.Now()) {
		return models.NoSuch("pending upload", c.ID)
	}
	f := rows[0]
	u, err := s.begun(ctx, s.core.DB.Write, c.ID)
	switch {
	case err != nil:
		return err
	case u != nil && u.Partial:
		return models.Fail(models.Conflict, "upload %d is a part of another one", c.ID)
	case u != nil:
		if f, err = s.completeBegun(ctx, caller, u, want); err != nil {
			return err
		}
	case f.State == models.Staged:
		return models.Fail(models.Conflict, "pending upload %d has no bytes yet", c.ID)
	}
	if want == "" || want == f.SHA256 {
		return nil
	}
	// The declared SHA-256 of an image is that of the bytes before its metadata was removed.
	declared, err := s.core.DB.Write.NewSelect().Model((*Resumable)(nil)).
		Where("up.file_id = ? AND up.done AND up.sha256 = ?", c.ID, want).Exists(ctx)
	if err != nil || declared {
		return err
	}
	return models.Invalid("sha256", "sha256: the bytes have %s (got %s)", f.SHA256, want)
}

// completeBegun finishes an upload whose bytes are not those of a pending upload yet.
func (s *Store) completeBegun(ctx context.Context, caller auth.Caller, u *Resumable,
	want string) (*models.File, error) {
	if want != "" && u.SHA256 != "" && want != u.SHA256 {
		return nil, models.Invalid("sha256", "sha256: %s was declared (got %s)", u.SHA256, want)
	}
	if u.Length == nil {
		return nil, models.Fail(models.Conflict, "the length of upload %d is not known", u.FileID)
	}
	if !u.Complete() {
		size, err := s.core.Bucket.StagedSize(ctx, u.staged())
		if err != nil {
			return nil, err
		}
		if size != *u.Length {
			return nil, models.Fail(models.Conflict, "size: upload %d has %d bytes of %d", u.FileID, max(size, u.Received),
				*u.Length)
		}
	}
	q := s.core.DB.Write.NewUpdate().Model(u).WherePK().Where("received = ? AND NOT done", u.Received).Column("sha256")
	if want != "" {
		u.SHA256 = want
	}
	if !u.Complete() {
		u.Received, u.Sums = *u.Length, nil // the bytes were not hashed
		q = q.Column("received", "sums")
	}
	done, err := q.Exec(ctx)
	if err != nil {
		return nil, err
	}
	if n, err := done.RowsAffected(); err != nil || n == 0 {
		return nil, models.Fail(models.Conflict, "upload %d is being written by another request", u.FileID)
	}
	if err := s.FinishResumable(ctx, caller, u.FileID); err != nil {
		return nil, err
	}
	f := new(models.File)
	err = s.core.DB.Write.NewSelect().Model(f).Where("f.id = ?", u.FileID).Scan(ctx)
	return f, models.NoSuchIfNoRows(err, "pending upload", u.FileID)
}

// checked returns n with a SHA-256 in lower case, or BadInput if it is not one.
func (n NewResumable) checked() (NewResumable, error) {
	n.SHA256 = strings.ToLower(n.SHA256)
	if raw, err := hex.DecodeString(n.SHA256); n.SHA256 != "" && (err != nil || len(raw) != sha256.Size) {
		return n, models.Invalid("sha256", "sha256: must be 64 hex digits (got %q)", n.SHA256)
	}
	return n, nil
}
