package models

import (
	"context"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/internal/fieldset"
)

// Action is a decision of a moderator.
type Action string

// The actions.
const (
	SuspendedUser   Action = "suspend_user"
	UnsuspendedUser Action = "restore_user"
	SetUserRole     Action = "set_user_role"
	DeletedUser     Action = "delete_user"
	RenamedUser     Action = "rename_user"
	SetUserPassword Action = "set_password"
	TookDownThing   Action = "take_down_thing"
	RestoredThing   Action = "restore_thing"
	FeaturedThing   Action = "feature_thing"
	UnfeaturedThing Action = "unfeature_thing"

	RestoredMake    Action = "restore_make"
	RestoredComment Action = "restore_comment"
	DismissedSpam   Action = "dismiss_spam"
	ResolvedReport  Action = "resolve_report"
	DismissedReport Action = "dismiss_report"

	DeletedThing   Action = "delete_thing"
	DeletedMake    Action = "delete_make"
	DeletedComment Action = "delete_comment"
	DeletedFile    Action = "delete_file"
)

const maxReason = 2_000

// ModerationEntry is an entry of the moderation log. Entries are kept forever.
type ModerationEntry struct {
	bun.BaseModel `bun:"table:moderation_log,alias:ml"`
	database.Listed

	ID        int64 `bun:",pk,autoincrement"`
	ActorID   int64 `bun:",nullzero"` // 0: the operator, on the command line
	Action    Action
	UserID    int64     // the user concerned; for a thing, its creator
	ThingID   int64     `bun:",nullzero"` // 0: none; kept if the thing is deleted
	ObjectID  int64     `bun:",nullzero"` // the make, comment, file or report; 0: none
	Role      auth.Role // the new role; empty if no role changed
	Reason    string
	CreatedAt time.Time
}

// ModerationEntryFields is a set of fields of a moderation entry.
type ModerationEntryFields = fieldset.Set[ModerationEntry]

var moderationEntries = database.NewTable(func(e *ModerationEntry) (int64, *database.Listed) { return e.ID, &e.Listed })

// AllModerationEntryFields has all fields of a moderation entry.
var AllModerationEntryFields = moderationEntries.All()

// record adds a decision to the moderation log, in the transaction that carries it out, notifies
// the user concerned, and emits a webhook event.
func (s *Store) record(ctx context.Context, tx bun.Tx, caller auth.Caller, e ModerationEntry) error {
	e.ActorID, e.CreatedAt = caller.UserID, Now()
	if _, err := tx.NewInsert().Model(&e).Exec(ctx); err != nil {
		return err
	}
	if err := notifyOfDecision(ctx, tx, &e); err != nil {
		return err
	}
	return s.raise(ctx, tx, DecisionRecorded{&e})
}

// recordDeletion adds the deletion of another user's content to the moderation log. It returns
// BadInput if there is no reason. Deletions of the caller's own content are not recorded.
func (s *Store) recordDeletion(ctx context.Context, tx bun.Tx, caller auth.Caller, e ModerationEntry) error {
	if e.UserID == caller.UserID {
		return nil
	}
	if err := checkReason(e.Reason); err != nil {
		return err
	}
	return s.record(ctx, tx, caller, e)
}

// checkReason returns BadInput if the reason of a decision is blank or not a valid text.
func checkReason(reason string) error {
	if strings.TrimSpace(reason) == "" {
		return Required("reason")
	}
	return CheckText("reason", reason, maxReason)
}

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

// checkDecides returns Forbidden if the caller cannot decide on content of owner: the caller must
// be a moderator or an administrator, and only administrators decide on their own content.
func checkDecides(caller auth.Caller, owner int64) error {
	if err := requireModerator(caller); err != nil {
		return err
	}
	if caller.UserID == owner && !caller.Administers() {
		return Fail(Forbidden, "requires another moderator or an administrator: you cannot decide on your own content")
	}
	return nil
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

// unsuspend ends the suspension of the user, and reports whether there was one.
func (u *User) unsuspend() bool {
	if u.SuspendedAt == nil {
		return false
	}
	u.SuspendedAt, u.SuspensionReason = nil, ""
	return true
}

// SetUserRole changes the role of a user. If the user already has the role, nothing changes. It
// requires an administrator.
func (s *Store) SetUserRole(ctx context.Context, caller auth.Caller, name string, role auth.Role, reason string) (*User, error) {
	if err := RequireAdministrator(caller); err != nil {
		return nil, err
	}
	return s.decideOnUser(ctx, caller, name, reason, SetUserRole, func(u *User) bool { return u.setRole(role) }, "is_admin", "is_moderator")
}

// setRole sets the role of the user, and reports whether it was another one.
func (u *User) setRole(role auth.Role) bool {
	if u.Role() == role {
		return false
	}
	u.IsAdmin, u.IsModerator = role == auth.Administrator, role == auth.Moderator
	return true
}
