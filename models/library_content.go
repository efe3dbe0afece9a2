package models

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/bucket"
)

// SetLibraryContent stores the hashes, the kind and the content type of a file in a library, whose
// bytes were read, and schedules its preview. It does nothing if the file has another key by now.
// tx must not hold locks of contents with greater hashes, so that transactions do not deadlock.
func (s *Store) SetLibraryContent(ctx context.Context, tx bun.Tx, f *File) error {
	if err := HoldContent(ctx, tx, f.SHA256); err != nil {
		return err
	}
	var state PreviewState
	var err error
	if f.PreviewID, state, err = s.SchedulePreview(ctx, tx, f); err != nil {
		return err
	}
	updated, err := tx.NewUpdate().Model(f).Column("kind", "content_type", "sha256", "md5", "preview_id").
		Where("id = ? AND object_key = ?", f.ID, f.ObjectKey).Exec(ctx)
	if err != nil {
		return err
	}
	if n, err := updated.RowsAffected(); n == 0 || err != nil {
		return err
	}
	if state == PreviewDone || state == PreviewFailed {
		return s.Raise(ctx, tx, FilesProcessed{[]*File{f}, state})
	}
	return nil
}

// OpenContent opens a content that is in the bucket or in a library. The error matches
// [bucket.ErrNotExist] if it is nowhere.
func (s *Store) OpenContent(ctx context.Context, sha256 string) (*bucket.Source, error) {
	source, missing := s.Bucket.OpenSource(ctx, bucket.ContentKey(sha256))
	if missing == nil || !errors.Is(missing, bucket.ErrNotExist) {
		return source, missing
	}
	var keys []string
	err := s.DB.Read.NewSelect().Model((*File)(nil)).Column("f.object_key").
		Where("f.sha256 = ? AND f.state = ? AND f.object_key <> '' AND f.missing_since IS NULL", sha256, Finalized).Limit(10).
		Scan(ctx, &keys)
	if err != nil {
		return nil, err
	}
	for _, key := range keys {
		source, err := s.Bucket.OpenSource(ctx, key)
		if err == nil {
			return source, nil
		}
		missing = fmt.Errorf("%w; %w", missing, err) // matches ErrNotExist
	}
	return nil, missing
}

// imageTypes are the content types of images by extension.
var imageTypes = map[string]string{
	".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".jpe": "image/jpeg", ".jfif": "image/jpeg",
	".gif": "image/gif", ".webp": "image/webp", ".avif": "image/avif",
}

// ClassifyUnread returns the kind and the content type of a file whose bytes were not read yet, by
// its name.
func ClassifyUnread(name string) (FileKind, string) {
	extension := strings.ToLower(path.Ext(name))
	if image := imageTypes[extension]; image != "" {
		return Image, image
	}
	kind, contentType := Classify("application/octet-stream", name, "")
	if model, known := modelTypes[extension]; known {
		contentType = model.contentType
	}
	return kind, contentType
}
