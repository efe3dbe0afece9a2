package models

import (
	"context"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
)

// PublicationState determines who can see a thing or a make. A draft is visible only to its
// creator, to moderators and to administrators, and a published object to everyone. Everyone who
// has the ID of an unlisted thing can see it, but no list, search or count contains it. Makes are
// never unlisted.
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
	CategoryID   int64
	Description  string // Markdown
	Instructions string // Markdown
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
	Popularity   int64      // see popularity.go

	TakedownReason string           // empty if it is not taken down
	HiddenState    PublicationState // the state after the takedown; empty if it is not taken down

	LikeCount        int64
	CollectCount     int64
	MakeCount        int64
	CommentCount     int64
	RootCommentCount int64
	RemixCount       int64
	ViewCount        int64   // see view.go
	FoldedDownloads  int64   `bun:"download_count"`
	NewDownloads     int64   `bun:",scanonly"` // not yet included in FoldedDownloads
	Changes          Changes `bun:",scanonly"`

	Extras  Extra `bun:",scanonly"` // what was read with the thing
	Creator *User `bun:",scanonly"` // nil: not read
	Marks         // of the caller
	thingExtras
}

// Has reports whether an extra was read with the thing.
func (t *Thing) Has(extra Extra) bool { return t.Extras&extra != 0 }

// AfterScanRow adds the pending count changes to the stored counts, and decodes the extras. It
// returns TooLarge if the operation has read more bytes of texts than allowed.
func (t *Thing) AfterScanRow(ctx context.Context) error {
	if err := readText(ctx, len(t.Description)+len(t.Instructions)+len(t.DetailsParts)+len(t.ShownDescription)+len(t.ShownInstructions)); err != nil {
		return err
	}
	if err := t.decode(ctx); err != nil {
		return err
	}
	return t.Changes.addTo(map[string]*int64{
		"like_count": &t.LikeCount, "collect_count": &t.CollectCount, "make_count": &t.MakeCount, "comment_count": &t.CommentCount,
		"root_comment_count": &t.RootCommentCount, "remix_count": &t.RemixCount,
	})
}

// DownloadCount returns the number of downloads of the files of the thing, and of its makes and
// comments.
func (t *Thing) DownloadCount() int64 { return t.FoldedDownloads + t.NewDownloads }

// IsFeatured reports whether the thing is featured by moderators.
func (t *Thing) IsFeatured() bool { return t.FeaturedAt != nil }

// addThings adds the columns of things, with their counts and extras, to a query of their table.
// user is the ID of the caller.
func (s *Store) addThings(ctx context.Context, q *bun.SelectQuery, with extras, user schema.QueryAppender) *bun.SelectQuery {
	q = with.ofThings(s.db.Engine, addColumns[Thing](ctx, q, with), user)
	if with.has(ThingCreator) {
		q = s.joinCreators(ctx, q)
	}
	if !with.has(ThingCounts) {
		return q
	}
	return pendingCounts(q, "things", "t")
}

// joinCreators adds the columns of the creators to a query of things with the alias t.
func (s *Store) joinCreators(ctx context.Context, q *bun.SelectQuery) *bun.SelectQuery {
	const prefix = "creator__"
	if s.db.Engine == database.SQLite {
		// SQLite does not change the order of a CROSS JOIN.
		return addColumnsAs[User](ctx, q, extras{}, prefix).Join("CROSS JOIN users AS u ON u.id = t.owner_id")
	}
	// With LIMIT, PostgreSQL looks up the creator of each thing. Without it, PostgreSQL could read all
	// users, because it does not know how many things a prepared statement returns.
	creator := addColumnsAs[User](ctx, s.db.Read.NewSelect().Model((*User)(nil)), extras{}, prefix).Where("u.id = t.owner_id").Limit(1)
	return q.ColumnExpr("cr.*").Join("CROSS JOIN LATERAL (?) AS cr", creator)
}

// lockThing reads a thing and locks its row until tx ends. It returns NotFound if there is no such
// thing.
func (s *Store) lockThing(ctx context.Context, tx bun.Tx, id int64) (*Thing, error) {
	t := new(Thing)
	err := s.db.ForUpdate(tx.NewSelect().Model(t).Where("t.id = $1")).Conn(database.Bind(tx, id)).Scan(ctx)
	return t, notFoundIfNoRows(err, "thing", id)
}

// lockOwnThing is lockThing for a thing of the caller. It returns Forbidden for a thing of another
// user, and, unless the caller is a moderator, for one that is taken down.
func (s *Store) lockOwnThing(ctx context.Context, tx bun.Tx, caller auth.Caller, id int64) (*Thing, error) {
	t, err := s.lockThing(ctx, tx, id)
	if err == nil && t.OwnerID != caller.UserID {
		return nil, fail(Forbidden, "thing %d belongs to someone else", id)
	}
	if err == nil {
		err = t.checkNotTakenDown(caller)
	}
	return t, err
}

// Thing returns a thing that the caller can see. Otherwise it returns NotFound or Forbidden.
func (s *Store) Thing(ctx context.Context, caller auth.Caller, id int64) (*Thing, error) {
	t, err := readOne(ctx, s.thingRows(ctx, ofOneThing).byID, "thing", id)
	if err != nil {
		return nil, err
	}
	return t, t.Allows(caller)
}

// Allows returns nil if the caller may read the thing, else Forbidden.
func (t *Thing) Allows(caller auth.Caller) error {
	if t.State != Draft || t.OwnerID == caller.UserID || caller.Moderates() {
		return nil
	}
	if t.IsTakenDown() && t.HiddenState != Draft {
		return fail(Forbidden, "thing %d was taken down by a moderator", t.ID)
	}
	return fail(Forbidden, "thing %d is a draft of someone else", t.ID)
}

// ThingsByID returns the things with the given IDs. It does not check visibility: the caller must
// be allowed to see the object that refers to them.
func (s *Store) ThingsByID(ctx context.Context, ids []int64) (map[int64]*Thing, error) {
	return s.thingRows(ctx, ofThing).byID(ctx, ids)
}

// ThingsOnPages returns the same part of the list of each parent, with the things.
func (s *Store) ThingsOnPages(ctx context.Context, l List, parents []int64, part Slice) (map[int64]JoinedPage[*Thing], error) {
	return s.thingRows(ctx, ofThing).onPages(ctx, l, parents, part)
}

// thingRows reads things with those extras among some that the operation needs.
func (s *Store) thingRows(ctx context.Context, some Extra) rowReader[Thing] {
	with := extrasAmong(ctx, some)
	return rowReader[Thing]{
		db: s.db, with: with, column: "t.id",
		add: func(q *bun.SelectQuery, user schema.QueryAppender) *bun.SelectQuery {
			return s.addThings(ctx, q, with, user)
		},
		listed: func(t *Thing) (int64, *database.Listed) { return t.ID, &t.Listed },
	}
}

// FileCounts returns the numbers of finalized files of things, by kind.
func (s *Store) FileCounts(ctx context.Context, thingIDs []int64) (map[int64]map[FileKind]int64, error) {
	var rows []struct {
		ID   int64
		Kind FileKind
		N    int64
	}
	err := s.db.ForIDs(ctx, "files of things", thingIDs, &rows, func(among, _ schema.QueryAppender) *bun.SelectQuery {
		return s.db.Read.NewSelect().Model((*File)(nil)).ColumnExpr("f.target_id AS id, f.kind, count(*) AS n").
			Where("f.target_type = ? AND f.target_id ? AND f.state = ?", OnThing, among, Finalized).Group("f.target_id", "f.kind")
	})
	counts := make(map[int64]map[FileKind]int64, len(rows))
	for _, row := range rows {
		if counts[row.ID] == nil {
			counts[row.ID] = make(map[FileKind]int64)
		}
		counts[row.ID][row.Kind] = row.N
	}
	return counts, err
}

// ThingsNamed returns the IDs of the things of a user that have a name.
func (a Admin) ThingsNamed(ctx context.Context, ownerID int64, name string) (ids []int64, err error) {
	err = a.store.db.Read.NewSelect().Model((*Thing)(nil)).Column("t.id").Where("t.owner_id = ? AND t.name = ?", ownerID, name).Order("t.id").Scan(ctx, &ids)
	return ids, err
}
