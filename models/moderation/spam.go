package moderation

import (
	"context"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models"
)

// ReportSpam reports a comment of another user as spam, for moderators to decide. If the caller is
// a moderator or an administrator, it deletes the comment instead, and keeps the text so that the
// comment can be restored. It returns BadInput for a comment of the caller, and Conflict if the
// caller has too many open reports. It opens a transaction.
func (s *Store) ReportSpam(ctx context.Context, caller auth.Caller, id int64) (*models.Comment, error) {
	return s.moderateComment(ctx, caller, id, func(ctx context.Context, tx bun.Tx, c *models.Comment) error {
		switch {
		case c.OwnerID == caller.UserID:
			return models.Invalid("id", "comment %d is your own", id)
		case c.IsDeleted():
			return nil
		case !caller.Moderates():
			if c.ReportedAt == nil {
				at := models.Now()
				c.ReportedAt = &at
			}
			_, err := s.insertReport(ctx, tx, caller, models.Target{Type: models.OnComment, ID: id}, c.OwnerID, ReportSpam, "")
			return err
		}
		c.SpamBody, c.ReportedAt = c.Body, nil
		edited := c.ModifiedAt // neither hiding nor restoring a comment is a change by its creator
		err := s.comments.HideCommentOfOther(ctx, tx, caller, c, "Spam.")
		c.ModifiedAt = edited
		return err
	})
}

// RestoreComment restores a comment that was deleted as spam, or dismisses the reports of a comment
// that was not deleted. It requires a moderator or an administrator, who cannot be its author
// unless they are an administrator. It returns Conflict for a comment that was deleted for another
// reason, because its text was not kept. It opens a transaction.
func (s *Store) RestoreComment(ctx context.Context, caller auth.Caller, id int64) (*models.Comment, error) {
	if !caller.Moderates() {
		return nil, models.Fail(models.Forbidden, "restoring a comment requires a moderator or an administrator")
	}
	return s.moderateComment(ctx, caller, id, func(ctx context.Context, tx bun.Tx, c *models.Comment) error {
		if err := models.CheckDecides(caller, c.OwnerID); err != nil {
			return err
		}
		if !c.IsDeleted() {
			if c.ReportedAt == nil {
				return nil
			}
			c.ReportedAt = nil
			if _, err := decideReports(ctx, tx, caller, models.Target{Type: models.OnComment, ID: id}, Dismissed,
				""); err != nil {
				return err
			}
			return s.core.Record(ctx, tx, caller, models.ModerationEntry{Action: models.DismissedSpam, UserID: c.OwnerID,
				ThingID: c.ThingID, ObjectID: id})
		}
		if c.SpamBody == "" {
			return models.Fail(models.Conflict, "comment %d was not hidden as spam: its text is gone", id)
		}
		c.Body, c.SpamBody, c.DeletedAt, c.ReportedAt = c.SpamBody, "", nil, nil
		if err := c.AddCounts(ctx, tx, 1); err != nil {
			return err
		}
		return s.core.Record(ctx, tx, caller, models.ModerationEntry{Action: models.RestoredComment, UserID: c.OwnerID,
			ThingID: c.ThingID, ObjectID: id})
	})
}

// moderateComment locks a comment that the caller can see, calls change, and stores the result.
func (s *Store) moderateComment(ctx context.Context, caller auth.Caller, id int64, change func(context.Context, bun.Tx,
	*models.Comment) error) (*models.Comment, error) {
	if _, err := s.core.Comment(ctx, caller, models.CommentAccess, id); err != nil {
		return nil, err
	}
	err := s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		c, err := s.core.LockComment(ctx, tx, id)
		if err != nil {
			return err
		}
		if err := change(ctx, tx, c); err != nil {
			return err
		}
		var html models.RenderedHTML
		if err := s.core.RenderTo(ctx, &html, models.CommentBody, &c.Body); err != nil {
			return err
		}
		_, err = html.Update(tx.NewUpdate().Model(c).Column("body", "spam_body", "reported_at", "modified_at", "deleted_at").
			WherePK()).Exec(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	return s.core.Comment(ctx, caller, models.AllCommentFields, id)
}
