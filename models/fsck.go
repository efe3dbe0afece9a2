package models

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/meshyard/meshyard/internal/bucket"
)

// Check compares rows and objects and calls report with a description of each inconsistency. It
// ignores objects without a row that are younger than grace, because an upload stores its bytes
// before its row. With rehash it reads every content and verifies its hash, which takes as long as
// reading the bucket.
func (s *Store) Check(ctx context.Context, grace time.Duration, rehash bool, report func(problem string)) error {
	if err := s.checkFiles(ctx, rehash, report); err != nil {
		return fmt.Errorf("check files: %w", err)
	}
	if err := s.checkPreviews(ctx, report); err != nil {
		return fmt.Errorf("check previews: %w", err)
	}
	for _, prefix := range []string{bucket.PendingPrefix, bucket.ContentPrefix, bucket.DerivedPrefix} {
		row := "file"
		if prefix == bucket.DerivedPrefix {
			row = "preview"
		}
		err := s.eachUnnamed(ctx, prefix, time.Now().Add(-grace), func(o bucket.Object) error {
			report(fmt.Sprintf("object %s: no %s refers to it (%d bytes; gc removes it)", o.Key, row, o.Size))
			return nil
		})
		if err != nil {
			return fmt.Errorf("check objects: %w", err)
		}
	}
	return nil
}

// checkFiles checks that the content of each file exists. Within a page of rows, a content that
// several files share is checked once.
func (s *Store) checkFiles(ctx context.Context, rehash bool, report func(string)) error {
	for last := int64(0); ; {
		var rows []*File
		err := s.db.Write.NewSelect().Model(&rows).Column("f.id", "f.state", "f.size", "f.sha256", "f.object_key").
			Where("f.id > ? AND f.state <> ? AND f.sha256 <> ''", last, Staged).Order("f.id").Limit(objectsAtOnce).Scan(ctx)
		if err != nil || len(rows) == 0 {
			return err
		}
		checked := make(map[string]string, len(rows))
		for _, f := range rows {
			last = f.ID
			key := f.ObjectKey
			if f.State == Finalized {
				key = bucket.ContentKey(f.SHA256)
			}
			fault, seen := checked[key]
			if !seen {
				if fault, err = s.checkObject(ctx, key, f, rehash); err != nil {
					return err
				}
				checked[key] = fault
			}
			if fault == "" {
				continue
			}
			// The file may have been finalized or deleted since its row was read.
			if still, err := s.db.Write.NewSelect().Model((*File)(nil)).Where("f.id = ? AND f.state = ? AND f.object_key = ?", f.ID, f.State, f.ObjectKey).Exists(ctx); err != nil {
				return err
			} else if still {
				report(fmt.Sprintf("file %d: object %s %s", f.ID, key, fault))
			}
		}
	}
}

// checkObject returns a description of the problem with the object of a file, or "" if there is
// none.
func (s *Store) checkObject(ctx context.Context, key string, f *File, rehash bool) (string, error) {
	o, err := s.bucket.Stat(ctx, key)
	switch {
	case errors.Is(err, bucket.ErrNotExist):
		return "is missing", nil
	case err != nil:
		return "", err
	case o.Size != f.Size:
		return fmt.Sprintf("has %d bytes, not %d", o.Size, f.Size), nil
	case !rehash:
		return "", nil
	}
	r, _, err := s.bucket.Reader(ctx, key)
	if errors.Is(err, bucket.ErrNotExist) { // removed since Stat
		return "is missing", nil
	}
	if err != nil {
		return unreadable(err)
	}
	defer r.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, r); err != nil {
		return unreadable(err)
	}
	if sum := hex.EncodeToString(hash.Sum(nil)); sum != f.SHA256 {
		return "has other content: its SHA-256 is " + sum, nil
	}
	return "", nil
}

// unreadable returns the description of an error of reading an object, or the error if other
// objects would have it, too.
func unreadable(err error) (string, error) {
	if bucket.IsUnreadable(err) {
		return "cannot be read: " + err.Error(), nil
	}
	return "", err
}
