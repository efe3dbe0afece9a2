package activity

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/internal/fieldset"
	"github.com/meshyard/meshyard/models"
)

// Download is an entry of a user's download history.
type Download struct {
	bun.BaseModel `bun:"table:downloads,alias:d"`
	database.Listed

	ID        int64 `bun:",pk,autoincrement"`
	UserID    int64
	FileID    int64 `bun:",nullzero"` // 0: the file was deleted
	ThingID   int64
	CreatedAt time.Time
}

// DownloadFields is a set of fields of a download.
type DownloadFields = fieldset.Set[Download]

var downloads = database.NewTable(func(d *Download) (int64, *database.Listed) { return d.ID, &d.Listed })

// AllDownloadFields has all fields of a download.
var AllDownloadFields = downloads.All()

// newDownload is a download that the stored counts of its file and thing do not include yet. The
// file may have been deleted since.
type newDownload struct {
	bun.BaseModel `bun:"table:new_downloads,alias:nd"`

	ID      int64 `bun:",pk"` // of the Download
	ThingID int64
	FileID  int64
}

// RecordDownload adds a download to the caller's history, commits it, and returns the entry with
// the file. The entry is nil if the file belongs to no thing, for example because the thing of its
// make was deleted: histories refer to things. It is also nil if the caller is an application
// without a user. The download count of the file is not read: the file may have thousands of
// downloads that are not folded yet. It returns NotFound if the file does not exist, is a pending
// upload, or has no content, and Forbidden if the caller may not see it or its thing was taken
// down.
func (s *Store) RecordDownload(ctx context.Context, caller auth.Caller, fileID int64) (*Download, *models.File, error) {
	f, err := s.core.File(ctx, caller, models.ContentFields, fileID)
	if err != nil {
		return nil, nil, err
	}
	if f.State != models.Finalized {
		return nil, nil, models.Fail(models.NotFound, "file %d is a pending upload: finalize it before downloading", fileID)
	}
	if f.TakenDown() {
		return nil, nil, f.Down()
	}
	if !f.IsAvailable() {
		return nil, nil, f.Unavailable()
	}
	d := &Download{UserID: caller.UserID, FileID: f.ID, ThingID: f.ThingID, CreatedAt: models.Now()}
	if f.ThingID == 0 || caller.UserID == 0 {
		return nil, f, nil
	}
	if err := s.downloads.record(ctx, d); database.IsForeignKey(err) {
		return nil, nil, models.NoSuch("file", fileID) // deleted since it was read
	} else if err != nil {
		return nil, nil, err
	}
	s.NoteDownload()
	return d, f, nil
}

// NoteDownload adds a download to the metrics.
func (s *Store) NoteDownload() {
	if s.core.Options.Events.Downloaded != nil {
		s.core.Options.Events.Downloaded()
	}
}

// InsertDownload adds a download to a history in a transaction. Areas use it for downloads that
// must be recorded together with something else.
func (s *Store) InsertDownload(ctx context.Context, tx bun.Tx, d *Download) error {
	if _, err := tx.NewInsert().Model(d).Exec(ctx); err != nil {
		return err
	}
	_, err := tx.NewInsert().Model(&newDownload{ID: d.ID, ThingID: d.ThingID, FileID: d.FileID}).Exec(ctx)
	return err
}

// visibleThing is the condition that the thing of a download is published or belongs to the user.
// Other things may have been taken down since, or were drafts that the user saw as a moderator.
const visibleThing = "EXISTS (SELECT 1 FROM things AS t WHERE t.id = d.thing_id AND (t.state = 'published' OR t.owner_id = ?))"

type downloadsOf struct{}

func (downloadsOf) Select(b *database.Builder, userID any) *bun.SelectQuery {
	return b.Select().TableExpr("downloads AS d").Where("d.user_id = ?", userID).Where(visibleThing, userID)
}

type downloadedThings struct{}

func (downloadedThings) Select(b *database.Builder, userID any) *bun.SelectQuery {
	last := downloadsOf{}.Select(b, userID).ColumnExpr("max(d.id) AS last, d.thing_id").Group("d.thing_id")
	return b.Select().TableExpr("(?) AS h", last)
}

// Downloads lists the download history of a user, most recent first, with one entry for each
// download. It returns Forbidden unless the user is the caller.
func (s *Store) Downloads(caller auth.Caller, userID int64) (models.List, error) {
	if err := models.RequireSelf(caller, userID, "download histories"); err != nil {
		return models.List{}, err
	}
	return models.List{DB: s.core.DB.DB, By: database.Order{ID: "d.id"}, Rows: downloadsOf{}}, nil
}

// DownloadedThings lists the things in a user's download history, each once, most recently
// downloaded first. It returns Forbidden unless the user is the caller.
func (s *Store) DownloadedThings(caller auth.Caller, userID int64) (models.List, error) {
	if err := models.RequireSelf(caller, userID, "download histories"); err != nil {
		return models.List{}, err
	}
	return models.List{DB: s.core.DB.DB, By: database.Order{ID: "h.last", Node: "h.thing_id"}, Rows: downloadedThings{}},
		nil
}

// FoldDownloads adds new downloads to the stored counts of their files and things and deletes them
// from new_downloads. It uses transactions of at most foldBatch downloads, so no download is lost
// or counted twice. Until a download is folded, readers add it to the stored counts. FoldDownloads
// processes things in the order of their IDs, because updating the row of a thing takes as long for
// many downloads as for one. It returns the number of folded downloads.
func (s *Store) FoldDownloads(ctx context.Context) (folded int, err error) {
	for thing := int64(0); ; {
		var n int
		n, thing, err = s.foldSomeDownloads(ctx, thing)
		folded += n
		if err != nil || n < models.FoldBatch {
			return folded, err
		}
	}
}

// foldSomeDownloads folds downloads of the things whose IDs are at least from. It returns the
// number of folded downloads and the ID of the last thing, which may have more downloads.
func (s *Store) foldSomeDownloads(ctx context.Context, from int64) (n int, last int64, err error) {
	err = s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		n, last = 0, 0 // a retry may find nothing
		if err := s.core.DB.ShareCounts(ctx, tx); err != nil {
			return err
		}
		some := tx.NewSelect().Model((*newDownload)(nil)).Column("nd.id").Where("nd.thing_id >= ?", from).
			Order("nd.thing_id", "nd.file_id").Limit(models.FoldBatch)
		// If two nodes fold at the same time, the second one waits for the first and finds the rows
		// deleted.
		var rows []newDownload
		err := tx.NewDelete().Model((*newDownload)(nil)).Where("nd.id ?", s.core.DB.OneOf(some)).
			Returning("thing_id, file_id").Scan(ctx, &rows)
		if err != nil || len(rows) == 0 {
			return models.IgnoreNoRows(err)
		}
		n = len(rows)
		files, things := make(map[int64]int64), make(map[int64]int64)
		for _, d := range rows {
			files[d.FileID]++
			things[d.ThingID]++
			last = max(last, d.ThingID)
		}
		// Things are locked before files, as in deletions.
		if err := s.core.DB.LockRows(ctx, tx, "things", slices.Collect(maps.Keys(things))); err != nil {
			return err
		}
		if err := database.SetEach(ctx, tx, "things", "id", "download_count = download_count + v.n", "true",
			things); err != nil {
			return err
		}
		if err := s.core.DB.LockRows(ctx, tx, "files", slices.Collect(maps.Keys(files))); err != nil {
			return err
		}
		if err := database.SetEach(ctx, tx, "files", "id", "download_count = download_count + v.n", "true",
			files); err != nil {
			return err
		}
		return models.NoteUnranked(ctx, tx, slices.Collect(maps.Keys(things)))
	})
	if err != nil {
		return 0, 0, fmt.Errorf("fold downloads: %w", err)
	}
	return n, last, nil
}
