package models

import (
	"context"
	"database/sql"
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
)

// NewUpload is the input of Upload.
type NewUpload struct {
	Name    string
	Folder  string   // inside of the thing, slash-separated; empty: the top
	Kind    FileKind // the kind that the owner declares; empty: derived from the name
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
	room, err := s.room(ctx, caller.UserID, 1)
	if err != nil {
		return err
	}
	return fits(atLeast, s.Options.UploadLimit, room)
}

// Upload streams a file into the bucket and stores it as a pending upload of the caller. If it
// fails, neither a row nor an object remains, unless the connection breaks during COMMIT: then both
// may remain.
func (s *Store) Upload(ctx context.Context, caller auth.Caller, n NewUpload) (*File, error) {
	name, err := cleanFilename("file", n.Name)
	if err != nil {
		return nil, err
	}
	folder, err := cleanFolder("folder", n.Folder)
	if err != nil {
		return nil, err
	}
	room, err := s.room(ctx, caller.UserID, 1)
	if err != nil {
		return nil, err
	}
	up, err := s.receive(ctx, n.Bytes, n.AtLeast, s.Options.UploadLimit, room)
	if err != nil {
		return nil, err
	}
	at := Now()
	expires := at.Add(s.Options.PendingTTL)
	f := &File{OwnerID: caller.UserID, Name: name, Folder: folder, State: Pending, CreatedAt: at, ExpiresAt: &expires}
	late, legacy := n.Bytes.(LateKind)
	if legacy && late.Kind() != "" {
		n.Kind = FileKind(late.Kind())
	}
	f.setContent(up, n.Kind)
	if !legacy && n.Kind == Image && f.Kind != Image {
		s.Discard(ctx, up.Key)
		return nil, Invalid("kind", "kind: the file must be a PNG, JPEG, GIF, WebP or AVIF image to be IMAGE (got %s)", f.ContentType)
	}
	err = s.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := s.claim(ctx, tx, caller.UserID, claim{bytes: up.Size, pending: 1}); err != nil {
			return err
		}
		if _, err := tx.NewInsert().Model(f).Exec(ctx); err != nil {
			return err
		}
		return s.Enqueue(ctx, tx, Work{ExpireUpload: f.ID, At: expires})
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
	if report := s.Options.Events.Uploaded; report != nil {
		report(up.Size)
	}
}

// setContent sets the stored content of the file to the uploaded bytes.
func (f *File) setContent(up bucket.Upload, declared FileKind) {
	f.State, f.ObjectKey, f.Size, f.SHA256, f.MD5 = Pending, up.Key, up.Size, up.SHA256, up.MD5
	f.Kind, f.ContentType = Classify(up.ContentType, f.Name, declared)
}

// receive streams bytes into the bucket, at most limit of them and not more than there is room for.
// Images are stored without their metadata, so size and hashes are those of fewer bytes. If atLeast
// exceeds either limit, it reads nothing. It returns TooLarge if there are too many bytes, and
// BadInput if there are none or if reading fails.
func (s *Store) receive(ctx context.Context, bytes io.Reader, atLeast, limit int64, room *room) (bucket.Upload, error) {
	if bytes == nil {
		return bucket.Upload{}, Invalid("file", "file: is missing").WithFieldCode(apierror.FieldRequired)
	}
	if err := fits(atLeast, limit, room); err != nil {
		return bucket.Upload{}, err
	}
	source := &source{r: bytes, count: &s.receiving, room: room, limit: limit}
	defer source.release()
	// The metadata is removed before the bytes are hashed, so it is stored nowhere.
	up, err := s.Bucket.Put(ctx, imagemeta.Strip(source), min(limit, room.left))
	var tooLarge *bucket.TooLargeError
	var mine *Error
	switch {
	case errors.As(err, &tooLarge):
		return up, fits(tooLarge.Limit+1, limit, room)
	case source.err != nil && errors.As(source.err, &mine):
		return up, mine
	case source.err != nil:
		return up, Invalid("file", "file: ended early")
	case err != nil:
		return up, err
	}
	switch base, _, _ := strings.Cut(up.ContentType, ";"); {
	case up.Size == 0:
		err = Invalid("file", "file: is empty").WithFieldCode(apierror.FieldRequired)
	case isImage(base) && up.Size > s.Options.ImageLimit:
		err = overLimit("images", s.Options.ImageLimit)
	default:
		return up, nil
	}
	s.Discard(ctx, up.Key)
	return up, err
}

// fits returns TooLarge if a file of at least atLeast bytes exceeds its limit or the remaining
// quota.
func fits(atLeast, limit int64, room *room) error {
	switch {
	case atLeast > limit:
		return overLimit("files", limit)
	case max(atLeast, 1) > room.left: // empty files are not allowed
		return room.usage.tooManyBytes()
	}
	return nil
}

func overLimit(what string, limit int64) error {
	e := Invalid("file", "file: too large: %s must be at most %s (%d bytes)", what, formatLimit(limit), limit)
	e.Code, e.Limit = TooLarge, limit
	return e
}

// source reads an upload. It records whether reading failed, which is an error of the client and
// not of the server, and counts the bytes as received by the user. It fails if all uploads in
// progress of the user exceed the quota. Otherwise many uploads that never end would fill the disk.
// It also fails after the limit, because the bucket does not see what is removed from images.
type source struct {
	r     io.Reader
	err   error
	room  *room
	limit int64

	count *receiving
	read  int64 // counted as received
	total int64
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if s.room.usage != nil {
		// A single upload is not stopped here: the bucket stops it at the first byte above the quota.
		if !s.count.add(s.room.userID, int64(n), max(s.room.left, s.read+int64(n))) {
			err = s.room.usage.tooManyInProgress()
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
		s.count.add(s.room.userID, -s.read, math.MaxInt64)
	}
}

// formatLimit formats a number of bytes for people, in the largest unit of which it is a multiple.
func formatLimit(n int64) string {
	for i, unit := range []string{"GiB", "MiB", "KiB"} {
		if size := int64(1) << (30 - 10*i); n >= size && n%size == 0 {
			return fmt.Sprintf("%d %s", n/size, unit)
		}
	}
	if n%1_000_000 == 0 && n > 0 {
		return fmt.Sprintf("%d MB", n/1_000_000)
	}
	return fmt.Sprintf("%d bytes", n)
}

// Discard removes an object that no row refers to any more. If that fails, the garbage collector
// removes it later.
func (s *Store) Discard(ctx context.Context, key string) {
	if key == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	_ = s.Bucket.Remove(ctx, key)
}

// discardUnreferenced removes the object of an upload whose transaction failed, unless a row refers
// to the object: if the connection broke during COMMIT, the transaction may be committed. If the
// query fails, the object is left to the garbage collector.
func (s *Store) discardUnreferenced(ctx context.Context, key string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	referenced, err := s.DB.Write.NewSelect().Model((*File)(nil)).Where("f.object_key = ?", key).Exists(ctx)
	if err == nil && !referenced {
		s.Discard(ctx, key)
	}
}

// DeletePendingUpload deletes a pending upload of the caller with its bytes. It returns NotFound
// for an upload of another user, and Conflict for a finalized file. It opens a transaction.
func (s *Store) DeletePendingUpload(ctx context.Context, caller auth.Caller, id int64) error {
	var key string
	var begun *Resumable
	err := s.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		f, err := s.lockFile(ctx, tx, id)
		if CodeOf(err) == NotFound {
			return NoSuch("pending upload", id) // the same message as for a file of another user
		} else if err != nil {
			return err
		}
		if f.OwnerID != caller.UserID {
			return NoSuch("pending upload", id)
		}
		if begun, err = s.begun(ctx, tx, id); err != nil {
			return err
		}
		joinable := f.State == Staged && f.ObjectKey != "" // a finished part of a resumable upload
		if begun == nil && !joinable && !f.live(Now()) {
			return NoSuch("pending upload", id)
		}
		if f.State == Finalized {
			e := Fail(Conflict, "file %d is finalized: it is not a pending upload any more", id)
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
	s.Discard(ctx, key)
	s.unstage(ctx, begun)
	return nil
}

// ExpireUpload deletes an upload that has expired without being finalized. It does nothing if the
// file was deleted or finalized, or has not expired. A concurrent finalization locks the row, so
// one of the two waits and then sees the result of the other.
func (s *Store) ExpireUpload(ctx context.Context, id int64) error {
	begun, err := s.begun(ctx, s.DB.Write, id)
	if err != nil {
		return fmt.Errorf("expire upload %d: %w", id, err)
	}
	var keys []string
	err = s.DB.Write.NewDelete().Model((*File)(nil)).
		Where("id = ? AND state <> ? AND expires_at <= ?", id, Finalized, Now()).Returning("object_key").Scan(ctx, &keys)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("expire upload %d: %w", id, err)
	}
	for _, key := range keys {
		s.Discard(ctx, key)
		s.unstage(ctx, begun)
	}
	return nil
}

// lockFile reads a file in any state, and locks its row until tx ends. It returns NotFound if there
// is no such file.
func (s *Store) lockFile(ctx context.Context, tx bun.Tx, id int64) (*File, error) {
	f := new(File)
	err := s.DB.ForUpdate(tx.NewSelect().Model(f).Where("f.id = ?", id)).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, NoSuch("file", id)
	}
	return f, err
}
