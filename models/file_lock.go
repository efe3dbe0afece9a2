package models

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/bucket"
)

// LockFile reads a file in any state, and locks its row until tx ends. It returns NotFound if there
// is no such file.
func (s *Store) LockFile(ctx context.Context, tx bun.Tx, id int64) (*File, error) {
	f := new(File)
	err := s.DB.ForUpdate(tx.NewSelect().Model(f).Where("f.id = ?", id)).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, NoSuch("file", id)
	}
	return f, err
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

// SetContent sets the stored content of the file to the uploaded bytes.
func (f *File) SetContent(up bucket.Upload, declared FileKind) {
	f.State, f.ObjectKey, f.Size, f.SHA256, f.MD5 = Pending, up.Key, up.Size, up.SHA256, up.MD5
	f.Kind, f.ContentType = Classify(up.ContentType, f.Name, declared)
}
