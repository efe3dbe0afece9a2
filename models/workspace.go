package models

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
)

// Drafts lists the drafts of the caller, the latest first. It returns Forbidden if userID is
// another user.
func (s *Store) Drafts(caller auth.Caller, userID int64) (List, error) {
	if err := requireSelf(caller, userID, "drafts"); err != nil {
		return List{}, err
	}
	return List{DB: s.db.DB, By: database.Order{ID: "t.id"}, Rows: func(userID, _ any) *bun.SelectQuery {
		return s.db.Read.NewSelect().TableExpr("things AS t").Where("t.owner_id = ? AND t.state = 'draft'", userID)
	}}, nil
}

// PendingUploads lists the pending uploads of the caller whose bytes are stored, the latest first.
// It returns Forbidden if userID is another user.
func (s *Store) PendingUploads(caller auth.Caller, userID int64) (List, error) {
	if err := requireSelf(caller, userID, "pending uploads"); err != nil {
		return List{}, err
	}
	return List{DB: s.db.DB, By: database.Order{ID: "f.id"}, Rows: func(userID, _ any) *bun.SelectQuery {
		return s.db.Read.NewSelect().TableExpr("files AS f").Where("f.owner_id = ? AND f.state = 'pending' AND f.expires_at > ?", userID, now())
	}}, nil
}

// maxInProcess is the maximum number of files that FilesInProcess returns.
const maxInProcess = 1_000

// FilesInProcess returns the finalized files of a user whose previews are not finished, those with
// previews that were finalized since a time, and those with the given IDs. The preview may have
// been requested first for a file of another user.
func (s *Store) FilesInProcess(ctx context.Context, userID int64, since time.Time, also []int64) ([]*File, error) {
	var ids []int64
	// The query starts from the user's files and not from the unfinished previews, because after an
	// upgrade of the pipeline every preview is unfinished.
	err := s.db.Read.NewSelect().TableExpr("files AS f").Column("f.id").
		Join("JOIN previews AS p ON p.id = f.preview_id").
		Where("f.owner_id = ? AND f.state = ? AND f.preview_id <> 0", userID, Finalized).
		Where("p.state IN (?0, ?1) OR f.finalized_at >= ?2", PreviewWaiting, PreviewRunning, since).
		OrderExpr("p.state NOT IN (?, ?), p.id, f.id", PreviewWaiting, PreviewRunning).Limit(maxInProcess).Scan(ctx, &ids)
	if err != nil {
		return nil, err
	}
	found, err := s.FilesByID(ctx, append(ids, also...))
	files := make([]*File, 0, len(found))
	for _, f := range found {
		if f.OwnerID == userID {
			files = append(files, f)
		}
	}
	return files, err
}
