package models

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
)

// Comment is what a user says about a thing or a make, or in reply to another comment. A deleted
// one keeps its place in the thread, and nothing else.
type Comment struct {
	bun.BaseModel `bun:"table:comments,alias:cm"`
	database.Listed

	ID         int64 `bun:",pk,autoincrement"`
	OwnerID    int64
	TargetType TargetType
	TargetID   int64
	// the thing at the root of the target; 0: it was deleted, and its make was not
	ThingID    int64 `bun:",nullzero"`
	ParentID   int64 `bun:",nullzero"` // 0: no reply
	Body       string
	CreatedAt  time.Time
	ModifiedAt time.Time
	DeletedAt  *time.Time
	ReportedAt *time.Time // when it was reported as spam; nil: it was not, or a moderator decided
	SpamBody   string     // the text of a comment that is hidden as spam
	ReplyCount int64
	Changes    Changes `bun:",scanonly"`
}

// AfterScanRow makes the counts whole, and counts the texts among what the operation reads.
func (c *Comment) AfterScanRow(ctx context.Context) error {
	if err := readText(ctx, len(c.Body)); err != nil {
		return err
	}
	return c.Changes.addTo(map[string]*int64{"reply_count": &c.ReplyCount})
}

// IsDeleted reports whether its author, or moderators and administrators, took it back.
func (c *Comment) IsDeleted() bool { return c.DeletedAt != nil }

// NewComment is what a comment is made of.
type NewComment struct {
	Target   *Target // nil: the parent's
	ParentID *int64  // the comment that it replies to; nil: none
	Body     string
}

// CreateComment says something about a thing or a make that the caller may see.
func (s *Store) CreateComment(ctx context.Context, caller auth.Caller, n NewComment) (*Comment, error) {
	if err := checkBody(n.Body); err != nil {
		return nil, err
	}
	var html renderedHTML
	if err := s.renderTo(ctx, &html, CommentBody, &n.Body); err != nil {
		return nil, err
	}
	at := now()
	c := &Comment{OwnerID: caller.UserID, Body: n.Body, CreatedAt: at, ModifiedAt: at}
	err := s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		target := n.Target
		if n.ParentID != nil {
			parent := new(Comment)
			if err := tx.NewSelect().Model(parent).Where("cm.id = ?", *n.ParentID).Scan(ctx); err != nil {
				return notFoundIfNoRows(err, "comment", *n.ParentID)
			}
			target, c.ParentID = &Target{parent.TargetType, parent.TargetID}, parent.ID
		}
		if target == nil {
			return badInput("target", "target: is missing: a comment is on a thing or a make, or replies to another")
		}
		owner, err := s.holdTarget(ctx, tx, caller, *target)
		if err != nil {
			return err
		}
		var repliedTo int64
		if n.Target != nil && *n.Target != *target { // shown only to callers who may see the target
			return badInput("parentId", "parentId: comment %d is on %s %d", c.ParentID, target.Type, target.ID)
		}
		if c.ParentID != 0 { // after its target, as deletions lock them
			if parent, err := s.lockComment(ctx, tx, c.ParentID); err != nil {
				return err
			} else if parent.IsDeleted() {
				return badInput("parentId", "parentId: comment %d was deleted", parent.ID)
			} else {
				repliedTo = parent.OwnerID
			}
		}
		c.TargetType, c.TargetID, c.ThingID = target.Type, target.ID, target.ID
		if target.Type == OnMake {
			var m Make
			if err := tx.NewSelect().Model(&m).Column("m.thing_id").Where("m.id = ?", target.ID).Scan(ctx); err != nil {
				return err
			}
			c.ThingID = m.ThingID
		}
		if _, err := html.insert(tx.NewInsert().Model(c)).Exec(ctx); err != nil {
			return err
		}
		if err := c.notify(ctx, tx, owner, repliedTo); err != nil {
			return err
		}
		if err := s.emitComment(ctx, tx, c, owner, repliedTo); err != nil {
			return err
		}
		if err := c.count(ctx, tx, 1); err != nil || c.ParentID == 0 {
			return err
		}
		return count(ctx, tx, commentReplies.by(1, c.ParentID))
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

// notify reports a new comment to the author of the comment that it replies to, to the owner of its
// target and to those who watch the target, to each once.
func (c *Comment) notify(ctx context.Context, tx bun.Tx, owner, repliedTo int64) error {
	about, on := Target{OnComment, c.ID}, Target{c.TargetType, c.TargetID}
	if err := notify(ctx, tx, NotifyReply, c.OwnerID, about, repliedTo); err != nil {
		return err
	}
	if owner != repliedTo {
		if err := notify(ctx, tx, NotifyComment, c.OwnerID, about, owner); err != nil {
			return err
		}
	}
	return notifyWatchers(ctx, tx, NotifyComment, c.OwnerID, about, on, c.ThingID, owner, repliedTo)
}

func checkBody(body string) error {
	if strings.TrimSpace(body) == "" {
		return required("body")
	}
	return text("body", body, MaxText)
}

// count counts a comment among those of its target, or takes it out.
func (c *Comment) count(ctx context.Context, tx bun.Tx, by int64) error {
	all, roots := thingComments, thingRootComments
	if c.TargetType == OnMake {
		all, roots = makeComments, makeRootComments
	}
	if c.ParentID != 0 {
		return count(ctx, tx, all.by(by, c.TargetID))
	}
	return count(ctx, tx, all.by(by, c.TargetID), roots.by(by, c.TargetID))
}

func (s *Store) lockComment(ctx context.Context, tx bun.Tx, id int64) (*Comment, error) {
	c := new(Comment)
	err := s.db.ForUpdate(tx.NewSelect().Model(c).Where("cm.id = ?", id)).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, notFound("comment", id)
	}
	return c, err
}

// UpdateComment changes what a comment of the caller says, on a target they may see.
func (s *Store) UpdateComment(ctx context.Context, caller auth.Caller, id int64, body string) (*Comment, error) {
	if err := checkBody(body); err != nil {
		return nil, err
	}
	if _, err := s.Comment(ctx, caller, id); err != nil {
		return nil, err
	}
	var html renderedHTML
	if err := s.renderTo(ctx, &html, CommentBody, &body); err != nil {
		return nil, err
	}
	err := s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		c, err := s.lockComment(ctx, tx, id)
		switch {
		case err != nil:
			return err
		case c.OwnerID != caller.UserID:
			return fail(Forbidden, "comment %d belongs to someone else", id)
		case c.IsDeleted():
			return badInput("id", "comment %d was deleted", id)
		}
		c.Body, c.ModifiedAt = body, now()
		_, err = html.update(tx.NewUpdate().Model(c).Column("body", "modified_at").WherePK()).Exec(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	return s.Comment(ctx, caller, id)
}

// DeleteComment deletes a comment on a target that the caller may see: one of the caller, one on a
// thing or a make of the caller, or any for moderators and administrators, who need a reason. Its
// text and its files are gone, and its place stays, for the replies to it. One that is deleted
// already stays so.
func (s *Store) DeleteComment(ctx context.Context, caller auth.Caller, id int64, reason string) (*Comment, error) {
	if _, err := s.Comment(ctx, caller, id); err != nil {
		return nil, err
	}
	err := s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		c, err := s.lockComment(ctx, tx, id)
		if err != nil {
			return err
		}
		mayDelete, err := c.mayDelete(ctx, tx, caller)
		switch {
		case err != nil:
			return err
		case !mayDelete && !caller.Staff():
			return fail(Forbidden, "comment %d belongs to someone else", id)
		case c.IsDeleted():
			return nil
		}
		c.ReportedAt = nil
		if err := s.hideComment(ctx, tx, c); err != nil || mayDelete {
			return err
		}
		return s.recordCommentDeletion(ctx, tx, caller, c, reason)
	})
	if err != nil {
		return nil, err
	}
	return s.Comment(ctx, caller, id)
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

// recordCommentDeletion keeps that a moderator deleted the comment.
func (s *Store) recordCommentDeletion(ctx context.Context, tx bun.Tx, caller auth.Caller, c *Comment, reason string) error {
	return s.recordDeletion(ctx, tx, caller, ModerationEntry{Action: DeletedComment, UserID: c.OwnerID, ThingID: c.ThingID, ObjectID: c.ID, Reason: reason})
}

// hideComment removes the text and the files of a locked comment, takes it out of the counts, and
// closes the reports of it.
func (s *Store) hideComment(ctx context.Context, tx bun.Tx, c *Comment) error {
	at, id := now(), c.ID
	c.Body, c.ModifiedAt, c.DeletedAt = "", at, &at
	if _, err := tx.NewUpdate().Model(c).Column("body", "modified_at", "deleted_at", "reported_at").Set("body_html = ''").WherePK().Exec(ctx); err != nil {
		return err
	}
	if _, err := tx.NewDelete().Model((*File)(nil)).Where("target_type = ? AND target_id = ?", OnComment, id).Exec(ctx); err != nil {
		return err
	}
	if _, err := tx.NewDelete().Model((*Notification)(nil)).Where("target_type = ? AND target_id = ?", OnComment, id).Exec(ctx); err != nil {
		return err
	}
	if err := closeReports(ctx, tx, Target{OnComment, id}, Resolved); err != nil {
		return err
	}
	return c.count(ctx, tx, -1)
}

// deleteComments removes all comments on a locked target that goes, and their files.
func (s *Store) deleteComments(ctx context.Context, tx bun.Tx, target Target) error {
	// Concurrent finalizations to one of them end first, and later ones find it deleted.
	var locked []int64
	err := s.db.ForUpdate(tx.NewSelect().Model((*Comment)(nil)).Column("cm.id").Where("cm.target_type = ? AND cm.target_id = ?", target.Type, target.ID).Order("cm.id")).Scan(ctx, &locked)
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

// Comment returns a comment on what the caller may see.
func (s *Store) Comment(ctx context.Context, caller auth.Caller, id int64) (*Comment, error) {
	found, err := s.CommentsByID(ctx, []int64{id})
	if err != nil {
		return nil, err
	}
	c, ok := found[id]
	if !ok {
		return nil, notFound("comment", id)
	}
	if c.TargetType == OnMake {
		_, err = s.Make(ctx, caller, c.TargetID)
	} else {
		_, err = s.Thing(ctx, caller, c.ThingID)
	}
	return c, err
}

// CommentsByID returns the comments of those ids, for a caller who may see what refers to them.
func (s *Store) CommentsByID(ctx context.Context, ids []int64) (map[int64]*Comment, error) {
	return byID(ctx, s.db, ids, func(rows *[]*Comment) *bun.SelectQuery { return s.selectComments(ctx, rows) }, "cm.id", func(c *Comment) int64 { return c.ID })
}

// CommentsOnPages reads pages of lists of comments with the comments.
func (s *Store) CommentsOnPages(ctx context.Context, l List, parents []int64, part Slice) (map[int64]JoinedPage[*Comment], error) {
	return onPages(ctx, s.db, l, parents, part, extras{}, func(rows *[]*Comment, _ schema.QueryAppender) *bun.SelectQuery { return s.selectComments(ctx, rows) },
		"cm.id", func(c *Comment) (int64, *database.Listed) { return c.ID, &c.Listed })
}

func (s *Store) selectComments(ctx context.Context, rows *[]*Comment) *bun.SelectQuery {
	return pendingCounts(selectColumns(ctx, s.db.Read, rows, extras{}), "comments", "cm")
}

// Comments lists the comments on what everyone may see, the latest first.
func (s *Store) Comments() List {
	return List{DB: s.db.DB, Name: "comments", By: database.Order{ID: "cm.id"}, Rows: func(int64) *bun.SelectQuery {
		return s.db.Read.NewSelect().TableExpr("comments AS cm").Where("cm.deleted_at IS NULL").
			Where("cm.thing_id IS NULL OR EXISTS (SELECT 1 FROM things AS t WHERE t.id = cm.thing_id AND t.state = 'published')").
			Where("cm.target_type <> 'make' OR EXISTS (SELECT 1 FROM makes AS m WHERE m.id = cm.target_id AND m.state = 'published')")
	}}
}

// CommentsOn lists the comments on things, or makes, the latest first; deleted ones keep their
// places. With rootsOnly it leaves out replies.
func (s *Store) CommentsOn(on TargetType, rootsOnly bool) List {
	return List{DB: s.db.DB, By: database.Order{ID: "cm.id"}, Rows: func(id int64) *bun.SelectQuery {
		q := s.db.Read.NewSelect().TableExpr("comments AS cm").Where("cm.target_type = ? AND cm.target_id = ?", on, id)
		if rootsOnly {
			q = q.Where("cm.parent_id IS NULL")
		}
		return q
	}}
}

// Replies lists the direct replies to comments, as they were written.
func (s *Store) Replies() List {
	return List{DB: s.db.DB, By: database.Order{ID: "cm.id", Ascending: true}, Rows: func(id int64) *bun.SelectQuery {
		return s.db.Read.NewSelect().TableExpr("comments AS cm").Where("cm.parent_id = ?", id)
	}}
}
