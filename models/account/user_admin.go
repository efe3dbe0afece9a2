package account

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/models"
)

// nextUsersKey reads some users after the one with the ID in argument 0.
type nextUsersKey struct{}

// Text implements [database.Key].
func (nextUsersKey) Text(b *database.Builder) (string, error) {
	q := database.AddFields(b.Select().Model((*models.User)(nil)), b, models.AllUserFields, false, 0)
	return b.Text(q.Where("u.id > ? AND u.deleted_at IS NULL", b.Arg(0)).Order("u.id").Limit(500))
}

// EachUser calls fn with every user who is not deleted, in the order of their IDs.
func (a Admin) EachUser(ctx context.Context, fn func(*models.User) error) error {
	for last := int64(0); ; {
		var rows []*models.User
		err := database.Read(ctx, a.store.core.DB.DB, nextUsersKey{}, &rows, last)
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, u := range rows {
			last = u.ID
			if err := fn(u); err != nil {
				return err
			}
		}
	}
}

// RenameUser changes the name of a user, like [Store.RenameUser].
func (a Admin) RenameUser(ctx context.Context, from, to string) (*models.User, error) {
	return a.store.renameUser(ctx, auth.Caller{}, from, to)
}

// RenameUser changes the name of a user. Other users can take the old name at once. It requires an
// administrator, and returns Conflict if the new name is taken. It opens a transaction.
func (s *Store) RenameUser(ctx context.Context, caller auth.Caller, from, to string) (*models.User, error) {
	if err := models.RequireAdministrator(caller); err != nil {
		return nil, err
	}
	return s.renameUser(ctx, caller, from, to)
}

func (s *Store) renameUser(ctx context.Context, caller auth.Caller, from, to string) (*models.User, error) {
	if err := s.core.CheckUsername(to); err != nil {
		return nil, err
	}
	found, err := s.core.User(ctx, caller, models.UserAccess, from)
	if err != nil {
		return nil, err
	}
	err = s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		u, err := s.core.LockAccount(ctx, tx, found.ID)
		if err != nil {
			return err
		}
		e := models.ModerationEntry{Action: models.RenamedUser, UserID: u.ID, Reason: "The name was " + u.Username + "."}
		u.Username = to
		if _, err := tx.NewUpdate().Model(u).Column("username").WherePK().Exec(ctx); err != nil {
			return err
		}
		if err := s.core.Record(ctx, tx, caller, e); err != nil {
			return err
		}
		return s.core.DB.IndexUser(ctx, tx, found.ID)
	})
	if database.IsUnique(err) {
		return nil, models.UsernameIsTaken(to)
	}
	if err != nil {
		return nil, err
	}
	return s.core.UserByID(ctx, caller, models.AllUserFields, found.ID)
}

// SuspendAndRevokeTokens suspends a user and revokes their tokens, like
// [Store.SuspendAndRevokeTokens].
func (a Admin) SuspendAndRevokeTokens(ctx context.Context, name, reason string) (*models.User, error) {
	if err := models.CheckText("reason", reason, models.MaxReason); err != nil {
		return nil, err
	}
	return a.store.suspendAndRevokeTokens(ctx, auth.Caller{}, name, reason)
}

// SuspendAndRevokeTokens suspends another user, ends their sessions, revokes their access tokens,
// including those of applications, and disables their webhooks. It requires an administrator. The
// last administrator cannot be suspended. It opens a transaction.
func (s *Store) SuspendAndRevokeTokens(ctx context.Context, caller auth.Caller, name,
	reason string) (*models.User, error) {
	if err := models.RequireAdministrator(caller); err != nil {
		return nil, err
	}
	if err := models.CheckReason(reason); err != nil {
		return nil, err
	}
	return s.suspendAndRevokeTokens(ctx, caller, name, reason)
}

func (s *Store) suspendAndRevokeTokens(ctx context.Context, caller auth.Caller, name,
	reason string) (*models.User, error) {
	return s.ChangeUser(ctx, caller, name, models.SuspendedUser, reason, func(ctx context.Context, tx bun.Tx,
		u *models.User) (bool, error) {
		if u.ID == caller.UserID {
			return false, models.Invalid("username", "username: you cannot decide on yourself")
		}
		if err := s.core.CheckNotLastAdministrator(ctx, tx, u); err != nil {
			return false, err
		}
		at := models.Now()
		u.SuspendedAt, u.SuspensionReason = &at, reason
		if err := revokeAccess(ctx, tx, u.ID, at); err != nil {
			return false, err
		}
		return true, s.core.Raise(ctx, tx, models.AccessRevoked{UserID: u.ID})
	}, "suspended_at", "suspension_reason")
}

// revokeAccess revokes all access tokens of a locked user, and ends everything that endSignIns
// does.
func revokeAccess(ctx context.Context, tx bun.Tx, userID int64, at time.Time) error {
	_, err := tx.NewRaw("UPDATE tokens SET revoked_at = coalesce(revoked_at, ?1) WHERE user_id = ?0", userID, at).Exec(ctx)
	if err != nil {
		return err
	}
	return EndSignIns(ctx, tx, userID)
}

// EndSignIns ends the sessions of a locked user, and deletes what a new credential could be got
// with: authorization codes, refresh tokens and password reset links. Access tokens stay valid.
func EndSignIns(ctx context.Context, tx bun.Tx, userID int64) error {
	for _, statement := range []string{
		"DELETE FROM sessions WHERE user_id = ?0",
		"DELETE FROM grants WHERE user_id = ?0",
		"DELETE FROM refresh_tokens WHERE token_id IN (SELECT id FROM tokens WHERE user_id = ?0)",
		"DELETE FROM account_links WHERE user_id = ?0 AND purpose = ?1",
	} {
		if _, err := tx.NewRaw(statement, userID, models.ResetLink).Exec(ctx); err != nil {
			return err
		}
	}
	return nil
}

// UnsuspendUser ends the suspension of a user. If the user is not suspended, nothing changes.
// Revoked tokens stay revoked.
func (a Admin) UnsuspendUser(ctx context.Context, name string) (*models.User, error) {
	return a.store.ChangeUser(ctx, auth.Caller{}, name, models.UnsuspendedUser, models.ByOperator,
		func(_ context.Context, _ bun.Tx, u *models.User) (bool, error) {
			return u.Unsuspend(), nil
		}, "suspended_at", "suspension_reason")
}

// SetUserRole changes the role of a user. If the user already has the role, nothing changes. It
// returns BadInput if no administrator would be left.
func (a Admin) SetUserRole(ctx context.Context, name string, role auth.Role) (*models.User, error) {
	return a.store.ChangeUser(ctx, auth.Caller{}, name, models.SetUserRole, models.ByOperator,
		func(ctx context.Context, tx bun.Tx, u *models.User) (bool, error) {
			if role != auth.Administrator {
				if err := a.store.core.CheckNotLastAdministrator(ctx, tx, u); err != nil {
					return false, err
				}
			}
			return u.SetRole(role), nil
		}, "is_admin", "is_moderator")
}

// ChangeUser locks a user, stores the columns that change has changed, and records the action. If
// change reports that it changes nothing, nothing is recorded. It opens a transaction.
func (s *Store) ChangeUser(ctx context.Context, caller auth.Caller, name string, action models.Action, reason string,
	change func(context.Context, bun.Tx, *models.User) (changed bool, err error),
	columns ...string) (*models.User, error) {
	found, err := s.core.User(ctx, caller, models.UserAccess, name)
	if err != nil {
		return nil, err
	}
	err = s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		u, err := s.core.LockAccount(ctx, tx, found.ID)
		if err != nil {
			return err
		}
		if changed, err := change(ctx, tx, u); err != nil || !changed {
			return err
		}
		if _, err = tx.NewUpdate().Model(u).Column(columns...).WherePK().Exec(ctx); err != nil {
			return err
		}
		e := models.ModerationEntry{Action: action, UserID: u.ID, Reason: reason}
		if action == models.SetUserRole {
			e.Role = u.Role()
		}
		return s.core.Record(ctx, tx, caller, e)
	})
	if err != nil {
		return nil, err
	}
	return s.core.UserByID(ctx, caller, models.AllUserFields, found.ID)
}

// DeleteUser deletes the account of a user, like [Store.DeleteAccount].
func (a Admin) DeleteUser(ctx context.Context, name string) error {
	found, err := a.store.core.Admin().User(ctx, name)
	if err != nil {
		return err
	}
	return a.store.deleteUser(ctx, auth.Caller{}, found.ID, models.ByOperator, func(ctx context.Context, tx bun.Tx) error {
		return a.store.core.Record(ctx, tx, auth.Caller{}, models.ModerationEntry{Action: models.DeletedUser,
			UserID: found.ID, Reason: models.ByOperator})
	})
}
