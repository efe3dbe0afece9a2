package library

import (
	"cmp"
	"context"
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"slices"
	"sync"

	"github.com/gabriel-vasile/mimetype"
	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/bucket"
	"github.com/meshyard/meshyard/models"
)

const (
	readBatch   = 64 // files whose hashes one transaction stores
	readersMost = 2
	sniffed     = 3072 // first bytes that decide about the content type
)

// Read reads the files that scans have added or found changed: it computes their hashes, recognizes
// their types and schedules their previews. Files that cannot be read are left for the next call.
// It returns the number of files that it read. report gets that number after each batch; it may be
// nil. Read opens a transaction for each batch.
func (s *Store) Read(ctx context.Context, report func(read int)) (read int, err error) {
	for last := int64(0); ; {
		var rows []*models.File
		err := s.core.DB.Write.NewSelect().Model(&rows).Column("id", "owner_id", "name", "kind", "size", "object_key").
			Where("id > ? AND sha256 = '' AND object_key <> '' AND missing_since IS NULL AND state = ?", last, models.Finalized).
			Order("id").Limit(readBatch).Scan(ctx)
		if err != nil || len(rows) == 0 {
			return read, err
		}
		last = rows[len(rows)-1].ID
		known, err := s.readAll(ctx, rows)
		if err != nil {
			return read, err
		}
		err = s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
			for _, f := range known {
				if err := s.core.SetLibraryContent(ctx, tx, f); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return read, err
		}
		if read += len(known); report != nil && len(known) > 0 {
			report(read)
		}
	}
}

// Unread returns how many files were not read yet.
func (s *Store) Unread(ctx context.Context) (int64, error) {
	return s.core.DB.Read.NewSelect().Model((*models.File)(nil)).
		Where("sha256 = '' AND object_key <> '' AND missing_since IS NULL AND state = ?", models.Finalized).Count(ctx)
}

// readAll reads files and returns those that could be read, by their hashes.
func (s *Store) readAll(ctx context.Context, files []*models.File) (known []*models.File, err error) {
	var mu sync.Mutex
	var readers sync.WaitGroup
	next := make(chan *models.File)
	for range readersMost {
		readers.Go(func() {
			for f := range next {
				failed := s.read(ctx, f)
				mu.Lock()
				switch {
				case failed == nil:
					known = append(known, f)
				case errors.Is(failed, bucket.ErrNotExist), errors.Is(failed, bucket.ErrChanged),
					errors.Is(failed, bucket.ErrUnreadable):
				default:
					err = cmp.Or(err, failed)
				}
				mu.Unlock()
			}
		})
	}
	for _, f := range files {
		next <- f
	}
	close(next)
	readers.Wait()
	slices.SortFunc(known, func(a, b *models.File) int { return cmp.Compare(a.SHA256, b.SHA256) })
	return known, err
}

// read sets the hashes and the type of a file.
func (s *Store) read(ctx context.Context, f *models.File) error {
	r, _, err := s.core.Bucket.Reader(ctx, f.ObjectKey)
	if err != nil {
		return err
	}
	defer r.Close()
	head := make([]byte, sniffed)
	n, err := io.ReadFull(r, head)
	if err != nil && err != io.EOF && !errors.Is(err, io.ErrUnexpectedEOF) {
		return asUnreadable(err)
	}
	sha, md := sha256.New(), md5.New()
	both := io.MultiWriter(sha, md)
	_, _ = both.Write(head[:n]) // hashes return no errors
	if _, err := io.Copy(both, &untilDone{ctx, r}); err != nil {
		return asUnreadable(err)
	}
	f.SHA256, f.MD5 = hex.EncodeToString(sha.Sum(nil)), hex.EncodeToString(md.Sum(nil))
	f.Kind, f.ContentType = models.Classify(mimetype.Detect(head[:n]).String(), f.Name, "")
	return nil
}

// asUnreadable makes an error of reading one file match [bucket.ErrUnreadable].
func asUnreadable(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return errors.Join(bucket.ErrUnreadable, err)
}

// untilDone is a reader that ends with the context.
type untilDone struct {
	ctx context.Context
	io.Reader
}

func (r *untilDone) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}
