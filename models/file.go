package models

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"

	"github.com/meshyard/meshyard/internal/apierror"
	"github.com/meshyard/meshyard/internal/auth"
)

// FileState is the state of a file.
type FileState string

// The states of a file. A staged file has an ID and a target but no bytes yet, and is not visible
// to anyone.
const (
	Staged    FileState = "staged"
	Pending   FileState = "pending"
	Finalized FileState = "finalized"
)

// FileKind is the purpose of a file.
type FileKind string

// The kinds of files.
const (
	Model      FileKind = "model"
	Image      FileKind = "image" // PNG, JPEG, GIF, WebP or AVIF, whatever its name
	Attachment FileKind = "attachment"
)

// File is an uploaded file. It keeps the ID that it gets on upload.
type File struct {
	bun.BaseModel `bun:"table:files,alias:f"`

	ID          int64 `bun:",pk,autoincrement"`
	OwnerID     int64
	Name        string
	Kind        FileKind
	State       FileState
	Size        int64 // bytes
	ContentType string
	SHA256      string     `bun:"sha256"` // hex
	MD5         string     `bun:"md5"`    // hex
	ObjectKey   string     // below pending/ in the bucket; empty once finalized
	TargetType  TargetType // empty if there is no target
	TargetID    int64
	// ThingID is the thing that the file belongs to, directly or through its make or comment. It is 0
	// if there is none, or if the thing was deleted and its make was not.
	ThingID int64
	Rank    int32
	Note    string // by the owner, as plain text
	// PreviewID is 0 if there is no preview. Its partial index excludes 0, so queries need the
	// condition <> 0 to use the index.
	PreviewID   int64
	RenderingID int64 // ID of the rendering as an image; 0 if there is none or it was removed
	// RenderingRank is the rank of the rendering among the images; nil if it follows those with a
	// rank.
	RenderingRank *int32
	FoldedCount   int64 `bun:"download_count"`
	CreatedAt     time.Time
	FinalizedAt   *time.Time
	ExpiresAt     *time.Time // nil once finalized
	NewDownloads  int64      `bun:",scanonly"` // downloads that FoldedCount does not include yet
	Preview       *Preview   `bun:",scanonly"` // nil if it was not read with the file

	ThingState PublicationState `bun:",scanonly"`
	ThingOwner int64            `bun:",scanonly"`
	TakenDown  bool             `bun:",scanonly"` // whether the thing or the make was taken down
	MakeState  PublicationState `bun:",scanonly"` // if the target is a make, or a comment on one
	MakeOwner  int64            `bun:",scanonly"`
}

// DownloadCount returns the number of downloads of the file.
func (f *File) DownloadCount() int64 { return f.FoldedCount + f.NewDownloads }

// Public reports whether everyone may read the content.
func (f *File) Public() bool {
	return f.State == Finalized && (f.ThingState == Published || f.ThingState == Unlisted || f.ThingID == 0) && f.MakeState != Draft
}

// Target returns the object that the file is attached to. ok is false until it is finalized.
func (f *File) Target() (t Target, ok bool) {
	return Target{f.TargetType, f.TargetID}, f.State == Finalized
}

// IsAvailable reports whether the server has the content of the file. It is false for files that
// were imported without their content, and for staged uploads whose bytes have not arrived.
func (f *File) IsAvailable() bool { return f.SHA256 != "" }

// live reports whether the file exists at a time. A pending upload does not exist after its expiry
// time, even if its row has not been removed yet, and a staged upload does not exist yet.
func (f *File) live(at time.Time) bool {
	return f.State == Finalized || f.State == Pending && at.Before(*f.ExpiresAt)
}

// ownedBy reports whether the file, its make or its thing belongs to a user. The owner of a thing
// does not own the files of other users' draft makes of it.
func (f *File) ownedBy(user int64) bool {
	return f.OwnerID == user || f.MakeOwner == user || f.ThingOwner == user && f.MakeState != Draft
}

// Allows returns nil if the caller may read the file, and otherwise a Forbidden or NotFound error.
func (f *File) Allows(caller auth.Caller) error {
	switch {
	case !f.live(now()), f.State == Pending && f.OwnerID != caller.UserID:
		return notFound("file", f.ID)
	case f.State == Pending, f.Public(), caller.UserID != 0 && f.ownedBy(caller.UserID), caller.Moderates():
		return nil
	case f.TakenDown:
		return f.down()
	}
	return fail(Forbidden, "file %d belongs to a draft of someone else", f.ID)
}

// down returns the error for the content of a file whose thing is taken down.
func (f *File) down() error {
	return fail(Forbidden, "file %d belongs to a thing that was taken down by a moderator", f.ID)
}

// File returns a file. It returns NotFound if the file does not exist or is a pending upload of
// another user, and Forbidden if the caller may not see it. Concurrent reads share statements.
func (s *Store) File(ctx context.Context, caller auth.Caller, id int64) (*File, error) {
	return visibleFile(ctx, caller, s.files, id)
}

func visibleFile(ctx context.Context, caller auth.Caller, files *batcher[int64, *File], id int64) (*File, error) {
	f, ok, err := files.get(ctx, id)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, notFound("file", id)
	}
	if err := f.Allows(caller); err != nil {
		return nil, err
	}
	return f, nil
}

// addFiles adds the columns of files to a query of their table. It counts the downloads that are
// not folded yet, so that the sum is always exact.
func addFiles(ctx context.Context, q *bun.SelectQuery, with extras) *bun.SelectQuery {
	q = addColumns[File](ctx, q, with)
	if with.has(FileDownloads) {
		q = q.ColumnExpr("(SELECT count(*) FROM new_downloads AS nd WHERE nd.thing_id = f.thing_id AND nd.file_id = f.id) AS new_downloads")
	}
	if with.has(FileStates) {
		down := "t.taken_down_at IS NOT NULL"
		q = q.ColumnExpr("coalesce(t.state, '') AS thing_state, coalesce(t.owner_id, 0) AS thing_owner").Join("LEFT JOIN things AS t ON t.id = f.thing_id")
		if with.has(fileMakes) {
			down += " OR m.taken_down_at IS NOT NULL"
			q = q.ColumnExpr("coalesce(m.state, '') AS make_state, coalesce(m.owner_id, 0) AS make_owner").
				Join("LEFT JOIN comments AS cm ON f.target_type = 'comment' AND cm.id = f.target_id").
				Join("LEFT JOIN makes AS m ON m.id = CASE WHEN f.target_type = 'make' THEN f.target_id WHEN cm.target_type = 'make' THEN cm.target_id END")
		}
		q = q.ColumnExpr("(?) AS taken_down", bun.Safe(down))
	}
	if with.has(FilePreview) {
		q = q.Join("LEFT JOIN previews AS fp ON fp.id = f.preview_id").
			ColumnExpr("fp.id AS preview__id, fp.sha256 AS preview__sha256, fp.subject AS preview__subject, fp.version AS preview__version, " +
				"fp.state AS preview__state, fp.stage AS preview__stage, fp.progress AS preview__progress, fp.error AS preview__error, " +
				"fp.attempts AS preview__attempts, fp.picture AS preview__picture, fp.width AS preview__width, fp.height AS preview__height, " +
				"fp.threejs AS preview__threejs, fp.glb AS preview__glb, fp.mesh AS preview__mesh")
	}
	return q
}

// FilesByID returns files by ID without their previews. It does not check visibility: the caller
// must be allowed to see the objects that refer to them.
func (s *Store) FilesByID(ctx context.Context, ids []int64) (map[int64]*File, error) {
	return s.filesByID(ctx, ids, extras{set: partsOfFile &^ FilePreview})
}

// ShownFilesByID is FilesByID with the previews of the files.
func (s *Store) ShownFilesByID(ctx context.Context, ids []int64) (map[int64]*File, error) {
	return s.filesByID(ctx, ids, extras{set: partsOfFile})
}

// filesByID reads files by ID. It reads files on makes and comments again in a second statement,
// with the states of their makes. Most files are on things, and joining the makes of all files
// would account for a third of the time that the database spends.
func (s *Store) filesByID(ctx context.Context, ids []int64, with extras) (map[int64]*File, error) {
	read := func(ids []int64, with extras) (map[int64]*File, error) {
		return byIDWith(ctx, s.db, ids, with, func(q *bun.SelectQuery, _ schema.QueryAppender) *bun.SelectQuery {
			return addFiles(ctx, q, with)
		}, "f.id", func(f *File) int64 { return f.ID })
	}
	files, err := read(ids, with)
	if err != nil || !with.has(FileStates) {
		return files, err
	}
	var again []int64
	for id, f := range files {
		if mayBeOnMake(f.TargetType) {
			again = append(again, id)
			delete(files, id) // it may no longer exist when it is read again
		}
	}
	onMakes, err := read(again, with.and(fileMakes))
	maps.Copy(files, onMakes)
	return files, err
}

// mayBeOnMake reports whether files whose targets have the given type may belong to a make or to a
// comment on a make.
func mayBeOnMake(on TargetType) bool { return on == OnMake || on == OnComment }

// filesOf returns the extras to read with files whose targets have the given type.
func filesOf(ctx context.Context, on TargetType) extras {
	with := extrasAmong(ctx, partsOfFile)
	if mayBeOnMake(on) && with.has(FileStates) {
		with = with.and(fileMakes)
	}
	return with
}

// FilesOn returns the finalized files of targets of one type by target ID, sorted by rank and ID,
// with their previews. It does not check visibility: the caller must be allowed to see the targets.
func (s *Store) FilesOn(ctx context.Context, on TargetType, ids []int64) (map[int64][]*File, error) {
	with := filesOf(ctx, on)
	var rows []*File
	err := s.db.ForIDs(ctx, "files on "+string(on)+" with "+with.name(), ids, &rows, func(among, _ schema.QueryAppender) *bun.SelectQuery {
		return addFiles(ctx, s.db.Read.NewSelect().Model(&rows), with).Where("f.target_type = ? AND f.target_id ? AND f.state = ?", on, among, Finalized).
			Order("f.target_id", "f.rank", "f.id")
	})
	return byParent(rows, func(f *File) int64 { return f.TargetID }), err
}

// FirstImages returns the file with the first image of each target of one type that has an image,
// by target ID, with its preview. Images whose previews are finished come before those whose
// previews are being made. Those that have no preview, or whose preview failed, are left out: they
// have no thumbnail to show.
func (s *Store) FirstImages(ctx context.Context, on TargetType, ids []int64) (map[int64]*File, error) {
	images := make(map[int64]*File, len(ids))
	with := filesOf(ctx, on)
	var rows []*File
	err := s.db.ForIDs(ctx, "images of "+string(on)+" with "+with.name(), ids, &rows, func(among, _ schema.QueryAppender) *bun.SelectQuery {
		const shown = "p.state = ? AND p.picture <> ''"
		places := s.db.Read.NewSelect().TableExpr("files").
			ColumnExpr("files.id, row_number() OVER (PARTITION BY target_id ORDER BY CASE WHEN "+shown+" THEN 0 ELSE 1 END, "+imageOrder+") AS place", PreviewDone).
			Join("JOIN previews AS p ON p.id = files.preview_id").
			Where("target_type = ? AND target_id ? AND files.state = ?", on, among, Finalized).
			Where("kind = ? AND p.state IN (?, ?) OR (kind = ? OR rendering_id <> 0) AND "+shown, Image, PreviewWaiting, PreviewRunning, Image, PreviewDone)
		return addFiles(ctx, s.db.Read.NewSelect().Model(&rows), with).Where("f.id IN (SELECT id FROM (?) AS p WHERE place = 1)", places)
	})
	for _, f := range rows {
		images[f.TargetID] = f
	}
	return images, err
}

// FileDeletion describes a file to delete.
type FileDeletion struct {
	ID           int64
	Target       *Target    // the required target, unless nil
	Kinds        []FileKind // the required kinds, unless empty
	AllowNoModel bool       // even if a published thing then has no model
	Reason       string     // why a moderator deletes it
}

// DeleteFile removes a finalized file from its target, for the owner of the target or a moderator.
// Downloads of the file stay in the histories of users. The next garbage collection removes the
// content if no other file has it. It returns the file as it was. It opens a transaction.
func (s *Store) DeleteFile(ctx context.Context, caller auth.Caller, d FileDeletion) (deleted *File, err error) {
	id := d.ID
	err = s.changeFile(ctx, caller, id, d.Target, ownerOrModerators, func(ctx context.Context, tx bun.Tx, f *File, owner int64) error {
		deleted = f
		if len(d.Kinds) > 0 && !slices.Contains(d.Kinds, f.Kind) {
			return notFound("file", id) // not of the required kinds
		}
		if err := loseModel(ctx, tx, f, d.AllowNoModel); err != nil {
			return err
		}
		// The downloads stay in the count of the thing. Only the file's own count is deleted with its
		// row.
		if _, err := tx.NewDelete().Model(f).WherePK().Exec(ctx); err != nil {
			return err
		}
		return s.recordDeletion(ctx, tx, caller, ModerationEntry{Action: DeletedFile, UserID: owner, ThingID: f.ThingID, ObjectID: id, Reason: d.Reason})
	})
	return deleted, err
}

// loseModel is called before a file is deleted, or stops being a model, of a target that is locked.
// If it is the only model of a published thing, loseModel returns BadInput unless allowed is set.
// If it is the only model of a thing that was published before it was taken down, the thing becomes
// a draft when it is restored, because publication requires a model.
func loseModel(ctx context.Context, tx bun.Tx, f *File, allowed bool) error {
	if f.TargetType != OnThing || f.Kind != Model {
		return nil
	}
	t := new(Thing)
	err := tx.NewSelect().Model(t).Column("t.id", "t.state").Where("t.id = ? AND (t.state <> ? OR t.hidden_state NOT IN ('', ?))", f.TargetID, Draft, Draft).
		Where("NOT EXISTS (SELECT 1 FROM files AS o WHERE o.target_type = ? AND o.target_id = t.id AND o.state = ? AND o.kind = ? AND o.id <> ?)", OnThing, Finalized, Model, f.ID).
		Scan(ctx)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		return err
	case t.State == Draft:
		_, err := tx.NewUpdate().Model(t).Set("hidden_state = ?", Draft).WherePK().Exec(ctx)
		return err
	case allowed:
		return nil
	}
	return badInput("id", "file %d is the only model of thing %d, which is published: add another model first, or unpublish the thing", f.ID, f.TargetID).
		WithFieldCode(apierror.FieldModelRequired)
}

// changers are those who may change the files of a target.
type changers bool

const (
	ownerOnly         changers = false
	ownerOrModerators changers = true // and administrators
)

// changeFile locks a finalized file and its target and calls change. It returns Forbidden if the
// caller is not among who, and Conflict if the file is a pending upload. If the target is a thing
// or a make, its modification time changes. It opens a transaction.
func (s *Store) changeFile(ctx context.Context, caller auth.Caller, id int64, on *Target, who changers, change func(ctx context.Context, tx bun.Tx, f *File, owner int64) error) error {
	if _, err := s.File(ctx, caller, id); err != nil {
		return err
	}
	return s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		seen := new(File)
		if err := tx.NewSelect().Model(seen).Where("f.id = ?", id).Scan(ctx); err != nil {
			return notFoundIfNoRows(err, "file", id)
		}
		target, ok := seen.Target()
		if !ok {
			e := fail(Conflict, "file %d is a pending upload: it is not attached to anything yet", id)
			e.Field = "id"
			return e
		}
		if on != nil && *on != target {
			return notFound("file", id) // not on the required target
		}
		// The target is locked before the file, as in finalizations.
		locked, err := s.lockOwned(ctx, tx, caller, target)
		if err != nil && !(who == ownerOrModerators && CodeOf(err) == Forbidden && checkDecides(caller, locked.owner) == nil) {
			return err
		}
		f, err := s.lockFile(ctx, tx, id)
		if err != nil {
			return err
		}
		if err := change(ctx, tx, f, locked.owner); err != nil {
			return err
		}
		return touch(ctx, tx, target)
	})
}
