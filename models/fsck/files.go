package fsck

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/meshyard/meshyard/internal/bucket"
	"github.com/meshyard/meshyard/models"
)

// expired checks that no expired uploads are left. A job removes them when they expire.
func (r *run) expired(ctx context.Context, after string, done func(string)) error {
	for last := idAfter(after); ; done(strconv.FormatInt(last, 10)) {
		var ids []int64
		err := r.db().NewSelect().Model((*models.File)(nil)).Column("f.id").
			Where("f.id > ? AND f.state <> ? AND f.expires_at <= ?", last, models.Finalized, models.Now().Add(-r.Grace)).
			Order("f.id").Limit(models.ObjectsAtOnce).Scan(ctx, &ids)
		if err != nil || len(ids) == 0 {
			return err
		}
		for _, id := range ids {
			err := r.found(ctx, fmt.Sprintf("pending upload %d: has expired (gc removes it)", id),
				func(ctx context.Context) (string, error) {
					return "removed", r.uploads.ExpireUpload(ctx, id)
				})
			if err != nil {
				return err
			}
			last = id
		}
	}
}

// files checks that the object of each file exists and is whole. Within a page of rows, an object
// that several files share is checked once.
func (r *run) files(ctx context.Context, after string, done func(string)) error {
	for last := idAfter(after); ; done(strconv.FormatInt(last, 10)) {
		var rows []*models.File
		err := r.db().NewSelect().Model(&rows).Column("f.id", "f.state", "f.size", "f.sha256", "f.object_key").
			Where("f.id > ? AND f.state <> ? AND (f.sha256 <> '' OR f.object_key <> '') AND f.missing_since IS NULL", last,
				models.Staged).Order("f.id").Limit(models.ObjectsAtOnce).Scan(ctx)
		if err != nil || len(rows) == 0 {
			return err
		}
		last = rows[len(rows)-1].ID
		var shared [][]*models.File // by object, in the order of the rows
		at := make(map[string]int)
		for _, f := range rows {
			key := f.ContentKey()
			if f.InLibrary() && !r.core.Bucket.HasLibrary(key) {
				continue // this process does not know where the library is
			}
			i, seen := at[key]
			if !seen {
				i = len(shared)
				at[key], shared = i, append(shared, nil)
			}
			shared[i] = append(shared[i], f)
		}
		if err := atOnce(ctx, r.Workers, shared, r.object); err != nil {
			return err
		}
	}
}

// object checks the object that some files share.
func (r *run) object(ctx context.Context, files []*models.File) error {
	key := files[0].ContentKey()
	fault, err := r.fault(ctx, key, files[0])
	if fault == "" || err != nil {
		return err
	}
	heal := ""
	for i, f := range files {
		// The file may have been finalized or deleted since its row was read.
		still, err := r.db().NewSelect().Model((*models.File)(nil)).Where("f.id = ? AND f.state = ? AND f.object_key = ?",
			f.ID, f.State, f.ObjectKey).Exists(ctx)
		if err != nil {
			return err
		}
		if !still {
			continue
		}
		err = r.found(ctx, fmt.Sprintf("file %d: object %s %s", f.ID, key, fault),
			func(ctx context.Context) (_ string, err error) {
				if heal == "" || i == 0 {
					heal, err = r.heal(ctx, key, f)
				}
				return heal, err
			})
		if err != nil {
			return err
		}
	}
	return nil
}

// fault returns a description of the problem with the object of a file, or "" if there is none.
func (r *run) fault(ctx context.Context, key string, f *models.File) (string, error) {
	o, err := r.core.Bucket.Stat(ctx, key)
	switch {
	case errors.Is(err, bucket.ErrNotExist):
		return "is missing", nil
	case errors.Is(err, bucket.ErrChanged):
		return "has changed (meshyard library scan reads it again)", nil
	case err != nil && f.InLibrary():
		return unreadable(err)
	case err != nil:
		return "", err
	case o.Size != f.Size:
		return fmt.Sprintf("has %d bytes, not %d", o.Size, f.Size), nil
	case !r.Rehash, f.SHA256 == "":
		return "", nil
	}
	reader, _, err := r.core.Bucket.Reader(ctx, key)
	if errors.Is(err, bucket.ErrNotExist) { // removed since Stat
		return "is missing", nil
	}
	if err != nil {
		return unreadable(err)
	}
	defer reader.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, reader); err != nil {
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

// heal replaces the damaged or missing object of a file by the one of another bucket. If there is
// none, it marks a damaged content, so that the next upload of the same bytes replaces it.
func (r *run) heal(ctx context.Context, key string, f *models.File) (string, error) {
	if f.InLibrary() {
		return "", nil // nothing is ever written to a library
	}
	if r.From != nil {
		n, err := bucket.Replace(ctx, r.core.Bucket, key, r.From, key, f.SHA256)
		switch {
		case err == nil && n == f.Size:
			return "replaced by the object of the other bucket", r.mark(ctx, f, false)
		case errors.Is(err, bucket.ErrNotExist), errors.Is(err, bucket.ErrDamaged), errors.Is(err, bucket.ErrUnreadable):
		case err != nil:
			return "", err
		}
	}
	return "", r.mark(ctx, f, true)
}

// mark records whether the content of a finalized file is damaged.
func (r *run) mark(ctx context.Context, f *models.File, damaged bool) error {
	if f.State != models.Finalized {
		return nil
	}
	return r.pictures.MarkDamaged(ctx, f.SHA256, f.Size, damaged)
}
