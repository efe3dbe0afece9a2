package models

import (
	"context"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
)

// ReportSpam reports a comment of another user as spam, for moderators to decide. If the caller is
// a moderator or an administrator, it deletes the comment instead, and keeps the text so that the
// comment can be restored. It returns BadInput for a comment of the caller, and Conflict if the
// caller has too many open reports. It opens a transaction.
func (s *Store) ReportSpam(ctx context.Context, caller auth.Caller, id int64) (*Comment, error) {
	return s.moderateComment(ctx, caller, id, func(ctx context.Context, tx bun.Tx, c *Comment) error {
		switch {
		case c.OwnerID == caller.UserID:
			return Invalid("id", "comment %d is your own", id)
		case c.IsDeleted():
			return nil
		case !caller.Moderates():
			if c.ReportedAt == nil {
				at := Now()
				c.ReportedAt = &at
			}
			_, err := s.insertReport(ctx, tx, caller, Target{OnComment, id}, c.OwnerID, ReportSpam, "")
			return err
		}
		c.SpamBody, c.ReportedAt = c.Body, nil
		edited := c.ModifiedAt // neither hiding nor restoring a comment is a change by its creator
		err := s.hideCommentOfOther(ctx, tx, caller, c, "Spam.")
		c.ModifiedAt = edited
		return err
	})
}

// RestoreComment restores a comment that was deleted as spam, or dismisses the reports of a comment
// that was not deleted. It requires a moderator or an administrator, who cannot be its author
// unless they are an administrator. It returns Conflict for a comment that was deleted for another
// reason, because its text was not kept. It opens a transaction.
func (s *Store) RestoreComment(ctx context.Context, caller auth.Caller, id int64) (*Comment, error) {
	if !caller.Moderates() {
		return nil, Fail(Forbidden, "restoring a comment requires a moderator or an administrator")
	}
	return s.moderateComment(ctx, caller, id, func(ctx context.Context, tx bun.Tx, c *Comment) error {
		if err := checkDecides(caller, c.OwnerID); err != nil {
			return err
		}
		if !c.IsDeleted() {
			if c.ReportedAt == nil {
				return nil
			}
			c.ReportedAt = nil
			if _, err := decideReports(ctx, tx, caller, Target{OnComment, id}, Dismissed, ""); err != nil {
				return err
			}
			return s.record(ctx, tx, caller, ModerationEntry{Action: DismissedSpam, UserID: c.OwnerID, ThingID: c.ThingID, ObjectID: id})
		}
		if c.SpamBody == "" {
			return Fail(Conflict, "comment %d was not hidden as spam: its text is gone", id)
		}
		c.Body, c.SpamBody, c.DeletedAt, c.ReportedAt = c.SpamBody, "", nil, nil
		if err := c.count(ctx, tx, 1); err != nil {
			return err
		}
		return s.record(ctx, tx, caller, ModerationEntry{Action: RestoredComment, UserID: c.OwnerID, ThingID: c.ThingID, ObjectID: id})
	})
}

// moderateComment locks a comment that the caller can see, calls change, and stores the result.
func (s *Store) moderateComment(ctx context.Context, caller auth.Caller, id int64, change func(context.Context, bun.Tx, *Comment) error) (*Comment, error) {
	if _, err := s.Comment(ctx, caller, CommentAccess, id); err != nil {
		return nil, err
	}
	err := s.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		c, err := s.lockComment(ctx, tx, id)
		if err != nil {
			return err
		}
		if err := change(ctx, tx, c); err != nil {
			return err
		}
		var html renderedHTML
		if err := s.renderTo(ctx, &html, commentBody, &c.Body); err != nil {
			return err
		}
		_, err = html.update(tx.NewUpdate().Model(c).Column("body", "spam_body", "reported_at", "modified_at", "deleted_at").WherePK()).Exec(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	return s.Comment(ctx, caller, AllCommentFields, id)
}
