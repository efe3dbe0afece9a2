package models

import (
	"context"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/bucket"
)

// Blob returns a file and the object key of its content. signed means that the request has a valid
// signed URL; otherwise, the file must be public. It returns NotFound if the file or its content
// does not exist, and Forbidden if the file is not public or its thing was taken down.
func (s *Store) Blob(ctx context.Context, fileID int64, signed bool) (*File, string, error) {
	f, ok, err := s.contents.get(ctx, fileID)
	if err != nil {
		return nil, "", err
	}
	if !ok || !f.live(now()) {
		return nil, "", notFound("file", fileID)
	}
	if !signed {
		if err := f.Allows(auth.Caller{}); err != nil {
			return nil, "", err
		}
	}
	if f.State == Pending {
		return f, f.ObjectKey, nil
	}
	if f.TakenDown {
		return nil, "", f.down()
	}
	if !f.IsAvailable() {
		return nil, "", fail(NotFound, "file %d was imported without its content", fileID)
	}
	return f, bucket.ContentKey(f.SHA256), nil
}
