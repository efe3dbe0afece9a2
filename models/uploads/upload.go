package uploads

import (
	"context"
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
	"github.com/meshyard/meshyard/internal/image/imagemeta"
	"github.com/meshyard/meshyard/models"
)

// NewUpload is the input of Upload.
type NewUpload struct {
	Name    string
	Folder  string          // inside of the thing, slash-separated; empty: the top
	Kind    models.FileKind // the kind that the owner declares; empty: derived from the name
	Bytes   io.Reader
	AtLeast int64 // the known minimum number of bytes; 0: unknown
}

// LateKind is implemented by readers of a form whose fields may follow the file. Once the file has
// been read, Kind returns the kind that the owner declares there, or "". Such forms are those of
// legacy clients, which declare files as images that are none.
type LateKind interface{ Kind() string }

// MayUpload returns an error, before anything is read, if Upload would reject a file of at least
// atLeast bytes.
func (s *Store) MayUpload(ctx context.Context, caller auth.Caller, atLeast int64) error {
	allowance, err := s.allowance(ctx, caller.UserID, 1)
	if err != nil {
		return err
	}
	return fits(atLeast, s.core.Options.UploadLimit, allowance)
}

// Upload streams a file into the bucket and stores it as a pending upload of the caller. If it
// fails, neither a row nor an object remains, unless the connection breaks during COMMIT: then both
// may remain.
func (s *Store) Upload(ctx context.Context, caller auth.Caller, n NewUpload) (*models.File, error) {
	name, err := models.CleanFilename("file", n.Name)
	if err != nil {
		return nil, err
	}
	folder, err := models.CleanFolder("folder", n.Folder)
	if err != nil {
		return nil, err
	}
	allowance, err := s.allowance(ctx, caller.UserID, 1)
	if err != nil {
		return nil, err
	}
	up, err := s.receive(ctx, n.Bytes, n.AtLeast, s.core.Options.UploadLimit, allowance)
	if err != nil {
		return nil, err
	}
	at := models.Now()
	expires := at.Add(s.core.Options.PendingTTL)
	f := &models.File{OwnerID: caller.UserID, Name: name, Folder: folder, State: models.Pending, CreatedAt: at,
		ExpiresAt: &expires}
	late, legacy := n.Bytes.(LateKind)
	if legacy && late.Kind() != "" {
		n.Kind = models.FileKind(late.Kind())
	}
	f.SetContent(up, n.Kind)
	if !legacy && n.Kind == models.Image && f.Kind != models.Image {
		s.core.Discard(ctx, up.Key)
		return nil, models.Invalid("kind", "kind: the file must be a PNG, JPEG, GIF, WebP or AVIF image to be IMAGE (got %s)",
			f.ContentType)
	}
	err = s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := s.core.Claim(ctx, tx, caller.UserID, models.Claim{Bytes: up.Size, Pending: 1}); err != nil {
			return err
		}
		if _, err := tx.NewInsert().Model(f).Exec(ctx); err != nil {
			return err
		}
		return s.core.Enqueue(ctx, tx, models.Work{ExpireUpload: f.ID, At: expires})
	})
	if err != nil {
		s.discardUnreferenced(ctx, up.Key)
		return nil, fmt.Errorf("upload %s: %w", up.Key, err)
	}
	s.uploaded(up)
	return f, nil
}

// uploaded reports a committed upload.
func (s *Store) uploaded(up bucket.Upload) {
	if report := s.core.Options.Events.Uploaded; report != nil {
		report(up.Size)
	}
}

// receive streams bytes into the bucket, at most limit of them and not more than there is room for.
// Images are stored without their metadata, so size and hashes are those of fewer bytes. If atLeast
// exceeds either limit, it reads nothing. It returns TooLarge if there are too many bytes, and
// BadInput if there are none or if reading fails.
func (s *Store) receive(ctx context.Context, bytes io.Reader, atLeast, limit int64,
	allowance *allowance) (bucket.Upload, error) {
	if bytes == nil {
		return bucket.Upload{}, models.Invalid("file", "file: is missing").WithFieldCode(apierror.FieldRequired)
	}
	if err := fits(atLeast, limit, allowance); err != nil {
		return bucket.Upload{}, err
	}
	source := &source{r: bytes, count: &s.receiving, allowance: allowance, limit: limit}
	defer source.release()
	// The metadata is removed before the bytes are hashed, so it is stored nowhere.
	up, err := s.core.Bucket.Put(ctx, imagemeta.Strip(source), min(limit, allowance.left))
	var tooLarge *bucket.TooLargeError
	var mine *models.Error
	switch {
	case errors.As(err, &tooLarge):
		return up, fits(tooLarge.Limit+1, limit, allowance)
	case source.err != nil && errors.As(source.err, &mine):
		return up, mine
	case source.err != nil:
		return up, models.Invalid("file", "file: ended early")
	case err != nil:
		return up, err
	}
	switch base, _, _ := strings.Cut(up.ContentType, ";"); {
	case up.Size == 0:
		err = models.Invalid("file", "file: is empty").WithFieldCode(apierror.FieldRequired)
	case models.IsImage(base) && up.Size > s.core.Options.ImageLimit:
		err = overLimit("images", s.core.Options.ImageLimit)
	default:
		return up, nil
	}
	s.core.Discard(ctx, up.Key)
	return up, err
}

// fits returns TooLarge if a file of at least atLeast bytes exceeds its limit or the remaining
// quota.
func fits(atLeast, limit int64, allowance *allowance) error {
	switch {
	case atLeast > limit:
		return overLimit("files", limit)
	case max(atLeast, 1) > allowance.left: // empty files are not allowed
		return allowance.usage.TooManyBytes()
	}
	return nil
}

func overLimit(what string, limit int64) error {
	e := models.Invalid("file", "file: too large: %s must be at most %s (%d bytes)", what,
		models.FormatLimit(limit), limit)
	e.Code, e.Limit = models.TooLarge, limit
	return e
}

// source reads an upload. It records whether reading failed, which is an error of the client and
// not of the server, and counts the bytes as received by the user. It fails if all uploads in
// progress of the user exceed the quota. Otherwise many uploads that never end would fill the disk.
// It also fails after the limit, because the bucket does not see what is removed from images.
type source struct {
	r         io.Reader
	err       error
	allowance *allowance
	limit     int64

	count *receiving
	read  int64 // counted as received
	total int64
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if s.allowance.usage != nil {
		// A single upload is not stopped here: the bucket stops it at the first byte above the quota.
		if !s.count.add(s.allowance.userID, int64(n), max(s.allowance.left, s.read+int64(n))) {
			err = s.allowance.usage.TooManyInProgress()
			n = 0
		}
		s.read += int64(n)
	}
	if s.total += int64(n); s.total > s.limit && (err == nil || err == io.EOF) {
		n, err = 0, overLimit("files", s.limit)
	}
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}

// release ends the counting of the upload.
func (s *source) release() {
	if s.read > 0 {
		s.count.add(s.allowance.userID, -s.read, math.MaxInt64)
	}
}

// discardUnreferenced removes the object of an upload whose transaction failed, unless a row refers
// to the object: if the connection broke during COMMIT, the transaction may be committed. If the
// query fails, the object is left to the garbage collector.
func (s *Store) discardUnreferenced(ctx context.Context, key string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	referenced, err := s.core.DB.Write.NewSelect().Model((*models.File)(nil)).Where("f.object_key = ?", key).Exists(ctx)
	if err == nil && !referenced {
		s.core.Discard(ctx, key)
	}
}
