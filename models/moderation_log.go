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

const MaxReason = 2_000

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

// Record adds a decision to the moderation log, in the transaction that carries it out.
func (s *Store) Record(ctx context.Context, tx bun.Tx, caller auth.Caller, e ModerationEntry) error {
	e.ActorID, e.CreatedAt = caller.UserID, Now()
	if _, err := tx.NewInsert().Model(&e).Exec(ctx); err != nil {
		return err
	}
	return s.Raise(ctx, tx, DecisionRecorded{&e})
}

// RecordDeletion adds the deletion of another user's content to the moderation log. It returns
// BadInput if there is no reason. Deletions of the caller's own content are not recorded.
func (s *Store) RecordDeletion(ctx context.Context, tx bun.Tx, caller auth.Caller, e ModerationEntry) error {
	if e.UserID == caller.UserID {
		return nil
	}
	if err := CheckReason(e.Reason); err != nil {
		return err
	}
	return s.Record(ctx, tx, caller, e)
}

// CheckReason returns BadInput if the reason of a decision is blank or not a valid text.
func CheckReason(reason string) error {
	if strings.TrimSpace(reason) == "" {
		return Required("reason")
	}
	return CheckText("reason", reason, MaxReason)
}

// CheckDecides returns Forbidden if the caller cannot decide on content of owner: the caller must
// be a moderator or an administrator, and only administrators decide on their own content.
func CheckDecides(caller auth.Caller, owner int64) error {
	if err := RequireModerator(caller); err != nil {
		return err
	}
	if caller.UserID == owner && !caller.Administers() {
		return Fail(Forbidden, "requires another moderator or an administrator: you cannot decide on your own content")
	}
	return nil
}

// ByOperator is the recorded reason of actions on the command line that have no reason of their
// own.
const ByOperator = "By the operator, on the command line."
