package models

import (
	"context"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/apierror"
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

var comments = database.NewTable(func(c *Comment) (int64, *database.Listed) { return c.ID, &c.Listed }, pending("comments", "cm"), shown("ShownBody", "body", "cm"), stale("cm"))

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

// NewComment is the input of CreateComment.
type NewComment struct {
	Target   *Target // nil: the target of the parent
	ParentID *int64  // the comment that it replies to; nil: none
	Body     string
}

// CreateComment creates a comment on a thing or a make that the caller may see, or a reply to a
// comment on one. It opens a transaction.
func (s *Store) CreateComment(ctx context.Context, caller auth.Caller, n NewComment) (*Comment, error) {
	if err := checkBody(n.Body); err != nil {
		return nil, err
	}
	var html RenderedHTML
	if err := s.RenderTo(ctx, &html, CommentBody, &n.Body); err != nil {
		return nil, err
	}
	at := Now()
	c := &Comment{OwnerID: caller.UserID, Body: n.Body, CreatedAt: at, ModifiedAt: at}
	err := s.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := s.claim(ctx, tx, caller.UserID, claim{comments: 1}); err != nil {
			return err
		}
		target := n.Target
		if n.ParentID != nil {
			parent := new(Comment)
			if err := tx.NewSelect().Model(parent).Where("cm.id = ?", *n.ParentID).Scan(ctx); err != nil {
				return About("parentId", NoSuchIfNoRows(err, "comment", *n.ParentID))
			}
			target, c.ParentID = &Target{parent.TargetType, parent.TargetID}, parent.ID
		}
		if target == nil {
			return Invalid("target", "target: is missing: a comment is on a thing or a make, or replies to another").WithFieldCode(apierror.FieldRequired)
		}
		owner, err := s.LockVisibleTarget(ctx, tx, caller, *target)
		if c.ParentID != 0 && CodeOf(err) == NotFound {
			return About("parentId", OfHiddenComment(err, c.ParentID))
		}
		if err != nil {
			return err
		}
		if n.Target != nil && *n.Target != *target { // the target is visible: the message names it
			return Invalid("parentId", "parentId: comment %d is on %s %d", c.ParentID, target.Type, target.ID)
		}
		var repliedTo int64
		if c.ParentID != 0 { // locked after its target, as in deletions
			parent, err := s.LockComment(ctx, tx, c.ParentID)
			if err != nil {
				return err
			}
			if parent.IsDeleted() {
				return Invalid("parentId", "parentId: comment %d was deleted", parent.ID)
			}
			repliedTo = parent.OwnerID
		}
		c.TargetType, c.TargetID, c.ThingID = target.Type, target.ID, target.ID
		if target.Type == OnMake {
			var m Make
			if err := tx.NewSelect().Model(&m).Column("m.thing_id").Where("m.id = ?", target.ID).Scan(ctx); err != nil {
				return err
			}
			c.ThingID = m.ThingID
		}
		if _, err := html.Insert(tx.NewInsert().Model(c)).Exec(ctx); err != nil {
			return err
		}
		if err := s.Raise(ctx, tx, CommentCreated{c, owner, repliedTo}); err != nil {
			return err
		}
		if err := c.AddCounts(ctx, tx, 1); err != nil || c.ParentID == 0 {
			return err
		}
		return AddCounts(ctx, tx, commentReplies.By(1, c.ParentID))
	})
	if err != nil {
		return nil, err
	}
	return s.Comment(ctx, caller, AllCommentFields, c.ID)
}

func checkBody(body string) error {
	if strings.TrimSpace(body) == "" {
		return Required("body")
	}
	return CheckText("body", body, MaxText)
}

// AddCounts adds a comment to the comment counts of its target, or subtracts it.
func (c *Comment) AddCounts(ctx context.Context, tx bun.Tx, by int64) error {
	all, roots := thingComments, thingRootComments
	if c.TargetType == OnMake {
		all, roots = makeComments, makeRootComments
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

// UpdateComment changes the text of a comment of the caller, on a target that the caller may see.
// It returns Forbidden if the comment belongs to another user, and BadInput if it was deleted. It
// opens a transaction.
func (s *Store) UpdateComment(ctx context.Context, caller auth.Caller, id int64, body string) (*Comment, error) {
	if err := checkBody(body); err != nil {
		return nil, err
	}
	if _, err := s.Comment(ctx, caller, CommentAccess, id); err != nil {
		return nil, err
	}
	var html RenderedHTML
	if err := s.RenderTo(ctx, &html, CommentBody, &body); err != nil {
		return nil, err
	}
	err := s.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		c, err := s.LockComment(ctx, tx, id)
		switch {
		case err != nil:
			return err
		case c.OwnerID != caller.UserID:
			return Fail(Forbidden, "comment %d belongs to someone else", id)
		case c.IsDeleted():
			return Invalid("id", "comment %d was deleted", id)
		}
		c.Body, c.ModifiedAt = body, Now()
		_, err = html.Update(tx.NewUpdate().Model(c).Column("body", "modified_at").WherePK()).Exec(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	return s.Comment(ctx, caller, AllCommentFields, id)
}

// DeleteComment soft-deletes a comment on a target that the caller may see. The author of the
// comment and the owner of the target may delete it; moderators and administrators may delete any
// comment, and must give a reason. The text and the files are deleted, and the row is kept for the
// replies. It is not an error if the comment was already deleted. If it was hidden as spam, its
// author and the owner of the target delete the text for good. It opens a transaction.
func (s *Store) DeleteComment(ctx context.Context, caller auth.Caller, id int64, reason string) (*Comment, error) {
	if _, err := s.Comment(ctx, caller, CommentAccess, id); err != nil {
		return nil, err
	}
	err := s.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		c, err := s.LockComment(ctx, tx, id)
		if err != nil {
			return err
		}
		mayDelete, err := c.mayDelete(ctx, tx, caller)
		switch {
		case err != nil:
			return err
		case !mayDelete && !caller.Moderates():
			return Fail(Forbidden, "comment %d belongs to someone else", id)
		case c.IsDeleted():
			if !mayDelete || c.SpamBody == "" {
				return nil
			}
			_, err := tx.NewUpdate().Model(c).Set("spam_body = ''").WherePK().Exec(ctx)
			return err
		}
		c.ReportedAt = nil
		if mayDelete {
			return s.hideComment(ctx, tx, caller, c, "")
		}
		return s.HideCommentOfOther(ctx, tx, caller, c, reason)
	})
	if err != nil {
		return nil, err
	}
	return s.Comment(ctx, caller, AllCommentFields, id)
}

// mayDelete reports whether the caller wrote the comment, or owns its target.
func (c *Comment) mayDelete(ctx context.Context, tx bun.Tx, caller auth.Caller) (bool, error) {
	if c.OwnerID == caller.UserID {
		return true, nil
	}
	table := "things"
	if c.TargetType == OnMake {
		table = "makes"
	}
	return tx.NewSelect().Table(table).Where("id = ? AND owner_id = ?", c.TargetID, caller.UserID).Exists(ctx)
}

// HideCommentOfOther is hideComment for a moderator: it records the deletion in the moderation log.
func (s *Store) HideCommentOfOther(ctx context.Context, tx bun.Tx, caller auth.Caller, c *Comment, reason string) error {
	if err := s.hideComment(ctx, tx, caller, c, reason); err != nil {
		return err
	}
	return s.RecordDeletion(ctx, tx, caller, ModerationEntry{Action: DeletedComment, UserID: c.OwnerID, ThingID: c.ThingID, ObjectID: c.ID, Reason: reason})
}

// hideComment soft-deletes a locked comment: it removes the text and the files, and subtracts the
// comment from the counts.
func (s *Store) hideComment(ctx context.Context, tx bun.Tx, caller auth.Caller, c *Comment, reason string) error {
	at, id := Now(), c.ID
	c.Body, c.ModifiedAt, c.DeletedAt = "", at, &at
	if _, err := tx.NewUpdate().Model(c).Column("body", "modified_at", "deleted_at", "reported_at").Set("body_html = ''").WherePK().Exec(ctx); err != nil {
		return err
	}
	if _, err := tx.NewDelete().Model((*File)(nil)).Where("target_type = ? AND target_id = ?", OnComment, id).Exec(ctx); err != nil {
		return err
	}
	if err := s.Raise(ctx, tx, ObjectDeleted{Target{OnComment, id}, c.OwnerID, caller, reason}); err != nil {
		return err
	}
	return c.AddCounts(ctx, tx, -1)
}

// deleteComments deletes all comments on a locked target that is being deleted, and their files.
func (s *Store) deleteComments(ctx context.Context, tx bun.Tx, target Target) error {
	// Lock the comments: concurrent finalizations of files on them end first, and later ones find the
	// comments deleted.
	var locked []int64
	err := s.DB.ForUpdate(tx.NewSelect().Model((*Comment)(nil)).Column("cm.id").Where("cm.target_type = ? AND cm.target_id = ?", target.Type, target.ID).Order("cm.id")).Scan(ctx, &locked)
	if err != nil {
		return err
	}
	on := tx.NewSelect().Model((*Comment)(nil)).Column("cm.id").Where("cm.target_type = ? AND cm.target_id = ?", target.Type, target.ID)
	if _, err := tx.NewDelete().Model((*File)(nil)).Where("target_type = ? AND target_id IN (?)", OnComment, on).Exec(ctx); err != nil {
		return err
	}
	_, err = tx.NewDelete().Model((*Comment)(nil)).Where("target_type = ? AND target_id = ?", target.Type, target.ID).Exec(ctx)
	return err
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
func (s *Store) CommentsByID(ctx context.Context, caller auth.Caller, fields CommentFields, ids []int64) (map[int64]*Comment, error) {
	return comments.ByIDs(ctx, s.DB.DB, caller.UserID, fields, ids)
}

type allComments struct{}

func (allComments) Select(b *database.Builder, _ any) *bun.SelectQuery {
	return b.Select().TableExpr("comments AS cm").Where("cm.deleted_at IS NULL").
		Where("cm.thing_id IS NULL OR EXISTS (SELECT 1 FROM things AS t WHERE t.id = cm.thing_id AND t.state = 'published')").
		Where("cm.target_type <> 'make' OR EXISTS (SELECT 1 FROM makes AS m WHERE m.id = cm.target_id AND m.state = 'published')")
}

// Comments lists the comments on published things and makes, newest first, without deleted ones.
func (s *Store) Comments() List {
	return List{DB: s.DB.DB, By: database.Order{ID: "cm.id"}, Rows: allComments{}}
}

type commentsOn struct {
	on        TargetType
	rootsOnly bool
}

func (l commentsOn) Select(b *database.Builder, id any) *bun.SelectQuery {
	q := b.Select().TableExpr("comments AS cm").Where("cm.target_type = ? AND cm.target_id = ?", l.on, id)
	if l.rootsOnly {
		q = q.Where("cm.parent_id IS NULL")
	}
	return q
}

// CommentsOn lists the comments on things, or makes, newest first, including deleted ones. With
// rootsOnly it leaves out replies.
func (s *Store) CommentsOn(on TargetType, rootsOnly bool) List {
	return List{DB: s.DB.DB, By: database.Order{ID: "cm.id"}, Rows: commentsOn{on, rootsOnly}}
}

type replies struct{}

func (replies) Select(b *database.Builder, id any) *bun.SelectQuery {
	return b.Select().TableExpr("comments AS cm").Where("cm.parent_id = ?", id)
}

// Replies lists the direct replies to comments, oldest first.
func (s *Store) Replies() List {
	return List{DB: s.DB.DB, By: database.Order{ID: "cm.id", Ascending: true}, Rows: replies{}}
}

// NeedsModeration reports whether a user has reported the comment and no moderator has decided yet.
func (c *Comment) NeedsModeration() bool { return c.ReportedAt != nil }
