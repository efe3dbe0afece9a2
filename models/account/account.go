package account

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/outage"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/social"
)

// A deleted account keeps its row, because comments, entries of the moderation log, and makes of
// other users refer to it. The row has no personal data: its username is deleted-ID, and no one can
// sign in to it. DeleteAccount makes these changes in one transaction. PurgeAccount, a background
// job, then deletes the objects of the user.

// purgeAgain is when PurgeAccount runs a second time. Requests that were authenticated before the
// account was deleted may still add objects, longer than the first run takes. Other nodes may
// accept a token for tokenMemory, and a transaction takes at most database.MaxTx.
const purgeAgain = 5 * time.Minute

// DeleteAccount deletes the account of the caller. An administrator can delete the account of
// another user, and must give a reason. It returns the ID of the deleted user. It returns Forbidden
// if the caller may not delete the account, and BadInput if the reason is missing or if the user is
// the last administrator. It opens a transaction. A background job soon deletes the user's things,
// makes, collections and likes, and the texts of their comments.
func (s *Store) DeleteAccount(ctx context.Context, caller auth.Caller, username, reason string) (id int64, err error) {
	found, err := s.core.User(ctx, caller, models.UserAccess, username)
	if err != nil {
		return 0, err
	}
	if found.ID != caller.UserID && !caller.Administers() {
		return 0, models.Fail(models.Forbidden, "the account of %s is not yours: deleting it requires an administrator",
			found.Username)
	}
	return found.ID, s.deleteUser(ctx, caller, found.ID, reason, func(ctx context.Context, tx bun.Tx) error {
		return s.core.RecordDeletion(ctx, tx, caller, models.ModerationEntry{Action: models.DeletedUser, UserID: found.ID,
			Reason: reason})
	})
}

// deleteUser deletes the account of a user. It opens a transaction and calls record in it.
func (s *Store) deleteUser(ctx context.Context, caller auth.Caller, id int64, reason string,
	record func(context.Context, bun.Tx) error) error {
	return s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		u, err := s.core.LockAccount(ctx, tx, id)
		if err != nil {
			return err
		}
		if err := s.core.CheckNotLastAdministrator(ctx, tx, u); err != nil {
			return err
		}
		if err := record(ctx, tx); err != nil {
			return err
		}
		at := models.Now()
		*u = models.User{ID: u.ID, Username: fmt.Sprintf("deleted-%d", u.ID), DefaultLicense: models.CC, DeletedAt: &at}
		_, err = tx.NewUpdate().Model(u).Column("username", "first_name", "last_name", "email", "bio", "location",
			"default_license",
			"is_admin", "is_moderator", "suspended_at", "suspension_reason", "last_active_at", "avatar_id", "cover_id",
			"deleted_at").
			Set("bio_html = ''").WherePK().Exec(ctx)
		if err != nil {
			return err
		}
		for _, statement := range []string{
			"DELETE FROM tokens WHERE user_id = ?0",
			"DELETE FROM grants WHERE user_id = ?0",
			"DELETE FROM sessions WHERE user_id = ?0",
			"DELETE FROM passwords WHERE user_id = ?0",
			"DELETE FROM identities WHERE user_id = ?0",
			"DELETE FROM confirmed_emails WHERE user_id = ?0",
			"DELETE FROM account_links WHERE user_id = ?0",
			"DELETE FROM webhooks WHERE owner_id = ?0",
		} {
			if _, err := tx.NewRaw(statement, u.ID).Exec(ctx); err != nil {
				return err
			}
		}
		if err := s.core.Raise(ctx, tx, models.ObjectDeleted{Target: models.Target{Type: models.OnUser, ID: u.ID},
			Owner: u.ID, By: caller, Reason: reason}); err != nil {
			return err
		}
		if err := social.Disconnect(ctx, tx, u.ID); err != nil {
			return err
		}
		if err := s.core.DB.Index(ctx, tx, models.UserIndex, u.ID); err != nil {
			return err
		}
		return errors.Join(s.core.Enqueue(ctx, tx, models.Work{PurgeAccount: u.ID}),
			s.core.Enqueue(ctx, tx, models.Work{PurgeAccount: u.ID, At: at.Add(purgeAgain)}))
	})
}

// PurgeAccount deletes the objects of a user whose account was deleted. It does nothing if the
// account is not deleted. Each object is deleted in a transaction of its own, by the method that
// API calls use, so that an interrupted job can continue where it stopped. An object that cannot be
// deleted does not keep the others: PurgeAccount deletes them, and then returns an error. The
// garbage collector removes the contents that no file uses any more.
func (s *Store) PurgeAccount(ctx context.Context, userID int64) error {
	deleted, err := s.core.DB.Write.NewSelect().Model((*models.User)(nil)).Where("u.id = ? AND u.deleted_at IS NOT NULL",
		userID).Exists(ctx)
	if err != nil || !deleted {
		return err
	}
	if err := s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		return social.Disconnect(ctx, tx,
			userID)
	}); err != nil {
		return fmt.Errorf("purge account %d: %w", userID, err)
	}
	// The job acts as the owner with the role of an administrator, because it must also delete objects
	// that were taken down.
	owner := auth.Caller{UserID: userID, Role: auth.Administrator, Scopes: auth.Scopes{auth.Read, auth.Write, auth.Admin}}
	purges := []struct {
		table, where string
		remove       func(ctx context.Context, id int64) error
	}{
		{"likes", "user_id = ?", s.objects.Social.PurgeLike},
		{"makes", "owner_id = ?", func(ctx context.Context, id int64) error {
			_, err := s.objects.Makes.DeleteMake(ctx, owner, id, "")
			return err
		}},
		{"things", "owner_id = ?", func(ctx context.Context, id int64) error {
			_, err := s.core.DeleteThing(ctx, owner, id, "")
			return err
		}},
		{"collections", "owner_id = ?", func(ctx context.Context, id int64) error {
			_, err := s.objects.Collections.DeleteCollection(ctx, owner, id)
			return err
		}},
		{"comments", "owner_id = ? AND deleted_at IS NULL", func(ctx context.Context, id int64) error {
			_, err := s.objects.Comments.DeleteComment(ctx, owner, id, "")
			return err
		}},
		{"files", "owner_id = ?", s.purgeFile},
	}
	var first error // of those about single objects
	left := 0
	for _, p := range purges {
		for last := int64(0); ; {
			var ids []int64
			err := s.core.DB.Write.NewSelect().Table(p.table).Column("id").Where(p.where, userID).Where("id > ?", last).
				OrderExpr("id").Limit(100).Scan(ctx, &ids)
			if err != nil {
				return err
			}
			if len(ids) == 0 {
				break
			}
			last = ids[len(ids)-1]
			for _, id := range ids {
				err := p.remove(ctx, id)
				if err == nil || models.CodeOf(err) == models.NotFound {
					continue
				}
				err = fmt.Errorf("%s %d: %w", p.table, id, err)
				if outage.Of(err) != nil || ctx.Err() != nil { // others would fail, too
					return fmt.Errorf("purge account %d: %w", userID, err)
				}
				first, left = cmp.Or(first, err), left+1
			}
		}
	}
	// Downloads are kept, because the counts of things include them. They refer to a user without
	// personal data.
	if _, err := s.core.DB.Write.NewRaw("UPDATE comments SET spam_body = '' WHERE owner_id = ?", userID).
		Exec(ctx); err != nil {
		return err
	}
	if left > 0 {
		return fmt.Errorf("purge account %d: cannot delete %d objects, such as %w", userID, left, first)
	}
	return nil
}

// purgeFile deletes the row of a file, and the bytes of a pending upload.
func (s *Store) purgeFile(ctx context.Context, id int64) error {
	f := new(models.File)
	err := s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := s.core.DB.ForUpdate(tx.NewSelect().Model(f).Where("f.id = ?", id)).Scan(ctx); err != nil {
			return models.NoSuchIfNoRows(err, "file", id)
		}
		_, err := tx.NewDelete().Model(f).WherePK().Exec(ctx)
		return err
	})
	if err != nil || f.ObjectKey == "" {
		return err
	}
	s.core.Discard(ctx, f.ObjectKey)
	return nil
}
