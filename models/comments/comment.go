package comments

import (
	"context"
	"strings"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/apierror"
	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models"
)

// NewComment is the input of CreateComment.
type NewComment struct {
	Target   *models.Target // nil: the target of the parent
	ParentID *int64         // the comment that it replies to; nil: none
	Body     string
}

// CreateComment creates a comment on a thing or a make that the caller may see, or a reply to a
// comment on one. It opens a transaction.
func (s *Store) CreateComment(ctx context.Context, caller auth.Caller, n NewComment) (*models.Comment, error) {
	if err := checkBody(n.Body); err != nil {
		return nil, err
	}
	var html models.RenderedHTML
	if err := s.core.RenderTo(ctx, &html, models.CommentBody, &n.Body); err != nil {
		return nil, err
	}
	at := models.Now()
	c := &models.Comment{OwnerID: caller.UserID, Body: n.Body, CreatedAt: at, ModifiedAt: at}
	err := s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := s.core.Claim(ctx, tx, caller.UserID, models.Claim{Comments: 1}); err != nil {
			return err
		}
		target := n.Target
		if n.ParentID != nil {
			parent := new(models.Comment)
			if err := tx.NewSelect().Model(parent).Where("cm.id = ?", *n.ParentID).Scan(ctx); err != nil {
				return models.About("parentId", models.NoSuchIfNoRows(err, "comment", *n.ParentID))
			}
			target, c.ParentID = &models.Target{Type: parent.TargetType, ID: parent.TargetID}, parent.ID
		}
		if target == nil {
			return models.Invalid("target", "target: is missing: a comment is on a thing or a make, or replies to another").
				WithFieldCode(apierror.FieldRequired)
		}
		owner, err := s.core.LockVisibleTarget(ctx, tx, caller, *target)
		if c.ParentID != 0 && models.CodeOf(err) == models.NotFound {
			return models.About("parentId", models.OfHiddenComment(err, c.ParentID))
		}
		if err != nil {
			return err
		}
		if n.Target != nil && *n.Target != *target { // the target is visible: the message names it
			return models.Invalid("parentId", "parentId: comment %d is on %s %d", c.ParentID, target.Type, target.ID)
		}
		var repliedTo int64
		if c.ParentID != 0 { // locked after its target, as in deletions
			parent, err := s.core.LockComment(ctx, tx, c.ParentID)
			if err != nil {
				return err
			}
			if parent.IsDeleted() {
				return models.Invalid("parentId", "parentId: comment %d was deleted", parent.ID)
			}
			repliedTo = parent.OwnerID
		}
		c.TargetType, c.TargetID, c.ThingID = target.Type, target.ID, target.ID
		if target.Type == models.OnMake {
			var m models.Make
			if err := tx.NewSelect().Model(&m).Column("m.thing_id").Where("m.id = ?", target.ID).Scan(ctx); err != nil {
				return err
			}
			c.ThingID = m.ThingID
		}
		if _, err := html.Insert(tx.NewInsert().Model(c)).Exec(ctx); err != nil {
			return err
		}
		if err := s.core.Raise(ctx, tx, models.CommentCreated{Comment: c, Owner: owner, RepliedTo: repliedTo}); err != nil {
			return err
		}
		if err := c.AddCounts(ctx, tx, 1); err != nil || c.ParentID == 0 {
			return err
		}
		return models.AddCounts(ctx, tx, models.CommentReplies.By(1, c.ParentID))
	})
	if err != nil {
		return nil, err
	}
	return s.core.Comment(ctx, caller, models.AllCommentFields, c.ID)
}

func checkBody(body string) error {
	if strings.TrimSpace(body) == "" {
		return models.Required("body")
	}
	return models.CheckText("body", body, models.MaxText)
}

// UpdateComment changes the text of a comment of the caller, on a target that the caller may see.
// It returns Forbidden if the comment belongs to another user, and BadInput if it was deleted. It
// opens a transaction.
func (s *Store) UpdateComment(ctx context.Context, caller auth.Caller, id int64, body string) (*models.Comment, error) {
	if err := checkBody(body); err != nil {
		return nil, err
	}
	if _, err := s.core.Comment(ctx, caller, models.CommentAccess, id); err != nil {
		return nil, err
	}
	var html models.RenderedHTML
	if err := s.core.RenderTo(ctx, &html, models.CommentBody, &body); err != nil {
		return nil, err
	}
	err := s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		c, err := s.core.LockComment(ctx, tx, id)
		switch {
		case err != nil:
			return err
		case c.OwnerID != caller.UserID:
			return models.Fail(models.Forbidden, "comment %d belongs to someone else", id)
		case c.IsDeleted():
			return models.Invalid("id", "comment %d was deleted", id)
		}
		c.Body, c.ModifiedAt = body, models.Now()
		_, err = html.Update(tx.NewUpdate().Model(c).Column("body", "modified_at").WherePK()).Exec(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	return s.core.Comment(ctx, caller, models.AllCommentFields, id)
}

// DeleteComment soft-deletes a comment on a target that the caller may see. The author of the
// comment and the owner of the target may delete it; moderators and administrators may delete any
// comment, and must give a reason. The text and the files are deleted, and the row is kept for the
// replies. It is not an error if the comment was already deleted. If it was hidden as spam, its
// author and the owner of the target delete the text for good. It opens a transaction.
func (s *Store) DeleteComment(ctx context.Context, caller auth.Caller, id int64,
	reason string) (*models.Comment, error) {
	if _, err := s.core.Comment(ctx, caller, models.CommentAccess, id); err != nil {
		return nil, err
	}
	err := s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		c, err := s.core.LockComment(ctx, tx, id)
		if err != nil {
			return err
		}
		mayDelete, err := mayDelete(ctx, c, tx, caller)
		switch {
		case err != nil:
			return err
		case !mayDelete && !caller.Moderates():
			return models.Fail(models.Forbidden, "comment %d belongs to someone else", id)
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
	return s.core.Comment(ctx, caller, models.AllCommentFields, id)
}

// mayDelete reports whether the caller wrote the comment, or owns its target.
func mayDelete(ctx context.Context, c *models.Comment, tx bun.Tx, caller auth.Caller) (bool, error) {
	if c.OwnerID == caller.UserID {
		return true, nil
	}
	table := "things"
	if c.TargetType == models.OnMake {
		table = "makes"
	}
	return tx.NewSelect().Table(table).Where("id = ? AND owner_id = ?", c.TargetID, caller.UserID).Exists(ctx)
}

// HideCommentOfOther is hideComment for a moderator: it records the deletion in the moderation log.
func (s *Store) HideCommentOfOther(ctx context.Context, tx bun.Tx, caller auth.Caller, c *models.Comment,
	reason string) error {
	if err := s.hideComment(ctx, tx, caller, c, reason); err != nil {
		return err
	}
	return s.core.RecordDeletion(ctx, tx, caller, models.ModerationEntry{Action: models.DeletedComment, UserID: c.OwnerID,
		ThingID: c.ThingID, ObjectID: c.ID, Reason: reason})
}

// hideComment soft-deletes a locked comment: it removes the text and the files, and subtracts the
// comment from the counts.
func (s *Store) hideComment(ctx context.Context, tx bun.Tx, caller auth.Caller, c *models.Comment,
	reason string) error {
	at, id := models.Now(), c.ID
	c.Body, c.ModifiedAt, c.DeletedAt = "", at, &at
	if _, err := tx.NewUpdate().Model(c).Column("body", "modified_at", "deleted_at", "reported_at").Set("body_html = ''").
		WherePK().Exec(ctx); err != nil {
		return err
	}
	if _, err := tx.NewDelete().Model((*models.File)(nil)).Where("target_type = ? AND target_id = ?", models.OnComment,
		id).Exec(ctx); err != nil {
		return err
	}
	if err := s.core.Raise(ctx, tx, models.ObjectDeleted{Target: models.Target{Type: models.OnComment, ID: id},
		Owner: c.OwnerID, By: caller, Reason: reason}); err != nil {
		return err
	}
	return c.AddCounts(ctx, tx, -1)
}

// deleteComments deletes all comments on a locked target that is being deleted, and their files.
func (s *Store) deleteComments(ctx context.Context, tx bun.Tx, target models.Target) error {
	// Lock the comments: concurrent finalizations of files on them end first, and later ones find the
	// comments deleted.
	var locked []int64
	err := s.core.DB.ForUpdate(tx.NewSelect().Model((*models.Comment)(nil)).Column("cm.id").
		Where("cm.target_type = ? AND cm.target_id = ?", target.Type, target.ID).Order("cm.id")).Scan(ctx, &locked)
	if err != nil {
		return err
	}
	on := tx.NewSelect().Model((*models.Comment)(nil)).Column("cm.id").Where("cm.target_type = ? AND cm.target_id = ?",
		target.Type, target.ID)
	if _, err := tx.NewDelete().Model((*models.File)(nil)).Where("target_type = ? AND target_id IN (?)", models.OnComment,
		on).Exec(ctx); err != nil {
		return err
	}
	_, err = tx.NewDelete().Model((*models.Comment)(nil)).Where("target_type = ? AND target_id = ?", target.Type,
		target.ID).Exec(ctx)
	return err
}

// react deletes the comments on what is deleted.
func (s *Store) react(ctx context.Context, tx bun.Tx, e models.Event) error {
	d, deleted := e.(models.ObjectDeleted)
	if !deleted || d.Target.Type != models.OnThing && d.Target.Type != models.OnMake {
		return nil
	}
	return s.deleteComments(ctx, tx, d.Target)
}
