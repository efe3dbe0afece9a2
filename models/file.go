package models

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"path"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/bucket"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/internal/fieldset"
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
	database.Listed

	ID          int64 `bun:",pk,autoincrement"`
	OwnerID     int64
	Name        string
	Folder      string // inside of the thing, such as Supported/32mm; empty: the top
	Kind        FileKind
	State       FileState
	Size        int64 // bytes
	ContentType string
	SHA256      string `bun:"sha256"` // hex; empty for a file in a library that was not read yet
	MD5         string `bun:"md5"`    // hex
	// ObjectKey is below pending/ in the bucket and empty once finalized, except for a file in a
	// library: its key is always that of a [bucket.LibraryFile].
	ObjectKey  string
	TargetType TargetType // empty if there is no target
	TargetID   int64
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
	MissingSince  *time.Time // when a scan of the library did not find the file; nil: it is there
	// NewDownloads are those that FoldedCount does not include yet.
	NewDownloads int64    `bun:",scanonly"`
	Preview      *Preview `bun:",scanonly" reads:"PreviewID"` // without its mesh; nil: none
	// PreviewMesh is set if the preview was read with its mesh, which is large.
	PreviewMesh bool `bun:",scanonly" reads:"Preview"`
	// PreviewPrinting is set if the preview was read with what slicers say in the file.
	PreviewPrinting bool `bun:",scanonly" reads:"Preview"`

	// The fields that Allows and Public need: those of the thing, and of the make if the target is one
	// or a comment on one.
	ThingState     PublicationState `bun:",scanonly" reads:"State,OwnerID,ThingID,TargetType,ExpiresAt,ThingOwner,MakeState"`
	ThingOwner     int64            `bun:",scanonly"`
	ThingTakenDown bool             `bun:",scanonly"`
	ThingHidden    PublicationState `bun:",scanonly"` // see Thing.HiddenState
	MakeState      PublicationState `bun:",scanonly"`
	MakeOwner      int64            `bun:",scanonly"`
	MakeTakenDown  bool             `bun:",scanonly"`
}

// FileFields is a set of fields of a file.
type FileFields = fieldset.Set[File]

// previewFields are the fields of a preview that are read with its file.
var previewFields = fieldset.Of[Preview]("ID", "SHA256", "Subject", "Version", "State", "Stage", "Progress", "Error",
	"Reason", "Attempts", "ImageFormat",
	"Width", "Height", "Threejs", "GLB")

// The columns of a preview that are large.
var (
	previewMesh     = fieldset.Of[Preview]("Mesh")
	previewPrinting = fieldset.Of[Preview]("Printing")
)

// Path returns the path of the file inside of its thing: its folder and its name.
func (f *File) Path() string { return path.Join(f.Folder, f.Name) }

var files = database.NewTable(func(f *File) (int64, *database.Listed) { return f.ID, &f.Listed },
	// The sum with the downloads that are not folded yet is always exact.
	database.Computed{Fields: []string{"NewDownloads"}, Add: func(q *bun.SelectQuery, _ database.Row) *bun.SelectQuery {
		return q.ColumnExpr(
			"(SELECT count(*) FROM new_downloads AS nd WHERE nd.thing_id = f.thing_id AND nd.file_id = f.id) AS new_downloads")
	}},
	database.Computed{Fields: []string{"Preview", "PreviewMesh", "PreviewPrinting"},
		Add: func(q *bun.SelectQuery, r database.Row) *bun.SelectQuery {
			columns := previewFields
			if r.Has("PreviewMesh") {
				columns = columns.With(previewMesh)
				q = q.ColumnExpr("true AS preview_mesh")
			}
			if r.Has("PreviewPrinting") {
				columns = columns.With(previewPrinting)
				q = q.ColumnExpr("true AS preview_printing")
			}
			return database.AddColumns(q.Join("LEFT JOIN previews AS fp ON fp.id = f.preview_id"), r.Builder, columns, "fp",
				"preview__")
		}},
	database.Computed{Fields: []string{"ThingState", "ThingOwner", "ThingTakenDown", "ThingHidden"},
		Add: func(q *bun.SelectQuery, _ database.Row) *bun.SelectQuery {
			return q.Join("LEFT JOIN things AS ft ON ft.id = f.thing_id").ColumnExpr("coalesce(ft.state, '') AS thing_state, " +
				"coalesce(ft.owner_id, 0) AS thing_owner, ft.taken_down_at IS NOT NULL AS thing_taken_down, coalesce(ft.hidden_state, '') AS thing_hidden")
		}},
	database.Computed{Fields: []string{"MakeState", "MakeOwner", "MakeTakenDown"},
		Add: func(q *bun.SelectQuery, _ database.Row) *bun.SelectQuery {
			return q.Join("LEFT JOIN comments AS fc ON f.target_type = 'comment' AND fc.id = f.target_id").
				Join("LEFT JOIN makes AS fm ON fm.id = CASE WHEN f.target_type = 'make' THEN f.target_id WHEN fc.target_type = 'make' THEN fc.target_id END").
				ColumnExpr("coalesce(fm.state, '') AS make_state, coalesce(fm.owner_id, 0) AS make_owner, fm.taken_down_at IS NOT NULL AS make_taken_down")
		}},
)

// AllFileFields has all fields of a file.
var AllFileFields = files.All()

var (
	// FileAccess has the fields that File.Allows needs.
	FileAccess = fieldset.Of[File]("ThingState")
	// accessWithoutMakes has the same fields for a file that is on no make.
	accessWithoutMakes = fieldset.Of[File]("ThingOwner", "State", "OwnerID", "ThingID", "TargetType", "ExpiresAt")

	targetID = fieldset.Of[File]("TargetID")
)

// TakenDown reports whether the thing or the make was taken down.
func (f *File) TakenDown() bool { return f.ThingTakenDown || f.MakeTakenDown }

// DownloadCount returns the number of downloads of the file.
func (f *File) DownloadCount() int64 { return f.FoldedCount + f.NewDownloads }

// Public reports whether everyone may read the content.
func (f *File) Public() bool {
	return f.shown() && (f.ThingState == Published || f.ThingID == 0)
}

// shown reports whether the file is finalized, and not of a draft make.
func (f *File) shown() bool { return f.State == Finalized && f.MakeState != Draft }

// Target returns the object that the file is attached to. ok is false until it is finalized.
func (f *File) Target() (t Target, ok bool) {
	return Target{f.TargetType, f.TargetID}, f.State == Finalized
}

// IsAvailable reports whether the server has the content of the file. It is false for files that
// were imported without their content, for staged uploads whose bytes have not arrived, and for
// files that are missing from their library.
func (f *File) IsAvailable() bool {
	return f.MissingSince == nil && (f.SHA256 != "" || f.InLibrary())
}

// InLibrary reports whether the content of the file is in a library.
func (f *File) InLibrary() bool { return strings.HasPrefix(f.ObjectKey, bucket.LibraryPrefix) }

// IsMissing reports whether the file is missing from its library.
func (f *File) IsMissing() bool { return f.MissingSince != nil }

// ContentKey returns the object key of the content of the file.
func (f *File) ContentKey() string {
	if f.ObjectKey != "" {
		return f.ObjectKey
	}
	return bucket.ContentKey(f.SHA256)
}

// ETag returns a text that differs if the content differs.
func (f *File) ETag() string {
	if f.SHA256 != "" {
		return f.SHA256
	}
	sum := sha256.Sum256([]byte(f.ObjectKey))
	return hex.EncodeToString(sum[:])
}

// Live reports whether the file exists at a time. A pending upload does not exist after its expiry
// time, even if its row has not been removed yet, and a staged upload does not exist yet.
func (f *File) Live(at time.Time) bool {
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
	case !f.Live(Now()), f.State == Pending && f.OwnerID != caller.UserID:
		return NoSuch("file", f.ID)
	case f.State == Pending, f.Public(), caller.UserID != 0 && f.ownedBy(caller.UserID), caller.Moderates():
		return nil
	case f.ThingState == Unlisted && f.shown() && caller.Opened.Has(f.ThingID):
		return nil
	case (f.ThingState == Unlisted || f.ThingHidden == Unlisted) && !caller.Opened.Has(f.ThingID):
		return NoSuch("file", f.ID) // as if it did not exist: IDs can be counted
	case f.TakenDown():
		return f.Down()
	}
	return Fail(Forbidden, "file %d belongs to a draft of someone else", f.ID)
}

// Down returns the error for the content of a file whose thing is taken down.
func (f *File) Down() error {
	return Fail(Forbidden, "file %d belongs to a thing that was taken down by a moderator", f.ID)
}

// File returns a file, with the given fields. It returns NotFound if the file does not exist or is
// a pending upload of another user, and Forbidden if the caller may not see it. Concurrent reads of
// the same fields share statements.
func (s *Store) File(ctx context.Context, caller auth.Caller, fields FileFields, id int64) (*File, error) {
	f, ok, err := s.batcher(ctx).get(ctx, fields.With(FileAccess), id)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, NoSuch("file", id)
	}
	if err := f.Allows(caller); err != nil {
		return nil, err
	}
	return f, nil
}

// FilesByID returns files by ID. It does not check visibility: the caller must be allowed to see
// the objects that refer to them.
func (s *Store) FilesByID(ctx context.Context, fields FileFields, ids []int64) (map[int64]*File, error) {
	if !fields.Has(FileAccess) {
		return files.ByIDs(ctx, s.DB.DB, 0, fields, ids)
	}
	// Most files are on things, and joining the makes of all files would account for a third of the
	// time that the database spends. So files on makes and comments are read again.
	found, err := files.ByIDs(ctx, s.DB.DB, 0, fields.Without(FileAccess).With(accessWithoutMakes), ids)
	if err != nil {
		return nil, err
	}
	var again []int64
	for id, f := range found {
		if mayBeOnMake(f.TargetType) {
			again = append(again, id)
			delete(found, id) // it may no longer exist when it is read again
		}
	}
	onMakes, err := files.ByIDs(ctx, s.DB.DB, 0, fields, again)
	maps.Copy(found, onMakes)
	return found, err
}

// mayBeOnMake reports whether files whose targets have the given type may belong to a make or to a
// comment on a make.
func mayBeOnMake(on TargetType) bool { return on == OnMake || on == OnComment }

// filesOnKey reads the finalized files of the targets in argument 0, sorted by target, rank and ID.
type filesOnKey struct {
	on     TargetType
	fields FileFields
}

// Text implements [database.Key].
func (k filesOnKey) Text(b *database.Builder) (string, error) {
	return b.Text(k.add(b).Where("f.target_type = ? AND f.target_id ? AND f.state = ?", k.on, b.InList(0), Finalized).
		Order("f.target_id", "f.rank", "f.id"))
}

// add selects the fields of files on targets of one type.
func (k filesOnKey) add(b *database.Builder) *bun.SelectQuery {
	fields := k.fields
	if fields.Has(FileAccess) && !mayBeOnMake(k.on) {
		fields = fields.Without(FileAccess).With(accessWithoutMakes)
	}
	return database.AddFields(b.Select().Model((*File)(nil)), b, fields.With(targetID), false, 0)
}

// FilesOn returns the finalized files of targets of one type by target ID, sorted by rank and ID.
// It does not check visibility: the caller must be allowed to see the targets.
func (s *Store) FilesOn(ctx context.Context, fields FileFields, on TargetType, ids []int64) (map[int64][]*File, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	var rows []*File
	err := database.Read(ctx, s.DB.DB, filesOnKey{on, fields}, &rows, ids)
	return byParent(rows, func(f *File) int64 { return f.TargetID }), err
}

// firstImagesKey reads the files with the first images of the targets in argument 0. Images whose
// previews are finished come before those whose previews are being made. Those that have no
// preview, or whose preview failed, are left out: they have no thumbnail to show.
type firstImagesKey struct{ filesOnKey }

// Text implements [database.Key].
func (k firstImagesKey) Text(b *database.Builder) (string, error) {
	const done = "p.state = ? AND p.picture <> ''"
	places := b.Select().TableExpr("files").
		ColumnExpr("files.id, row_number() OVER (PARTITION BY target_id ORDER BY CASE WHEN "+done+" THEN 0 ELSE 1 END, "+imageOrder+") AS place", PreviewDone).
		Join("JOIN previews AS p ON p.id = files.preview_id").
		Where("target_type = ? AND target_id ? AND files.state = ?", k.on, b.InList(0), Finalized).
		Where("kind = ? AND p.state IN (?, ?) OR (kind = ? OR rendering_id <> 0) AND "+done, Image, PreviewWaiting,
			PreviewRunning, Image, PreviewDone)
	return b.Text(k.add(b).Where("f.id IN (SELECT id FROM (?) AS p WHERE place = 1)", places))
}

// FirstImages returns the file with the first image of each target of one type that has an image
// with a thumbnail, or one that is being made, by target ID.
func (s *Store) FirstImages(ctx context.Context, fields FileFields, on TargetType,
	ids []int64) (map[int64]*File, error) {
	images := make(map[int64]*File, len(ids))
	if len(ids) == 0 {
		return images, nil
	}
	var rows []*File
	err := database.Read(ctx, s.DB.DB, firstImagesKey{filesOnKey{on, fields}}, &rows, ids)
	for _, f := range rows {
		images[f.TargetID] = f
	}
	return images, err
}

// Thing returns what is known of the thing of the file, with the fields ID, OwnerID, State and
// HiddenState. The file must have been read with FileAccess.
func (f *File) Thing() *Thing {
	return &Thing{ID: f.ThingID, OwnerID: f.ThingOwner, State: f.ThingState, HiddenState: f.ThingHidden}
}
