package archive

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/archive"
	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/bucket"
	"github.com/meshyard/meshyard/internal/filesystem/tempfile"
	"github.com/meshyard/meshyard/models"
)

// UserArchive is the archive of a user for the user themselves. Its rows are in a temporary file,
// and its contents are read from the bucket while it is sent. So a client that receives it slowly
// holds neither a snapshot of the database nor a copy of the contents.
type UserArchive struct {
	Username string

	store    *Store
	stream   *archive.Stream
	rows     *tempfile.File
	manifest *archive.Manifest
	contents []ownContent
}

// ownContent is a content in less memory than an archive.Content.
type ownContent struct {
	sum  [32]byte
	name string
}

// UserArchive reads the rows of the caller's archive, all from one snapshot of the database. The
// caller must close the archive. It returns Forbidden for an application, which may read only parts
// of an account.
func (s *Store) UserArchive(ctx context.Context, caller auth.Caller) (a *UserArchive, err error) {
	if caller.ApplicationID != 0 {
		return nil, models.Fail(models.Forbidden, "an application cannot download the archive of its user")
	}
	if err := models.RequireUser(caller); err != nil {
		return nil, err
	}
	u, err := s.core.UserByID(ctx, caller, models.UserAccess, caller.UserID)
	if err != nil {
		return nil, err
	}
	rows, err := tempfile.New()
	if err != nil {
		return nil, err
	}
	a = &UserArchive{Username: u.Username, store: s, stream: archive.NewStream(rows), rows: rows}
	x := &exporting{Export: Export{User: u.Username}, store: s, userID: u.ID}
	err = s.core.DB.InSnapshot(ctx, func(ctx context.Context, tx bun.Tx) (err error) {
		if a.manifest, err = x.nouns(ctx, tx, a.stream.Rows); err != nil {
			return err
		}
		a.contents, err = x.ownContents(ctx, tx)
		return err
	})
	if err != nil {
		return nil, errors.Join(err, rows.Close())
	}
	return a, nil
}

// ownContents returns all contents to export.
func (x *exporting) ownContents(ctx context.Context, tx bun.Tx) (all []ownContent, err error) {
	rows, err := x.contents(tx).Order("f.sha256").Rows(ctx)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var digits string
		var size int64
		var c ownContent
		if err := rows.Scan(&digits, &size, &c.name); err != nil {
			return nil, err
		}
		if n, err := hex.Decode(c.sum[:], []byte(digits)); err != nil || n != len(c.sum) {
			return nil, fmt.Errorf("SHA-256 %q of a file: is not valid", digits)
		}
		all = append(all, c)
	}
	return all, rows.Err()
}

// Close releases the resources of the archive.
func (a *UserArchive) Close() error { return a.rows.Close() }

// Write writes the archive as a ZIP file, once. Contents that are missing from the bucket or
// damaged are listed in the manifest, which it returns.
func (a *UserArchive) Write(ctx context.Context, w io.Writer) (*archive.Manifest, error) {
	if err := a.stream.Redirect(w); err != nil {
		return nil, err
	}
	if _, err := a.rows.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	if _, err := io.Copy(w, a.rows); err != nil {
		return nil, err
	}
	for _, c := range a.contents {
		content := archive.Content{SHA256: hex.EncodeToString(c.sum[:]), Name: c.name}
		err := a.content(ctx, content)
		if errors.Is(err, bucket.ErrNotExist) || errors.Is(err, archive.ErrDamaged) {
			a.manifest.Missing = append(a.manifest.Missing, content.SHA256)
			continue
		}
		if err != nil {
			return nil, err
		}
	}
	return a.manifest, a.stream.Commit(a.manifest)
}

func (a *UserArchive) content(ctx context.Context, c archive.Content) error {
	r, _, err := a.store.core.Bucket.Reader(ctx, bucket.ContentKey(c.SHA256))
	if err != nil {
		return err
	}
	defer r.Close()
	return a.stream.Bytes(ctx, c, r)
}
