package models

import (
	"context"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/bucket"
)

// Blob gives a file and the key of its bytes, to whoever holds a signed address or, without one,
// where everybody may have them.
func (s *Store) Blob(ctx context.Context, fileID int64, signed bool) (*File, string, error) {
	f, ok, err := s.files.get(ctx, fileID)
	if err != nil {
		return nil, "", err
	}
	if !ok || !f.live(now()) {
		return nil, "", missing("file", fileID)
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
	if !f.held() {
		return nil, "", fail(NotFound, "the bytes of file %d are not here: only what is known of it was imported", fileID)
	}
	return f, bucket.ContentKey(f.SHA256), nil
}
