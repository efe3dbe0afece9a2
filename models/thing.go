package models

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/internal/fieldset"
	"github.com/meshyard/meshyard/internal/license"
)

// PublicationState determines who can see a thing or a make. A draft is visible only to its
// creator, to moderators and to administrators, and a published object to everyone. An
// unlisted thing exists only for its creator, moderators, administrators and requests with its key:
// see [auth.Opened]. No list, search or count contains it. Makes are never unlisted.
type PublicationState string

// The states of publication.
const (
	Draft     PublicationState = "draft"
	Unlisted  PublicationState = "unlisted"
	Published PublicationState = "published"
)

// Thing is a shareable design: files belong to it, makes and comments refer to it.
type Thing struct {
	bun.BaseModel `bun:"table:things,alias:t"`
	database.Listed

	ID           int64 `bun:",pk,autoincrement"`
	OwnerID      int64
	Name         string
	State        PublicationState
	License      License
	LicenseID    license.ID `bun:",nullzero"` // empty: see SPDX
	CategoryID   int64
	Description  string // Markdown
	Instructions string // Markdown
	SourceURL    string `bun:",nullzero"` // of the page that it was copied from; empty: unknown
	IsWIP        bool   `bun:"is_wip"`
	IsNSFW       bool   `bun:"is_nsfw"` // marked as not safe for work
	IsAI         bool   `bun:"is_ai"`   // marked as made with artificial intelligence
	DetailsParts string // see checkDetails
	IsDerivative bool   // made from other things, even if none of them is known here
	CreatedAt    time.Time
	ModifiedAt   time.Time
	PublishedAt  *time.Time
	FeaturedAt   *time.Time // nil: not featured
	TakenDownAt  *time.Time // nil: not taken down; see takedown.go
	DeletesAt    *time.Time // nil: not being deleted; see thing_revert.go
	Popularity   int64      // see popularity.go

	OriginCreator    string     `bun:",nullzero"` // see Origin
	OriginCreatorURL string     `bun:",nullzero"`
	OriginSite       string     `bun:",nullzero"`
	ImportedAt       *time.Time // nil: not copied from another page

	TakedownReason string           // empty if it is not taken down
	HiddenState    PublicationState // the state after the takedown; empty if it is not taken down

	LikeCount        int64   `reads:"Changes"`
	CollectCount     int64   `reads:"Changes"`
	MakeCount        int64   `reads:"Changes"`
	CommentCount     int64   `reads:"Changes"`
	RootCommentCount int64   `reads:"Changes"`
	RemixCount       int64   `reads:"Changes"`
	ViewCount        int64   // see view.go
	FoldedDownloads  int64   `bun:"download_count"`
	NewDownloads     int64   `bun:",scanonly"` // not yet included in FoldedDownloads
	Changes          Changes `bun:",scanonly"`

	HasModel  bool `bun:",scanonly"` // among its finalized files
	Liked     bool `bun:",scanonly"` // by the caller
	Collected bool `bun:",scanonly"` // by the caller, in any collection
	Watched   bool `bun:",scanonly"` // by the caller

	ShownDescription  string `bun:",scanonly" reads:"Stale"` // see Store.HTML
	ShownInstructions string `bun:",scanonly" reads:"Stale"`
	Stale             bool   `bun:",scanonly"`

	// These are read with a single thing only; nil: not read. See thing_joined.go.
	TagList      *string `bun:",scanonly"`
	CategoryList *string `bun:",scanonly"`
	FileKinds    *string `bun:",scanonly"`
}

// ThingFields is a set of fields of a thing.
type ThingFields = fieldset.Set[Thing]

var things = database.NewTable(func(t *Thing) (int64, *database.Listed) { return t.ID, &t.Listed },
	database.Computed{Fields: []string{"NewDownloads"}, Add: func(q *bun.SelectQuery, _ database.Row) *bun.SelectQuery {
		return q.ColumnExpr("(SELECT count(*) FROM new_downloads AS nd WHERE nd.thing_id = t.id) AS new_downloads")
	}},
	database.Computed{Fields: []string{"HasModel"}, Add: func(q *bun.SelectQuery, _ database.Row) *bun.SelectQuery {
		return q.ColumnExpr(
			"EXISTS (SELECT 1 FROM files AS fm WHERE fm.target_type = ? AND fm.target_id = t.id AND fm.kind = ? AND fm.state = ?) AS has_model",
			OnThing, Model, Finalized)
	}},
	database.Computed{Fields: []string{"Collected"}, OfCaller: true,
		Add: func(q *bun.SelectQuery, r database.Row) *bun.SelectQuery {
			return q.ColumnExpr("(SELECT true FROM collection_things AS ct JOIN collections AS co ON co.id = ct.collection_id "+
				"WHERE ct.thing_id = t.id AND co.owner_id = ? LIMIT 1) IS NOT NULL AS collected", r.Caller)
		}},
	pending("things", "t"), liked(OnThing, "t"), watched(OnThing, "t"),
	shown("ShownDescription", "description", "t"), shown("ShownInstructions", "instructions", "t"), stale("t"),
	joinedTags, joinedCategory, joinedFileKinds,
)

// AllThingFields has all fields of a thing but those that are read with a single thing only.
var AllThingFields = things.All().Without(fieldset.Of[Thing]("TagList", "CategoryList", "FileKinds"))

// ThingAccess has the fields that Thing.Allows needs.
var ThingAccess = fieldset.Of[Thing]("State", "OwnerID", "TakenDownAt", "HiddenState")

// AfterScanRow adds the pending count changes to the stored counts. It returns TooLarge if the
// operation has read more bytes of texts than allowed.
func (t *Thing) AfterScanRow(ctx context.Context) error {
	if err := readText(ctx, len(t.Description)+len(t.Instructions)+len(t.DetailsParts)+len(t.ShownDescription)+len(
		t.ShownInstructions)); err != nil {
		return err
	}
	return t.Changes.addTo(map[string]*int64{
		"like_count": &t.LikeCount, "collect_count": &t.CollectCount, "make_count": &t.MakeCount,
		"comment_count":      &t.CommentCount,
		"root_comment_count": &t.RootCommentCount, "remix_count": &t.RemixCount,
	})
}

// DownloadCount returns the number of downloads of the files of the thing, and of its makes and
// comments.
func (t *Thing) DownloadCount() int64 { return t.FoldedDownloads + t.NewDownloads }

// IsFeatured reports whether the thing is featured by moderators.
func (t *Thing) IsFeatured() bool { return t.FeaturedAt != nil }

// LockThing reads a thing and locks its row until tx ends. It returns NotFound if there is no such
// thing, or if it is being deleted; see [Store.ScheduleDeletion].
func (s *Store) LockThing(ctx context.Context, tx bun.Tx, id int64) (*Thing, error) {
	t, err := s.LockThingOrDeleted(ctx, tx, id)
	if err == nil && t.DeletesAt != nil {
		return nil, NoSuch("thing", id)
	}
	return t, err
}

// LockThingOrDeleted is lockThing that also returns a thing that is being deleted.
func (s *Store) LockThingOrDeleted(ctx context.Context, tx bun.Tx, id int64) (*Thing, error) {
	t := new(Thing)
	err := s.DB.ForUpdate(tx.NewSelect().Model(t).Where("t.id = $1")).Conn(database.Bind(tx, id)).Scan(ctx)
	return t, NoSuchIfNoRows(err, "thing", id)
}

// lockOwnThing is lockThing for a thing of the caller. It returns Forbidden for a thing of another
// user, or NotFound if that is unlisted, and, unless the caller is a moderator, Forbidden for one
// that is taken down.
func (s *Store) lockOwnThing(ctx context.Context, tx bun.Tx, caller auth.Caller, id int64) (*Thing, error) {
	t, err := s.LockThing(ctx, tx, id)
	if err == nil && t.OwnerID != caller.UserID {
		return nil, t.ofSomeoneElse(caller)
	}
	if err == nil {
		err = t.CheckNotTakenDown(caller)
	}
	return t, err
}

// Thing returns a thing that the caller can see, with the given fields. Otherwise it returns
// NotFound or Forbidden.
func (s *Store) Thing(ctx context.Context, caller auth.Caller, fields ThingFields, id int64) (*Thing, error) {
	t, err := One(s, ctx, caller, things, fields.With(ThingAccess), "thing", id)
	if err != nil {
		return nil, err
	}
	return t, t.Allows(caller)
}

// Allows returns nil if the caller may read the thing, else Forbidden, or NotFound if the thing is
// unlisted.
func (t *Thing) Allows(caller auth.Caller) error {
	switch {
	case t.State == Published, t.OwnerID == caller.UserID, caller.Moderates():
		return nil
	case t.State == Unlisted && caller.Opened.Has(t.ID):
		return nil
	case (t.State == Unlisted || t.HiddenState == Unlisted) && !caller.Opened.Has(t.ID):
		return NoSuch("thing", t.ID) // as if it did not exist: IDs can be counted
	}
	if t.IsTakenDown() && t.HiddenState != Draft {
		return Fail(Forbidden, "thing %d was taken down by a moderator", t.ID)
	}
	return Fail(Forbidden, "thing %d is a draft of someone else", t.ID)
}

// ofSomeoneElse returns the error for a change of a thing of another user: Forbidden, or NotFound
// if the thing is unlisted and does not exist for the caller.
func (t *Thing) ofSomeoneElse(caller auth.Caller) error {
	if err := t.Allows(caller); CodeOf(err) == NotFound {
		return err
	}
	return Fail(Forbidden, "thing %d belongs to someone else", t.ID)
}

// ThingsByID returns the things with the given IDs. It does not check visibility: the caller must
// be allowed to see the object that refers to them.
func (s *Store) ThingsByID(ctx context.Context, caller auth.Caller, fields ThingFields,
	ids []int64) (map[int64]*Thing, error) {
	return things.ByIDs(ctx, s.DB.DB, caller.UserID, fields, ids)
}

// fileCountsKey reads the numbers of finalized files of the things in argument 0.
type fileCountsKey struct{}

// Text implements [database.Key].
func (fileCountsKey) Text(b *database.Builder) (string, error) {
	return b.Text(b.Select().TableExpr("files AS f").ColumnExpr("f.target_id AS id, f.kind, count(*) AS n").
		Where("f.target_type = ? AND f.target_id ? AND f.state = ?", OnThing, b.InList(0), Finalized).
		Group("f.target_id", "f.kind"))
}

// FileCounts returns the numbers of finalized files of things, by kind.
func (s *Store) FileCounts(ctx context.Context, thingIDs []int64) (map[int64]map[FileKind]int64, error) {
	var rows []struct {
		ID   int64
		Kind FileKind
		N    int64
	}
	err := database.Read(ctx, s.DB.DB, fileCountsKey{}, &rows, thingIDs)
	counts := make(map[int64]map[FileKind]int64, len(rows))
	for _, row := range rows {
		if counts[row.ID] == nil {
			counts[row.ID] = make(map[FileKind]int64)
		}
		counts[row.ID][row.Kind] = row.N
	}
	return counts, err
}

// fileSizesKey reads the total sizes of the files of the things in argument 0 that have content.
type fileSizesKey struct{}

// Text implements [database.Key].
func (fileSizesKey) Text(b *database.Builder) (string, error) {
	return b.Text(b.Select().TableExpr("files AS f").ColumnExpr("f.target_id AS id, CAST(sum(f.size) AS bigint) AS n").
		Where("f.target_type = ? AND f.target_id ? AND f.state = ? AND f.missing_since IS NULL AND (f.sha256 <> '' OR f.object_key <> '')", OnThing, b.InList(0), Finalized).Group("f.target_id"))
}

// FileSizes returns the total sizes of the finalized files of things that have content, in bytes.
func (s *Store) FileSizes(ctx context.Context, thingIDs []int64) (map[int64]int64, error) {
	var rows []struct{ ID, N int64 }
	err := database.Read(ctx, s.DB.DB, fileSizesKey{}, &rows, thingIDs)
	sizes := make(map[int64]int64, len(rows))
	for _, row := range rows {
		sizes[row.ID] = row.N
	}
	return sizes, err
}

// ThingsNamed returns the IDs of the things of a user that have a name.
func (a Admin) ThingsNamed(ctx context.Context, ownerID int64, name string) (ids []int64, err error) {
	err = a.store.DB.Read.NewSelect().Model((*Thing)(nil)).Column("t.id").Where("t.owner_id = ? AND t.name = ?", ownerID,
		name).Order("t.id").Scan(ctx, &ids)
	return ids, err
}
