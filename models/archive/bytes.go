package archive

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/archive"
	"github.com/meshyard/meshyard/internal/bucket"
	"github.com/meshyard/meshyard/models"
)

// lostContents is the key of the number of files that lost their contents, in what was left out.
const lostContents = "files that are without content, because the archive has not got it or it is damaged or unreadable"

// putBytes stores the contents of the files in a batch, before the transaction that inserts their
// rows. It returns the SHA-256 hashes of the contents that the bucket already had, and the keys of
// pending objects to remove after the transaction. Files whose content was lost become files
// without content; lost is the number of those that have lost it since the export.
func (l *archiveLoader) putBytes(ctx context.Context,
	b *archiveRows) (there map[string]bool, pending []string, lost int64, err error) {
	if b.table.name != "files" {
		return nil, nil, 0, nil
	}
	there = map[string]bool{}
	sha, md5, size := b.column("sha256"), b.column("md5"), b.column("size")
	for _, row := range b.rows {
		sum := row[sha].(string)
		switch {
		case sum == "":
			continue
		case l.missing[sum]:
			row[sha], row[md5] = "", ""
			continue
		}
		o, err := l.store.core.Bucket.Stat(ctx, bucket.ContentKey(sum))
		if err == nil && o.Size == row[size].(int64) {
			there[sum] = true
			continue
		}
		if err != nil && !errors.Is(err, bucket.ErrNotExist) {
			return nil, nil, 0, err
		}
		key, err := l.put(ctx, sum, row[md5].(string), row[size].(int64))
		if errors.Is(err, archive.ErrDamaged) || errors.Is(err, archive.ErrUnreadable) || errors.Is(err, fs.ErrNotExist) {
			row[sha], row[md5] = "", ""
			lost++
			if l.Lost != nil {
				l.Lost(row[b.column("id")].(int64), err)
			}
			continue
		}
		if err != nil {
			l.store.core.Sweep(ctx, pending)
			return nil, nil, 0, fmt.Errorf("file %d: %w", row[b.column("id")], err)
		}
		pending = append(pending, key)
	}
	return there, pending, lost, nil
}

// put copies a content from the archive to the bucket, verifies its hashes and size, and returns
// the key of the pending object. The error matches [fs.ErrNotExist], [archive.ErrUnreadable] or
// [archive.ErrDamaged] if the archive has lost the content.
func (l *archiveLoader) put(ctx context.Context, sum, md5 string, size int64) (key string, err error) {
	r, err := l.from.Bytes(sum)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("its bytes, with the SHA-256 %s, are missing from the archive: %w", sum, fs.ErrNotExist)
	}
	if err != nil {
		return "", err
	}
	defer r.Close()
	u, err := l.store.core.Bucket.Put(ctx, r, size)
	if _, long := errors.AsType[*bucket.TooLargeError](err); long {
		return "", fmt.Errorf("its bytes in the archive: %w: they are more than %d", archive.ErrDamaged, size)
	}
	if err != nil {
		return "", err
	}
	if u.SHA256 != sum || u.MD5 != md5 || u.Size != size {
		err = fmt.Errorf("its bytes in the archive: %w: they have the SHA-256 %s, not %s", archive.ErrDamaged, u.SHA256, sum)
	} else {
		err = l.store.core.Bucket.Promote(ctx, u.Key, sum, size)
	}
	if err != nil {
		l.store.core.Discard(ctx, u.Key)
		return "", err
	}
	return u.Key, nil
}

// holdContents locks the contents of files, so that the garbage collector does not remove them
// until tx ends. It returns an error if the collector has removed one that the bucket already had.
func (l *archiveLoader) holdContents(ctx context.Context, tx bun.Tx, b *archiveRows, rows [][]any,
	there map[string]bool) error {
	if b.table.name != "files" {
		return nil
	}
	sha, size := b.column("sha256"), b.column("size")
	byContent := slices.SortedFunc(slices.Values(rows),
		func(x, y []any) int { return strings.Compare(x[sha].(string), y[sha].(string)) })
	last := ""
	for _, row := range byContent {
		sum := row[sha].(string)
		if sum == last { // also without content
			continue
		}
		last = sum
		if _, err := models.LockContent(ctx, tx, sum, row[size].(int64)); err != nil {
			return err
		}
		if !there[sum] {
			continue // a new object, which the collector does not remove
		}
		has, err := l.store.core.Bucket.Has(ctx, bucket.ContentKey(sum))
		if err != nil {
			return err
		}
		if !has {
			return fmt.Errorf("the garbage collector removed the content %s: run the import again", sum)
		}
	}
	return nil
}
