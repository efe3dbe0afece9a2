package models

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/internal/fieldset"
)

// Comment is a text of a user on a thing or a make, or a reply to another comment. A deleted
// comment keeps its place in the thread, but no text and no files.
type Comment struct {
	bun.BaseModel `bun:"table:comments,alias:cm"`
	database.Listed

	ID         int64 `bun:",pk,autoincrement"`
	OwnerID    int64
	TargetType TargetType
	TargetID   int64
	// ThingID is the target or, if the target is a make, its thing; 0 if that thing was deleted.
	ThingID    int64 `bun:",nullzero"`
	ParentID   int64 `bun:",nullzero"` // 0 if it is not a reply
	Body       string
	CreatedAt  time.Time
	ModifiedAt time.Time
	DeletedAt  *time.Time
	ReportedAt *time.Time // reported as spam; nil if not, or if a moderator decided
	SpamBody   string     // the text of a comment that is hidden as spam
	ReplyCount int64      `reads:"Changes"`
	Changes    Changes    `bun:",scanonly"`
	ShownBody  string     `bun:",scanonly" reads:"Stale"` // see Store.HTML
	Stale      bool       `bun:",scanonly"`
}

// CommentFields is a set of fields of a comment.
type CommentFields = fieldset.Set[Comment]

var comments = database.NewTable(func(c *Comment) (int64, *database.Listed) { return c.ID, &c.Listed },
	pending("comments", "cm"), shown("ShownBody", "body", "cm"), stale("cm"))

// AllCommentFields has all fields of a comment.
var AllCommentFields = comments.All()

// CommentAccess has the fields that say on what a comment is, which decides who sees it.
var CommentAccess = fieldset.Of[Comment]("TargetType", "TargetID", "ThingID")

// AfterScanRow adds the changes that are not folded yet to the stored counts, and subtracts the
// texts from the read limits of the operation. It returns TooLarge if they are exceeded.
func (c *Comment) AfterScanRow(ctx context.Context) error {
	if err := readText(ctx, len(c.Body)+len(c.ShownBody)); err != nil {
		return err
	}
	return c.Changes.addTo(map[string]*int64{"reply_count": &c.ReplyCount})
}

// IsDeleted reports whether the comment was deleted or hidden as spam.
func (c *Comment) IsDeleted() bool { return c.DeletedAt != nil }

// AddCounts adds a comment to the comment counts of its target, or subtracts it.
func (c *Comment) AddCounts(ctx context.Context, tx bun.Tx, by int64) error {
	all, roots := ThingComments, ThingRootComments
	if c.TargetType == OnMake {
		all, roots = MakeComments, MakeRootComments
	}
	if c.ParentID != 0 {
		return AddCounts(ctx, tx, all.By(by, c.TargetID))
	}
	return AddCounts(ctx, tx, all.By(by, c.TargetID), roots.By(by, c.TargetID))
}

func (s *Store) LockComment(ctx context.Context, tx bun.Tx, id int64) (*Comment, error) {
	c := new(Comment)
	err := s.DB.ForUpdate(tx.NewSelect().Model(c).Where("cm.id = ?", id)).Scan(ctx)
	return c, NoSuchIfNoRows(err, "comment", id)
}

// Comment returns a comment, with the given fields. It returns NotFound if it does not exist, and
// Forbidden if the caller may not see its target.
func (s *Store) Comment(ctx context.Context, caller auth.Caller, fields CommentFields, id int64) (*Comment, error) {
	c, err := One(s, ctx, caller, comments, fields.With(CommentAccess), "comment", id)
	if err != nil {
		return nil, err
	}
	if c.TargetType == OnMake {
		_, err = s.Make(ctx, caller, MakeAccess, c.TargetID)
	} else {
		_, err = s.Thing(ctx, caller, ThingAccess, c.ThingID)
	}
	return c, OfHiddenComment(err, id)
}

// CommentsByID returns the comments with the given IDs. It does not check visibility: the caller
// must be allowed to see the objects that refer to them.
func (s *Store) CommentsByID(ctx context.Context, caller auth.Caller, fields CommentFields,
	ids []int64) (map[int64]*Comment, error) {
	return comments.ByIDs(ctx, s.DB.DB, caller.UserID, fields, ids)
}

// NeedsModeration reports whether a user has reported the comment and no moderator has decided yet.
func (c *Comment) NeedsModeration() bool { return c.ReportedAt != nil }
