package moderation

import (
	"context"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/account"
)

type moderationLog struct{}

func (moderationLog) Select(b *database.Builder, _ any) *bun.SelectQuery {
	return b.Select().TableExpr("moderation_log AS ml")
}

// ModerationLog lists all decisions, the latest first. It requires a moderator or an administrator.
func (s *Store) ModerationLog(caller auth.Caller) (models.List, error) {
	if err := models.RequireModerator(caller); err != nil {
		return models.List{}, err
	}
	return models.List{DB: s.core.DB.DB, By: database.Order{ID: "ml.id"}, Rows: moderationLog{}}, nil
}

// checkDecision returns Forbidden if the caller is not a moderator or an administrator, and
// BadInput if there is no valid reason.
func checkDecision(caller auth.Caller, reason string) error {
	if err := models.RequireModerator(caller); err != nil {
		return err
	}
	return models.CheckReason(reason)
}

// decideOnUser locks another user, stores the columns that change has changed, and records the
// decision. It signs out a suspended user. change reports whether the decision changes anything. If
// not, it is not recorded. Decisions on moderators and administrators require an administrator. It
// opens a transaction.
func (s *Store) decideOnUser(ctx context.Context, caller auth.Caller, name, reason string, action models.Action,
	change func(u *models.User) (changed bool), columns ...string) (*models.User, error) {
	if err := checkDecision(caller, reason); err != nil {
		return nil, err
	}
	return s.account.ChangeUser(ctx, caller, name, action, reason, func(ctx context.Context, tx bun.Tx,
		u *models.User) (bool, error) {
		switch {
		case u.ID == caller.UserID:
			return false, models.Invalid("username", "username: you cannot decide on yourself")
		case u.Role() != auth.Member && !caller.Administers():
			return false, models.Fail(models.Forbidden, "requires an administrator: %s is a moderator or an administrator",
				u.Username)
		}
		before := *u
		if !change(u) {
			return false, nil
		}
		if !u.IsAdmin || u.SuspendedAt != nil {
			// The caller may have lost the role or been suspended since the request was authenticated.
			if err := s.core.CheckNotLastAdministrator(ctx, tx, &before); err != nil {
				return false, err
			}
		}
		if u.SuspendedAt != nil {
			if err := account.EndSignIns(ctx, tx, u.ID); err != nil {
				return false, err
			}
		}
		return true, nil
	}, columns...)
}

// SuspendUser restricts a user to reading with the access tokens that they have, ends their
// sessions, and deletes their authorization codes, refresh tokens and password reset links. If the
// user is already suspended, the reason is replaced. Suspending a moderator or an administrator
// requires an administrator.
func (s *Store) SuspendUser(ctx context.Context, caller auth.Caller, name, reason string) (*models.User, error) {
	return s.decideOnUser(ctx, caller, name, reason, models.SuspendedUser, func(u *models.User) bool {
		at := models.Now()
		u.SuspendedAt, u.SuspensionReason = &at, reason
		return true
	}, "suspended_at", "suspension_reason")
}

// UnsuspendUser ends the suspension of a user. If the user is not suspended, nothing changes. The
// same permissions are required as for SuspendUser.
func (s *Store) UnsuspendUser(ctx context.Context, caller auth.Caller, name, reason string) (*models.User, error) {
	return s.decideOnUser(ctx, caller, name, reason, models.UnsuspendedUser, (*models.User).Unsuspend, "suspended_at",
		"suspension_reason")
}

// SetUserRole changes the role of a user. If the user already has the role, nothing changes. It
// requires an administrator.
func (s *Store) SetUserRole(ctx context.Context, caller auth.Caller, name string, role auth.Role,
	reason string) (*models.User, error) {
	if err := models.RequireAdministrator(caller); err != nil {
		return nil, err
	}
	return s.decideOnUser(ctx, caller, name, reason, models.SetUserRole,
		func(u *models.User) bool { return u.SetRole(role) }, "is_admin", "is_moderator")
}
