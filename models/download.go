package models

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
)

// Download is an entry of somebody's download history.
type Download struct {
	bun.BaseModel `bun:"table:downloads,alias:d"`

	ID        int64 `bun:",pk,autoincrement"`
	UserID    int64
	FileID    int64
	ThingID   int64
	CreatedAt time.Time
	Folded    bool // whether the file's own count holds it
}

// RecordDownload appends to the caller's history and gives the entry with the file. It is committed when this returns.
func (s *Store) RecordDownload(ctx context.Context, caller auth.Caller, fileID int64) (*Download, *File, error) {
	f, err := s.File(ctx, caller, fileID)
	if err != nil {
		return nil, nil, err
	}
	if f.State != Finalized {
		return nil, nil, fail(NotFound, "file %d is a pending upload: it can be downloaded once it is finalized", fileID)
	}
	d := &Download{UserID: caller.UserID, FileID: f.ID, ThingID: f.ThingID, CreatedAt: now()}
	if _, err := s.db.write.NewInsert().Model(d).Exec(ctx); err != nil {
		return nil, nil, err
	}
	return d, f, nil
}

// Slice says which part of a list is wanted: the first entries after a cursor or, for numbered pages, past an offset.
type Slice struct {
	First  int
	After  int64 // the id at which the entry before ended; 0: from the start
	Offset int64
}

// apply gives q the bounds of the slice, and one entry more that tells whether there is a next.
func (p Slice) apply(q *bun.SelectQuery) *bun.SelectQuery {
	return q.Limit(int64(p.First) + 1).Offset(p.Offset)
}

// Downloads gives a part of a user's history, the most recent first, and whether more follows. It is the user's own business.
func (s *Store) Downloads(ctx context.Context, caller auth.Caller, userID int64, part Slice) (entries []*Download, more bool, err error) {
	if err := ownHistory(caller, userID); err != nil {
		return nil, false, err
	}
	q := s.db.read.NewSelect().Model(&entries).Where("d.user_id = ?", userID).Order("d.id DESC")
	if part.After != 0 {
		q = q.Where("d.id < ?", part.After)
	}
	if err := part.apply(q).Scan(ctx); err != nil {
		return nil, false, err
	}
	if len(entries) > part.First {
		return entries[:part.First], true, nil
	}
	return entries, false, nil
}

// CountDownloads counts the entries of a user's history.
func (s *Store) CountDownloads(ctx context.Context, caller auth.Caller, userID int64) (int64, error) {
	if err := ownHistory(caller, userID); err != nil {
		return 0, err
	}
	return s.db.read.NewSelect().Model((*Download)(nil)).Where("d.user_id = ?", userID).Count(ctx)
}

// DownloadedThing is a thing in somebody's history, at its latest download.
type DownloadedThing struct {
	Last    int64 // the id of that download
	ThingID int64
}

// DownloadedThings gives a part of the things in a user's history, one entry a thing, the most recent first.
func (s *Store) DownloadedThings(ctx context.Context, caller auth.Caller, userID int64, part Slice) (entries []DownloadedThing, more bool, err error) {
	if err := ownHistory(caller, userID); err != nil {
		return nil, false, err
	}
	q := s.db.read.NewSelect().Model((*Download)(nil)).ColumnExpr("max(d.id) AS last, d.thing_id").
		Where("d.user_id = ?", userID).Group("d.thing_id").OrderExpr("max(d.id) DESC")
	if part.After != 0 {
		q = q.Having("max(d.id) < ?", part.After)
	}
	if err := part.apply(q).Scan(ctx, &entries); err != nil {
		return nil, false, err
	}
	if len(entries) > part.First {
		return entries[:part.First], true, nil
	}
	return entries, false, nil
}

// CountDownloadedThings counts the things in a user's history.
func (s *Store) CountDownloadedThings(ctx context.Context, caller auth.Caller, userID int64) (n int64, err error) {
	if err := ownHistory(caller, userID); err != nil {
		return 0, err
	}
	err = s.db.read.NewSelect().Model((*Download)(nil)).ColumnExpr("count(DISTINCT d.thing_id)").Where("d.user_id = ?", userID).Scan(ctx, &n)
	return n, err
}

func ownHistory(caller auth.Caller, userID int64) error {
	if caller.UserID != userID {
		return fail(Forbidden, "a download history is its user's own")
	}
	return nil
}

// foldBatch bounds one transaction of FoldDownloads.
const foldBatch = 5_000

// FoldDownloads adds logged downloads to the counts of their files and marks them as counted, in one transaction,
// so a count is never lost and never taken twice; until then the log itself is counted. It gives how many it folded.
func (s *Store) FoldDownloads(ctx context.Context) (folded int, err error) {
	for {
		n, err := s.foldSome(ctx)
		folded += n
		if err != nil || n < foldBatch {
			return folded, err
		}
	}
}

func (s *Store) foldSome(ctx context.Context) (int, error) {
	var fileIDs []int64
	err := s.db.inTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		some := tx.NewSelect().Model((*Download)(nil)).Column("d.id").Where("NOT d.folded").Order("d.id").Limit(foldBatch)
		// "NOT folded" a second time: PostgreSQL looks at it again after waiting for another node that folds.
		err := tx.NewUpdate().Model((*Download)(nil)).Set("folded = ?", true).Where("id IN (?) AND NOT folded", some).
			Returning("file_id").Scan(ctx, &fileIDs)
		if err != nil || len(fileIDs) == 0 {
			return err
		}
		counts := make(map[int64]int)
		for _, id := range fileIDs {
			counts[id]++
		}
		for _, id := range slices.Sorted(maps.Keys(counts)) { // in one order, or two nodes could wait for each other
			_, err := tx.NewUpdate().Model((*File)(nil)).Set("download_count = download_count + ?", counts[id]).Where("id = ?", id).Exec(ctx)
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("fold downloads: %w", err)
	}
	return len(fileIDs), nil
}
