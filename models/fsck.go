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

// The errors of a bucket that seems to belong to another database.
var (
	ErrNoContents = errors.New("the bucket has none of the files of the database")
	ErrUsedBucket = errors.New("the database is new, but the bucket has files")
)

// sampledContents is the number of contents that CheckBucket looks up at most.
const sampledContents = 20

// CheckBucket returns an error if the bucket seems to belong to another database, whose files would
// be garbage for this one: ErrNoContents if it has none of some contents that the database refers
// to, and ErrUsedBucket if the database has no users and the bucket has contents.
func (s *Store) CheckBucket(ctx context.Context) error {
	var sums []string
	if err := s.DB.Read.NewSelect().Table("contents").Column("sha256").Limit(sampledContents).Scan(ctx, &sums); err != nil {
		return err
	}
	for _, sum := range sums {
		if has, err := s.Bucket.Has(ctx, bucket.ContentKey(sum)); has || err != nil {
			return err
		}
	}
	if len(sums) > 0 {
		return fmt.Errorf("%w that were looked up, such as %s", ErrNoContents, bucket.ContentKey(sums[0]))
	}
	if used, err := s.DB.Read.NewSelect().Model((*User)(nil)).Exists(ctx); used || err != nil {
		return err
	}
	for o, err := range s.Bucket.Objects(ctx, bucket.ContentPrefix) {
		if err == nil {
			err = fmt.Errorf("%w, such as %s", ErrUsedBucket, o.Key)
		}
		return err
	}
	return nil
}

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
		err := s.eachUnreferenced(ctx, prefix, time.Now().Add(-grace), func(o bucket.Object) error {
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
		err := s.DB.Write.NewSelect().Model(&rows).Column("f.id", "f.state", "f.size", "f.sha256", "f.object_key").
			Where("f.id > ? AND f.state <> ? AND f.sha256 <> ''", last, Staged).Order("f.id").Limit(ObjectsAtOnce).Scan(ctx)
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
			if still, err := s.DB.Write.NewSelect().Model((*File)(nil)).Where("f.id = ? AND f.state = ? AND f.object_key = ?", f.ID, f.State, f.ObjectKey).Exists(ctx); err != nil {
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
	o, err := s.Bucket.Stat(ctx, key)
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
	r, _, err := s.Bucket.Reader(ctx, key)
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
