package models

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/bucket"
	"github.com/meshyard/meshyard/internal/database"
)

// FinalizeFile is one pending upload in a batch.
type FinalizeFile struct {
	ID   int64
	Rank *int32 // position among the files of the target; nil: after those that the target has
}

// Content is the row of an object below files/ in the bucket.
type Content struct {
	bun.BaseModel `bun:"table:contents"`

	SHA256    string `bun:"sha256,pk"`
	Size      int64
	CreatedAt time.Time
	DamagedAt *time.Time // when fsck found that the object is damaged; nil: it is not known to be
}

// Finalize attaches pending uploads of the caller to a target of the caller, all or none of them.
// It is idempotent: of files that are already attached to the target, only a given rank is set, so
// that repeated and concurrent calls have the same result. It first makes the contents durable
// below files/, then commits the rows, and then removes the pending objects. It returns NotFound if
// an upload does not exist or has no bytes yet, and Forbidden if the target belongs to another
// user. It returns Conflict if a file is attached to another target, or if the target would have
// more files than MaxFilesOf returns. It opens a transaction.
func (s *Store) Finalize(ctx context.Context, caller auth.Caller, files []FinalizeFile,
	target Target) ([]*File, error) {
	keys, err := s.Promote(ctx, caller, files)
	if err != nil {
		return nil, err
	}
	err = s.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		return s.finalize(ctx, tx, caller, files, target)
	})
	if err != nil {
		return nil, err
	}
	s.Sweep(ctx, keys)
	ids := make([]int64, len(files))
	for i, f := range files {
		ids[i] = f.ID
	}
	found, err := s.FilesByID(ctx, AllFileFields, ids)
	if err != nil {
		return nil, err
	}
	done := make([]*File, len(ids))
	for i, id := range ids {
		if done[i] = found[id]; done[i] == nil {
			return nil, NoSuch("file", id) // deleted since
		}
	}
	return done, nil
}

// FinalizeOne attaches a staged upload of the caller to the target that it was staged for, like
// Finalize. It returns a file that is already finalized unchanged, and NotFound if the upload has
// no target.
func (s *Store) FinalizeOne(ctx context.Context, caller auth.Caller, id int64) (*File, error) {
	var rows []*File
	if err := s.DB.Write.NewSelect().Model(&rows).Where("f.id = ? AND f.owner_id = ?", id, caller.UserID).
		Scan(ctx); err != nil {
		return nil, err
	}
	switch {
	case len(rows) == 0:
		return nil, NoSuch("pending upload", id)
	case rows[0].State == Finalized:
	case rows[0].TargetType == "":
		return nil, Fail(NotFound, "pending upload %d has no target: use FinalizeFiles", id)
	default:
		target := Target{rows[0].TargetType, rows[0].TargetID}
		if _, err := s.Finalize(ctx, caller, []FinalizeFile{{ID: id}}, target); err != nil {
			return nil, err
		}
	}
	return s.File(ctx, caller, AllFileFields, id)
}

// checkBatch returns the IDs of a batch. It returns BadInput if the batch is empty or too long, or
// has an ID twice.
func (s *Store) checkBatch(files []FinalizeFile) ([]int64, error) {
	if len(files) == 0 {
		return nil, RequiredList("files")
	}
	if most := s.MaxFilesOf(OnThing); len(files) > most {
		return nil, TooMany("files", len(files), most)
	}
	ids, seen := make([]int64, len(files)), make(map[int64]bool, len(files))
	for i, f := range files {
		if seen[f.ID] {
			return nil, GivenTwice("files", f.ID)
		}
		ids[i], seen[f.ID] = f.ID, true
	}
	return ids, nil
}

// Promote makes the bytes of pending uploads of the caller durable as contents, before the
// transaction that will refer to them, and returns the keys of the pending objects. If that
// transaction fails, the garbage collector removes the contents.
func (s *Store) Promote(ctx context.Context, caller auth.Caller, files []FinalizeFile) (keys []string, err error) {
	ids, err := s.checkBatch(files)
	if err != nil {
		return nil, err
	}
	var rows []*File
	err = s.DB.Write.NewSelect().Model(&rows).Where("f.id IN (?) AND f.owner_id = ? AND f.state = ?", bun.List(ids),
		caller.UserID, Pending).Scan(ctx)
	if err != nil {
		return nil, err
	}
	for _, f := range rows {
		// It is not an error if the object does not exist: another call may have finalized the upload, or
		// it may have expired.
		err := s.Bucket.Promote(ctx, f.ObjectKey, f.SHA256, f.Size)
		if err != nil && !errors.Is(err, bucket.ErrNotExist) {
			return nil, fmt.Errorf("finalize file %d: %w", f.ID, err)
		}
		keys = append(keys, f.ObjectKey)
	}
	return keys, nil
}

// Sweep removes pending objects that are not needed any more.
func (s *Store) Sweep(ctx context.Context, keys []string) {
	for _, key := range keys {
		s.Discard(ctx, key)
	}
}

// finalize updates the rows for Finalize. Locks are acquired in a fixed order (target, files by ID,
// contents by hash), so that concurrent finalizations do not deadlock.
func (s *Store) finalize(ctx context.Context, tx bun.Tx, caller auth.Caller, files []FinalizeFile,
	target Target) error {
	ids, err := s.checkBatch(files)
	if err != nil {
		return err
	}
	on, err := s.LockOwned(ctx, tx, caller, target)
	if err != nil {
		return err
	}
	var rows []*File
	if err := s.DB.ForUpdate(tx.NewSelect().Model(&rows).Where("f.id IN (?)", bun.List(ids)).Order("f.id")).
		Scan(ctx); err != nil {
		return err
	}
	byID := make(map[int64]*File, len(rows))
	for _, f := range rows {
		byID[f.ID] = f
	}
	at := Now()
	var todo []*File
	ranks := make(map[int64]int64)    // of files that are already attached
	unranked := make(map[int64]int64) // the positions in the batch of files without a given rank
	for i, want := range files {
		f := byID[want.ID]
		input := fmt.Sprintf("files[%d].id", i)
		switch {
		case f == nil || f.OwnerID != caller.UserID:
			return About(input, NoSuch("pending upload", want.ID))
		case f.State == Finalized:
			if (Target{f.TargetType, f.TargetID}) != target {
				return About(input, Fail(Conflict, "file %d is already attached to %s %d", f.ID, f.TargetType, f.TargetID))
			}
			if want.Rank != nil && *want.Rank != f.Rank {
				ranks[f.ID] = int64(*want.Rank)
			}
		case f.State == Staged:
			return About(input, Fail(NotFound, "pending upload %d has no bytes yet", f.ID))
		case !f.Live(at):
			return About(input, NoSuch("pending upload", want.ID))
		default:
			if want.Rank != nil {
				f.Rank = *want.Rank
			} else {
				unranked[f.ID] = int64(i)
			}
			todo = append(todo, f)
		}
	}
	if len(ranks) > 0 {
		if err := database.SetEach(ctx, tx, "files", "id", "rank = v.n", "true", ranks); err != nil {
			return err
		}
	}
	switch {
	case len(todo) > 0:
		return s.attach(ctx, tx, todo, unranked, on)
	case len(ranks) > 0:
		return Touch(ctx, tx, on.Target)
	}
	return nil
}

// attach attaches locked pending files to a locked target. Those in unranked follow the files that
// the target has, in the order of the numbers.
func (s *Store) attach(ctx context.Context, tx bun.Tx, files []*File, unranked map[int64]int64, on Owned) error {
	if IsUserImage(on.Type) {
		if err := checkUserImage(on.Type, files); err != nil {
			return err
		}
	}
	var there struct{ Files, Next int64 }
	err := tx.NewSelect().Model((*File)(nil)).ColumnExpr("count(*) AS files").
		ColumnExpr("coalesce(CAST(max(CASE WHEN f.rendering_rank > f.rank THEN f.rendering_rank ELSE f.rank END) AS bigint), -1) + 1 AS next").
		Where("f.target_type = ? AND f.target_id = ? AND f.state = ?", on.Type, on.ID, Finalized).Scan(ctx, &there)
	if err != nil {
		return err
	}
	if most := int64(s.MaxFilesOf(on.Type)); there.Files+int64(len(files)) > most {
		e := Fail(Conflict, "files: %s %d has %d files and would get %d more, and at most %d are allowed", on.Type, on.ID,
			there.Files, len(files), most)
		e.Field, e.Limit = "files", most
		return e
	}
	for _, f := range files {
		if position, ok := unranked[f.ID]; ok {
			f.Rank = int32(min(there.Next+position, math.MaxInt32))
		}
	}
	processed := make(map[PreviewState][]*File) // by state of their previews, if these exist already
	byContent := slices.SortedFunc(slices.Values(files),
		func(a, b *File) int { return strings.Compare(a.SHA256, b.SHA256) })
	for _, f := range byContent {
		c, err := LockContent(ctx, tx, f.SHA256, f.Size)
		if err != nil {
			return err
		}
		// Promote again, now that the content is locked against the garbage collector. If the content
		// still exists, this only checks its size.
		promote := s.Bucket.Promote
		if c.DamagedAt != nil {
			promote = s.Bucket.PromoteDamaged
		}
		if err := promote(ctx, f.ObjectKey, f.SHA256, f.Size); err != nil {
			return fmt.Errorf("finalize file %d: %w", f.ID, err)
		}
		if c.DamagedAt != nil {
			if _, err := tx.NewUpdate().Model(c).Set("damaged_at = NULL").WherePK().Exec(ctx); err != nil {
				return err
			}
		}
		var state PreviewState
		if f.PreviewID, state, err = s.SchedulePreview(ctx, tx, f); err != nil {
			return err
		}
		if state == PreviewDone || state == PreviewFailed {
			processed[state] = append(processed[state], f)
		}
	}
	if err := s.AssignRenderingIDs(ctx, tx, files); err != nil {
		return err
	}
	at := Now()
	for _, f := range files {
		f.State, f.ObjectKey, f.FinalizedAt, f.ExpiresAt = Finalized, "", &at, nil
		f.TargetType, f.TargetID, f.ThingID = on.Type, on.ID, on.ThingID
		_, err := tx.NewUpdate().Model(f).
			Column("state", "object_key", "finalized_at", "expires_at", "target_type", "target_id", "thing_id", "rank",
				"preview_id", "rendering_id").WherePK().Exec(ctx)
		if err != nil {
			return err
		}
	}
	for state, files := range processed {
		if err := s.Raise(ctx, tx, FilesProcessed{files, state}); err != nil {
			return err
		}
	}
	if IsUserImage(on.Type) {
		return showUserImage(ctx, tx, files[0])
	}
	if on.Make != nil && on.Make.State == Draft {
		if err := s.PublishMake(ctx, tx, on.Make); err != nil {
			return err
		}
	}
	if err := Touch(ctx, tx, on.Target); err != nil {
		return err
	}
	return s.DB.indexTarget(ctx, tx, on)
}

// LockContent locks the row of a content until tx ends, and returns it. It is an upsert, which
// creates a missing row.
func LockContent(ctx context.Context, tx bun.Tx, sha256 string, size int64) (*Content, error) {
	c := &Content{SHA256: sha256, Size: size, CreatedAt: Now()}
	_, err := tx.NewInsert().Model(c).On("CONFLICT (sha256) DO UPDATE").Set("size = EXCLUDED.size").
		Returning("damaged_at").Exec(ctx)
	return c, err
}

// HoldContent locks the row of a content like [LockContent], but needs no size: it does not change
// the stored one.
func HoldContent(ctx context.Context, tx bun.Tx, sha256 string) error {
	_, err := tx.NewInsert().Model(&Content{SHA256: sha256, CreatedAt: Now()}).On("CONFLICT (sha256) DO UPDATE").
		Set("sha256 = EXCLUDED.sha256").Exec(ctx)
	return err
}
