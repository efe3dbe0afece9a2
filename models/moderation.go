package models

import (
	"context"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
)

type moderationLog struct{}

func (moderationLog) Select(b *database.Builder, _ any) *bun.SelectQuery {
	return b.Select().TableExpr("moderation_log AS ml")
}

// ModerationLog lists all decisions, the latest first. It requires a moderator or an administrator.
func (s *Store) ModerationLog(caller auth.Caller) (List, error) {
	if err := requireModerator(caller); err != nil {
		return List{}, err
	}
	return List{DB: s.DB.DB, By: database.Order{ID: "ml.id"}, Rows: moderationLog{}}, nil
}

// checkDecision returns Forbidden if the caller is not a moderator or an administrator, and
// BadInput if there is no valid reason.
func checkDecision(caller auth.Caller, reason string) error {
	if err := requireModerator(caller); err != nil {
		return err
	}
	return checkReason(reason)
}

// decideOnUser locks another user, stores the columns that change has changed, and records the
// decision. It signs out a suspended user. change reports whether the decision changes anything. If
// not, it is not recorded. Decisions on moderators and administrators require an administrator. It
// opens a transaction.
func (s *Store) decideOnUser(ctx context.Context, caller auth.Caller, name, reason string, action Action, change func(u *User) (changed bool), columns ...string) (*User, error) {
	if err := checkDecision(caller, reason); err != nil {
		return nil, err
	}
	return s.changeUser(ctx, caller, name, action, reason, func(ctx context.Context, tx bun.Tx, u *User) (bool, error) {
		switch {
		case u.ID == caller.UserID:
			return false, Invalid("username", "username: you cannot decide on yourself")
		case u.Role() != auth.Member && !caller.Administers():
			return false, Fail(Forbidden, "requires an administrator: %s is a moderator or an administrator", u.Username)
		}
		before := *u
		if !change(u) {
			return false, nil
		}
		if !u.IsAdmin || u.SuspendedAt != nil {
			// The caller may have lost the role or been suspended since the request was authenticated.
			if err := s.checkNotLastAdministrator(ctx, tx, &before); err != nil {
				return false, err
			}
		}
		if u.SuspendedAt != nil {
			if err := endSignIns(ctx, tx, u.ID); err != nil {
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
func (s *Store) SuspendUser(ctx context.Context, caller auth.Caller, name, reason string) (*User, error) {
	return s.decideOnUser(ctx, caller, name, reason, SuspendedUser, func(u *User) bool {
		at := Now()
		u.SuspendedAt, u.SuspensionReason = &at, reason
		return true
	}, "suspended_at", "suspension_reason")
}

// UnsuspendUser ends the suspension of a user. If the user is not suspended, nothing changes. The
// same permissions are required as for SuspendUser.
func (s *Store) UnsuspendUser(ctx context.Context, caller auth.Caller, name, reason string) (*User, error) {
	return s.decideOnUser(ctx, caller, name, reason, UnsuspendedUser, (*User).unsuspend, "suspended_at", "suspension_reason")
}

// SetUserRole changes the role of a user. If the user already has the role, nothing changes. It
// requires an administrator.
func (s *Store) SetUserRole(ctx context.Context, caller auth.Caller, name string, role auth.Role, reason string) (*User, error) {
	if err := RequireAdministrator(caller); err != nil {
		return nil, err
	}
	return s.decideOnUser(ctx, caller, name, reason, SetUserRole, func(u *User) bool { return u.setRole(role) }, "is_admin", "is_moderator")
}
