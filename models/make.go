package models

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/internal/fieldset"
)

// Make is a user's print of a thing.
type Make struct {
	bun.BaseModel `bun:"table:makes,alias:m"`
	database.Listed

	ID          int64 `bun:",pk,autoincrement"`
	ThingID     int64 `bun:",nullzero"` // 0: the thing was deleted
	OwnerID     int64
	Name        string
	Description string // Markdown
	State       PublicationState
	CreatedAt   time.Time
	PublishedAt *time.Time
	ModifiedAt  *time.Time // of the make or its list of files; nil: not since it was created
	Print       *MakePrint `bun:"type:jsonb"` // how it was printed; nil: not stated
	// TakenDownAt is when the make was hidden because its taken-down thing was deleted. It is nil if
	// the make is not hidden.
	TakenDownAt *time.Time

	LikeCount        int64   `reads:"Changes"`
	CommentCount     int64   `reads:"Changes"`
	RootCommentCount int64   `reads:"Changes"`
	Changes          Changes `bun:",scanonly"`

	Liked            bool   `bun:",scanonly"`               // by the caller
	Watched          bool   `bun:",scanonly"`               // by the caller
	ShownDescription string `bun:",scanonly" reads:"Stale"` // see Store.HTML
	Stale            bool   `bun:",scanonly"`
}

// MakeFields is a set of fields of a make.
type MakeFields = fieldset.Set[Make]

var makes = database.NewTable(func(m *Make) (int64, *database.Listed) { return m.ID, &m.Listed },
	pending("makes", "m"), liked(OnMake, "m"), watched(OnMake, "m"), shown("ShownDescription", "description", "m"), stale("m"))

// AllMakeFields has all fields of a make.
var AllMakeFields = makes.All()

// MakeAccess has the fields that Make.Allows needs, and the thing.
var MakeAccess = fieldset.Of[Make]("State", "OwnerID", "ThingID")

// UpdatedAt returns when the make or its list of files last changed, or when it was created.
func (m *Make) UpdatedAt() time.Time {
	if m.ModifiedAt != nil {
		return *m.ModifiedAt
	}
	return m.CreatedAt
}

// AfterScanRow adds the pending count changes to the stored counts. It returns TooLarge if the
// operation has read more bytes of texts than allowed.
func (m *Make) AfterScanRow(ctx context.Context) error {
	if err := readText(ctx, len(m.Description)+len(m.ShownDescription)); err != nil {
		return err
	}
	if m.Print != nil {
		m.Print.MakeID = m.ID
	}
	return m.Changes.addTo(map[string]*int64{"like_count": &m.LikeCount, "comment_count": &m.CommentCount, "root_comment_count": &m.RootCommentCount})
}

// NewMake is the input of CreateMake.
type NewMake struct {
	ThingID     int64
	Name        string // empty: the name of the thing
	Description string
	// PictureName is the file name of an image to upload. If it is set, the make stays a draft until
	// its first file is finalized.
	PictureName *string
	Print       *NewMakePrint
}

// CreateMake creates a make of a thing that the caller can see. If n has an image, it stages the
// upload of the image; otherwise it publishes the make. It opens a transaction.
func (s *Store) CreateMake(ctx context.Context, caller auth.Caller, n NewMake) (*Make, *StagedUpload, error) {
	if err := errors.Join(CheckLine("name", n.Name, MaxName), CheckText("description", n.Description, MaxText), n.Print.check()); err != nil {
		return nil, nil, err
	}
	m := &Make{ThingID: n.ThingID, OwnerID: caller.UserID, Name: strings.TrimSpace(n.Name), Description: n.Description, State: Draft, CreatedAt: Now(), Print: n.Print.stated()}
	var html RenderedHTML
	if err := s.RenderTo(ctx, &html, MakeDescription, &n.Description); err != nil {
		return nil, nil, err
	}
	var picture *StagedUpload
	err := s.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		c := claim{makes: 1}
		if n.PictureName != nil {
			c.pending = 1
		}
		if err := s.claim(ctx, tx, caller.UserID, c); err != nil {
			return err
		}
		if _, err := s.LockVisibleTarget(ctx, tx, caller, Target{OnThing, n.ThingID}); err != nil {
			return About("thingId", err)
		}
		if m.Name == "" {
			if err := tx.NewSelect().Model((*Thing)(nil)).Column("t.name").Where("t.id = ?", n.ThingID).Scan(ctx, &m.Name); err != nil {
				return err
			}
		}
		_, err := html.Insert(tx.NewInsert().Model(m)).Exec(ctx)
		if err != nil {
			return err
		}
		if n.Print != nil {
			if err := savePrintedFiles(ctx, tx, m, n.Print.FileIDs); err != nil {
				return err
			}
		}
		if n.PictureName == nil {
			return s.PublishMake(ctx, tx, m)
		}
		picture, err = s.stage(ctx, tx, caller, "pictureName", *n.PictureName, owned{Target: Target{OnMake, m.ID}, owner: m.OwnerID, thingID: m.ThingID, make: m})
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	m, err = s.Make(ctx, caller, AllMakeFields, m.ID)
	return m, picture, err
}

// PublishMake publishes a locked make. Users who can
// see the thing can then see the make.
func (s *Store) PublishMake(ctx context.Context, tx bun.Tx, m *Make) error {
	at := Now()
	m.State, m.PublishedAt = Published, &at
	if _, err := tx.NewUpdate().Model(m).Column("state", "published_at").WherePK().Exec(ctx); err != nil {
		return err
	}
	if err := m.CountAsPublished(ctx, tx, 1); err != nil {
		return err
	}
	var owner int64 // of the thing
	if m.ThingID != 0 {
		if err := tx.NewSelect().Model((*Thing)(nil)).Column("t.owner_id").Where("t.id = ?", m.ThingID).Scan(ctx, &owner); err != nil {
			return err
		}
	}
	if err := s.Raise(ctx, tx, MakePublished{m, owner}); err != nil {
		return err
	}
	return s.DB.Index(ctx, tx, MakeIndex, m.ID)
}

// countMakesOf adds the published makes of a locked thing to the make counts of their creators, or
// subtracts them if by is -1.
func (s *Store) countMakesOf(ctx context.Context, tx bun.Tx, thingID, by int64) error {
	var makes []Make
	err := s.DB.ForUpdate(tx.NewSelect().Model(&makes).Column("m.id", "m.owner_id", "m.state").Where("m.thing_id = $1").Order("m.id")).
		Conn(database.Bind(tx, thingID)).Scan(ctx)
	if err != nil {
		return err
	}
	byOwner := make(map[int64]int64)
	for _, m := range makes {
		if m.State == Published {
			byOwner[m.OwnerID] += by
		}
	}
	var changes []countChange
	for owner, delta := range byOwner {
		changes = append(changes, userMakes.By(delta, owner)...)
	}
	return AddCounts(ctx, tx, changes)
}

func (m *Make) CountAsPublished(ctx context.Context, tx bun.Tx, by int64) error {
	if m.ThingID == 0 {
		return AddCounts(ctx, tx, userMakes.By(by, m.OwnerID))
	}
	// A transaction that publishes the thing, or takes it down, locks its makes. If it is not visible
	// here yet, it waits for this transaction and counts this make afterwards.
	shown, err := tx.NewSelect().Model((*Thing)(nil)).Where("t.id = ? AND t.state = ?", m.ThingID, Published).Exists(ctx)
	if err != nil || !shown {
		return errors.Join(err, AddCounts(ctx, tx, thingMakes.By(by, m.ThingID)))
	}
	return AddCounts(ctx, tx, userMakes.By(by, m.OwnerID), thingMakes.By(by, m.ThingID))
}

func (s *Store) LockMake(ctx context.Context, tx bun.Tx, id int64) (*Make, error) {
	m := new(Make)
	err := s.DB.ForUpdate(tx.NewSelect().Model(m).Where("m.id = ?", id)).Scan(ctx)
	return m, NoSuchIfNoRows(err, "make", id)
}

// MakeChange is the input of UpdateMake. Nil fields are left unchanged.
type MakeChange struct {
	ID          int64
	Name        *string
	Description *string
	Print       *NewMakePrint // replaces the old value as a whole; a zero value removes it
}

// UpdateMake changes a make of the caller. It returns Forbidden for a make of another user, and for
// one that is hidden by a takedown. It opens a transaction.
func (s *Store) UpdateMake(ctx context.Context, caller auth.Caller, c MakeChange) (*Make, error) {
	if err := errors.Join(CheckName(c.Name), CheckOptional("description", c.Description, MaxText), c.Print.check()); err != nil {
		return nil, err
	}
	var html RenderedHTML
	if err := s.RenderTo(ctx, &html, MakeDescription, c.Description); err != nil {
		return nil, err
	}
	err := s.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		m, err := s.LockMake(ctx, tx, c.ID)
		if err != nil {
			return err
		}
		if m.OwnerID != caller.UserID {
			return Fail(Forbidden, "make %d belongs to someone else", c.ID)
		}
		if err := m.checkNotTakenDown(caller); err != nil {
			return err
		}
		Assign(&m.Name, c.Name)
		Assign(&m.Description, c.Description)
		if c.Print != nil {
			m.Print = c.Print.stated()
			if err := savePrintedFiles(ctx, tx, m, c.Print.FileIDs); err != nil {
				return err
			}
		}
		m.ModifiedAt = new(Now())
		if _, err = html.Update(tx.NewUpdate().Model(m).Column("name", "description", "modified_at", "print").WherePK()).Exec(ctx); err != nil {
			return err
		}
		return s.DB.Index(ctx, tx, MakeIndex, m.ID)
	})
	if err != nil {
		return nil, err
	}
	return s.Make(ctx, caller, AllMakeFields, c.ID)
}

// DeleteMake deletes a make with its files, likes and comments. The caller must be its creator, or
// a moderator or an administrator with a reason. The garbage collector removes the bytes of the
// files, unless other files share them. It returns the make as it was. It opens a transaction.
func (s *Store) DeleteMake(ctx context.Context, caller auth.Caller, id int64, reason string) (deleted *Make, err error) {
	err = s.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		m, err := s.LockMake(ctx, tx, id)
		if err != nil {
			return err
		}
		deleted = m
		if m.OwnerID != caller.UserID && !caller.Moderates() {
			return Fail(Forbidden, "make %d belongs to someone else", id)
		}
		if err := m.checkNotTakenDown(caller); err != nil {
			return err
		}
		if m.State == Published {
			if err := m.CountAsPublished(ctx, tx, -1); err != nil {
				return err
			}
		}
		if err := errors.Join(s.Raise(ctx, tx, ObjectDeleted{Target{OnMake, id}, m.OwnerID, caller, reason}), s.deleteComments(ctx, tx, Target{OnMake, id})); err != nil {
			return err
		}
		if _, err := tx.NewDelete().Model((*File)(nil)).Where("target_type = ? AND target_id = ?", OnMake, id).Exec(ctx); err != nil {
			return err
		}
		if _, err = tx.NewDelete().Model(m).WherePK().Exec(ctx); err != nil {
			return err
		}
		if err := s.RecordDeletion(ctx, tx, caller, ModerationEntry{Action: DeletedMake, UserID: m.OwnerID, ThingID: m.ThingID, ObjectID: id, Reason: reason}); err != nil {
			return err
		}
		return s.DB.Index(ctx, tx, MakeIndex, m.ID)
	})
	return deleted, err
}

// Make returns a make that the caller can see, with the given fields. The creator of a make can
// always see it, even if its thing is hidden or deleted.
func (s *Store) Make(ctx context.Context, caller auth.Caller, fields MakeFields, id int64) (*Make, error) {
	m, err := One(s, ctx, caller, makes, fields.With(MakeAccess), "make", id)
	if err != nil {
		return nil, err
	}
	if err := m.Allows(caller); err != nil || m.ThingID == 0 || m.OwnerID == caller.UserID {
		return m, err
	}
	if _, err = s.Thing(ctx, caller, ThingAccess, m.ThingID); CodeOf(err) == NotFound {
		err = NoSuch("make", id) // the error would reveal the ID of an unlisted thing
	}
	return m, err
}

// Allows returns nil if the caller may read the make, else Forbidden. It does not consider whether
// the thing is visible.
func (m *Make) Allows(caller auth.Caller) error {
	if m.State == Published || m.OwnerID == caller.UserID || caller.Moderates() {
		return nil
	}
	return Fail(Forbidden, "make %d is a draft of someone else", m.ID)
}

// MakesByID returns the makes with the given IDs. It does not check visibility: the caller must be
// allowed to see the object that refers to them.
func (s *Store) MakesByID(ctx context.Context, caller auth.Caller, fields MakeFields, ids []int64) (map[int64]*Make, error) {
	return makes.ByIDs(ctx, s.DB.DB, caller.UserID, fields, ids)
}

// publicMakes selects the makes that everyone can see.
func publicMakes(b *database.Builder) *bun.SelectQuery {
	return b.Select().TableExpr("makes AS m").Where("m.state = 'published'").
		Where("m.thing_id IS NULL OR EXISTS (SELECT 1 FROM things AS t WHERE t.id = m.thing_id AND t.state = 'published')")
}

type allMakes struct{}

func (allMakes) Select(b *database.Builder, _ any) *bun.SelectQuery { return publicMakes(b) }

// Makes lists the makes that everyone can see, the latest first.
func (s *Store) Makes() List {
	return List{DB: s.DB.DB, By: database.Order{ID: "m.id"}, Rows: allMakes{}}
}

type makesOfThings struct{}

func (makesOfThings) Select(b *database.Builder, thingID any) *bun.SelectQuery {
	return b.Select().TableExpr("makes AS m").Where("m.state = 'published' AND m.thing_id = ?", thingID)
}

// MakesOfThings lists the published makes of a thing, the latest first. It does not check
// visibility: the caller must be allowed to see the thing.
func (s *Store) MakesOfThings() List {
	return List{DB: s.DB.DB, By: database.Order{ID: "m.id"}, Rows: makesOfThings{}}
}

type makesOfUsers struct{ own bool }

func (l makesOfUsers) Select(b *database.Builder, userID any) *bun.SelectQuery {
	if l.own {
		return b.Select().TableExpr("makes AS m").Where("m.owner_id = ?", userID)
	}
	return publicMakes(b).Where("m.owner_id = ?", userID)
}

// MakesOfUsers lists the makes of a user, the latest first. Only the user's own list contains
// drafts, and makes of things that are not published.
func (s *Store) MakesOfUsers(caller auth.Caller) List {
	return List{DB: s.DB.DB, By: database.Order{ID: "m.id"}, Rows: makesOfUsers{}, Own: makesOfUsers{own: true}, Owner: caller.UserID}
}
