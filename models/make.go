package models

import (
	"context"
	"errors"
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
	pending("makes", "m"), liked(OnMake, "m"), watched(OnMake, "m"), shown("ShownDescription", "description", "m"),
	stale("m"))

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
	return m.Changes.addTo(map[string]*int64{"like_count": &m.LikeCount, "comment_count": &m.CommentCount,
		"root_comment_count": &m.RootCommentCount})
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
		if err := tx.NewSelect().Model((*Thing)(nil)).Column("t.owner_id").Where("t.id = ?", m.ThingID).
			Scan(ctx, &owner); err != nil {
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
	err := s.DB.ForUpdate(tx.NewSelect().Model(&makes).Column("m.id", "m.owner_id", "m.state").Where("m.thing_id = $1").
		Order("m.id")).
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
		changes = append(changes, UserMakes.By(delta, owner)...)
	}
	return AddCounts(ctx, tx, changes)
}

func (m *Make) CountAsPublished(ctx context.Context, tx bun.Tx, by int64) error {
	if m.ThingID == 0 {
		return AddCounts(ctx, tx, UserMakes.By(by, m.OwnerID))
	}
	// A transaction that publishes the thing, or takes it down, locks its makes. If it is not visible
	// here yet, it waits for this transaction and counts this make afterwards.
	shown, err := tx.NewSelect().Model((*Thing)(nil)).Where("t.id = ? AND t.state = ?", m.ThingID, Published).Exists(ctx)
	if err != nil || !shown {
		return errors.Join(err, AddCounts(ctx, tx, ThingMakes.By(by, m.ThingID)))
	}
	return AddCounts(ctx, tx, UserMakes.By(by, m.OwnerID), ThingMakes.By(by, m.ThingID))
}

func (s *Store) LockMake(ctx context.Context, tx bun.Tx, id int64) (*Make, error) {
	m := new(Make)
	err := s.DB.ForUpdate(tx.NewSelect().Model(m).Where("m.id = ?", id)).Scan(ctx)
	return m, NoSuchIfNoRows(err, "make", id)
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
func (s *Store) MakesByID(ctx context.Context, caller auth.Caller, fields MakeFields,
	ids []int64) (map[int64]*Make, error) {
	return makes.ByIDs(ctx, s.DB.DB, caller.UserID, fields, ids)
}

// MakePrint is how a make was printed, as its creator states it. A nil field is not stated. It is
// stored as JSON.
type MakePrint struct {
	Printer       *string  `json:"printer,omitempty"`
	Material      *string  `json:"material,omitempty"`
	LayerHeight   *float64 `json:"layer_height,omitempty"` // mm
	Nozzle        *float64 `json:"nozzle,omitempty"`       // diameter in mm
	Infill        *float64 `json:"infill,omitempty"`       // percent
	HasSupports   *bool    `json:"supports,omitempty"`
	TimeSeconds   *int32   `json:"time_seconds,omitempty"`
	FilamentGrams *float64 `json:"filament_grams,omitempty"`
	Rating        *int32   `json:"rating,omitempty"` // of the print, 1 to 5

	MakeID int64 `json:"-"` // set when the make is read
}
