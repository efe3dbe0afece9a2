package lists

import (
	"context"
	"slices"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/models"
)

type draftsOf struct{}

func (draftsOf) Select(b *database.Builder, userID any) *bun.SelectQuery {
	return b.Select().TableExpr("things AS t").Where("t.owner_id = ? AND t.state = 'draft' AND t.deletes_at IS NULL",
		userID)
}

// Drafts lists the drafts of the caller, the latest first. It returns Forbidden if userID is
// another user.
func (s *Store) Drafts(caller auth.Caller, userID int64) (models.List, error) {
	if err := models.RequireSelf(caller, userID, "drafts"); err != nil {
		return models.List{}, err
	}
	return models.List{DB: s.core.DB.DB, By: database.Order{ID: "t.id"}, Rows: draftsOf{}}, nil
}

// PendingUploads lists the pending uploads of the caller whose bytes are stored, the latest first.
// It returns Forbidden if userID is another user.
func (s *Store) PendingUploads(caller auth.Caller, userID int64) (models.List, error) {
	if err := models.RequireSelf(caller, userID, "pending uploads"); err != nil {
		return models.List{}, err
	}
	return models.List{DB: s.core.DB.DB, By: database.Order{ID: "f.id"},
		Rows: database.RowsFunc(func(b *database.Builder, userID any) *bun.SelectQuery {
			return b.Select().TableExpr("files AS f").Where("f.owner_id = ? AND f.state = 'pending' AND f.expires_at > ?",
				userID, models.Now())
		})}, nil
}

// maxInProcess is the maximum number of files that FilesInProcess returns.
const maxInProcess = 1_000

// ComingFiles identifies the files of a user that are finalized after a moment.
type ComingFiles struct {
	unfinalized []int64
	last        int64 // the last ID of all files
}

// ComingFiles returns the files of a user that are finalized from now on. It includes at most the
// last maxInProcess of the uploads that are pending now.
func (s *Store) ComingFiles(ctx context.Context, userID int64) (c ComingFiles, err error) {
	if err := s.core.DB.Read.NewSelect().Table("files").ColumnExpr("coalesce(max(id), 0)").Scan(ctx, &c.last); err != nil {
		return c, err
	}
	err = s.core.DB.Read.NewSelect().Table("files").Column("id").Where("owner_id = ? AND state <> 'finalized'", userID).
		OrderExpr("id DESC").Limit(maxInProcess).Scan(ctx, &c.unfinalized)
	return c, err
}

// FilesInProcess returns the finalized files of a user whose previews are not finished, and those
// with previews that have come since, or that have the given IDs. The preview may have been
// requested first for a file of another user.
func (s *Store) FilesInProcess(ctx context.Context, userID int64, since ComingFiles,
	also []int64) ([]*models.File, error) {
	query := func() *bun.SelectQuery {
		return s.core.DB.Read.NewSelect().TableExpr("files AS f").Column("f.id").
			Where("f.owner_id = ? AND f.state = ? AND f.preview_id <> 0", userID, models.Finalized).Limit(maxInProcess)
	}
	var open, uploaded []int64
	// The query starts from the user's files and not from the unfinished previews, because after an
	// upgrade of the pipeline every preview is unfinished.
	err := query().Join("JOIN previews AS p ON p.id = f.preview_id AND p.state IN (?, ?)", models.PreviewWaiting,
		models.PreviewRunning).
		OrderExpr("p.id, f.id").Scan(ctx, &open)
	if err != nil {
		return nil, err
	}
	if err := query().Where("f.id > ?", since.last).OrderExpr("f.id").Scan(ctx, &uploaded); err != nil {
		return nil, err
	}
	found, err := s.core.FilesByID(ctx, models.AllFileFields, slices.Concat(open, uploaded, since.unfinalized, also))
	files := make([]*models.File, 0, len(found))
	for _, f := range found {
		if f.OwnerID == userID && f.State == models.Finalized && f.PreviewID != 0 {
			files = append(files, f)
		}
	}
	return files, err
}
