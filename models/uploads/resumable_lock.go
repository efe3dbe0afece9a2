package uploads

import (
	"context"
	"time"

	"github.com/meshyard/meshyard/models"
)

// UploadLease is how long a lock of an upload holds if it is not renewed, because its process was
// killed.
const UploadLease = 10 * time.Second

// LockUpload takes the lock of an upload for the given time, under which one request of all nodes
// writes to it. by is unique for each request. It returns false if another request has the lock,
// and asks that request to release it. It returns true, and does nothing, if the upload does not
// exist.
func (s *Store) LockUpload(ctx context.Context, id int64, by string) (bool, error) {
	at := models.Now()
	taken, err := s.core.DB.Write.NewUpdate().Model((*Resumable)(nil)).Set("locked_by = ?, locked_until = ?, wanted = ?",
		by, at.Add(UploadLease), false).
		Where("file_id = ? AND (locked_by = '' OR locked_until <= ?)", id, at).Exec(ctx)
	if err != nil {
		return false, err
	}
	if n, err := taken.RowsAffected(); err != nil || n > 0 {
		return err == nil, err
	}
	asked, err := s.core.DB.Write.NewUpdate().Model((*Resumable)(nil)).Set("wanted = ?", true).
		Where("file_id = ? AND locked_by <> ''", id).Exec(ctx)
	if err != nil {
		return false, err
	}
	n, err := asked.RowsAffected()
	if n > 0 || err != nil {
		return false, err
	}
	// It was released meanwhile, or it does not exist.
	exists, err := s.core.DB.Write.NewSelect().Model((*Resumable)(nil)).Where("file_id = ?", id).Exists(ctx)
	return !exists, err
}

// RenewUploadLock extends the lock that LockUpload has taken. keep is false if the request should
// release it, because another one waits, or has lost it.
func (s *Store) RenewUploadLock(ctx context.Context, id int64, by string) (keep bool, err error) {
	var wanted []bool
	err = s.core.DB.Write.NewUpdate().Model((*Resumable)(nil)).Set("locked_until = ?", models.Now().Add(UploadLease)).
		Where("file_id = ? AND locked_by = ?", id, by).Returning("wanted").Scan(ctx, &wanted)
	return len(wanted) == 1 && !wanted[0], models.IgnoreNoRows(err)
}

// UnlockUpload releases the lock that LockUpload has taken.
func (s *Store) UnlockUpload(ctx context.Context, id int64, by string) error {
	_, err := s.core.DB.Write.NewUpdate().Model((*Resumable)(nil)).Set("locked_by = '', wanted = ?", false).
		Where("file_id = ? AND locked_by = ?", id, by).Exec(ctx)
	return err
}
