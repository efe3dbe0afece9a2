package webhook

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/internal/fieldset"
	"github.com/meshyard/meshyard/internal/webhook"
	"github.com/meshyard/meshyard/models"
)

// Event is the type of an event that webhooks receive.
type Event string

// The types of events. docs/webhooks.md documents them with their data.
const (
	ThingPublishedEvent     Event = "thing.published"
	ThingUnpublishedEvent   Event = "thing.unpublished"
	FileProcessedEvent      Event = "file.processed"
	MakeCreatedEvent        Event = "make.created"
	CommentCreatedEvent     Event = "comment.created"
	ModerationDecidedEvent  Event = "moderation.decided"
	ModerationReportedEvent Event = "moderation.reported" // for global webhooks only
	PingEvent               Event = "ping"                // only on request
)

// webhookEvents are the types of events that a webhook can choose.
var webhookEvents = []Event{
	ThingPublishedEvent, ThingUnpublishedEvent, FileProcessedEvent, MakeCreatedEvent, CommentCreatedEvent,
	ModerationDecidedEvent, ModerationReportedEvent,
}

const (
	maxWebhooks   = 20    // of a user
	maxWebhookURL = 2_000 // characters
	// rotationTime is how long messages are also signed with the old secret.
	rotationTime = 24 * time.Hour
	// disabledByOwner is the reason for webhooks that their owner has disabled.
	disabledByOwner = "disabled by its owner"
	// disabledByOperator is the reason for webhooks that the operator has disabled.
	disabledByOperator = "disabled by the operator"
	// disabledWithOwner is the reason for webhooks whose owner was suspended and lost all access.
	disabledWithOwner = "its owner was suspended"
)

// Webhook is a URL to which events are sent: those that concern the content of its owner or, for a
// global webhook of an administrator, all events on public content, and moderation events.
type Webhook struct {
	bun.BaseModel `bun:"table:webhooks,alias:wh"`
	database.Listed

	ID             int64 `bun:",pk,autoincrement" reads:"OwnerID"`
	OwnerID        int64
	IsGlobal       bool
	URL            string `bun:"url"`
	Description    string
	Events         string // separated by spaces
	Secret         string
	OldSecret      string // the previous secret; empty: none
	OldSecretUntil *time.Time
	FailingSince   *time.Time // the first failure after the last success; nil: none
	DisabledAt     *time.Time // nil: it is enabled
	DisabledReason string
	CreatedAt      time.Time
	ModifiedAt     time.Time
}

// Fields is a set of fields of a webhook.
type Fields = fieldset.Set[Webhook]

var webhooks = database.NewTable(func(w *Webhook) (int64, *database.Listed) { return w.ID, &w.Listed })

// AllFields has all fields of a webhook except its secrets.
var AllFields = webhooks.All().Without(fieldset.Of[Webhook]("Secret", "OldSecret"))

// IsEnabled reports whether events are sent to the webhook.
func (w *Webhook) IsEnabled() bool { return w.DisabledAt == nil }

// EventList returns the types of events that it receives.
func (w *Webhook) EventList() []Event {
	events := []Event{}
	for name := range strings.FieldsSeq(w.Events) {
		events = append(events, Event(name))
	}
	return events
}

// secrets returns the secrets with which a message is signed at a time.
func (w *Webhook) secrets(at time.Time) []string {
	if w.OldSecretUntil != nil && at.Before(*w.OldSecretUntil) {
		return []string{w.Secret, w.OldSecret}
	}
	return []string{w.Secret}
}

// sends is the SQL condition that messages of a webhook may be sent: one that is global receives
// the events of all users, and works only while its owner is an administrator.
const sends = "(NOT wh.is_global OR EXISTS (SELECT 1 FROM users AS u WHERE u.id = wh.owner_id AND u.is_admin AND u.suspended_at IS NULL))"

// managesWebhooks returns an error if the caller is not a user or is an application. A webhook
// would outlive the token of the application, and its URL may be secret.
func managesWebhooks(caller auth.Caller) error {
	if err := models.RequireUser(caller); err != nil {
		return err
	}
	if caller.ApplicationID != 0 {
		return models.Fail(models.Forbidden, "applications cannot manage webhooks")
	}
	return nil
}

// Input is the input of CreateWebhook.
type Input struct {
	URL         string
	Events      []Event
	Description string
	IsGlobal    bool
}

// CreateWebhook creates a webhook of the caller and returns its secret, which cannot be read again.
// A global webhook requires an administrator. It returns BadInput for an invalid URL, and Conflict
// if the user has too many webhooks. It opens a transaction.
func (s *Store) CreateWebhook(ctx context.Context, caller auth.Caller, n Input) (*Webhook, string, error) {
	if err := managesWebhooks(caller); err != nil {
		return nil, "", err
	}
	if n.IsGlobal {
		if err := models.RequireAdministrator(caller); err != nil {
			return nil, "", err
		}
	}
	return s.createWebhook(ctx, caller.UserID, n)
}

func (s *Store) createWebhook(ctx context.Context, ownerID int64, n Input) (*Webhook, string, error) {
	events, err := s.checkWebhook(&n.URL, &n.Description, n.Events, n.IsGlobal)
	if err != nil {
		return nil, "", err
	}
	at := models.Now()
	w := &Webhook{OwnerID: ownerID, IsGlobal: n.IsGlobal, URL: n.URL, Description: n.Description, Events: events,
		Secret: webhook.NewSecret(), CreatedAt: at, ModifiedAt: at}
	err = s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		// The user is locked, so that concurrent calls cannot exceed the limit.
		if _, err := s.core.LockAccount(ctx, tx, ownerID); err != nil {
			return err
		}
		there, err := tx.NewSelect().Model((*Webhook)(nil)).Where("wh.owner_id = ?", ownerID).Count(ctx)
		if err != nil {
			return err
		}
		if there >= maxWebhooks {
			e := models.Fail(models.Conflict, "you have %d webhooks, and at most %d are allowed", there, maxWebhooks)
			e.Limit = maxWebhooks
			return e
		}
		_, err = tx.NewInsert().Model(w).Exec(ctx)
		return err
	})
	return w, w.Secret, err
}

// checkWebhook checks the properties that are not nil and returns the types of events as they are
// stored.
func (s *Store) checkWebhook(address, description *string, events []Event, global bool) (string, error) {
	err := models.CheckOptional("url", address, maxWebhookURL)
	if address != nil && err == nil {
		if wrong := s.options.Check(*address); wrong != nil {
			err = models.Invalid("url", "url: %s", wrong)
		}
	}
	err = errors.Join(err, models.CheckOptional("description", description, models.MaxName))
	if events == nil {
		return "", err
	}
	if !global && slices.Contains(events, ModerationReportedEvent) {
		err = errors.Join(err,
			models.Invalid("events", "events: %s is for global webhooks, which only administrators can create",
				ModerationReportedEvent))
	}
	var names []string
	for _, e := range webhookEvents { // each once, in a fixed order
		if slices.Contains(events, e) {
			names = append(names, string(e))
		}
	}
	if len(names) == 0 {
		err = errors.Join(err, models.RequiredList("events"))
	}
	return strings.Join(names, " "), err
}

// Change is the input of UpdateWebhook. Nil fields are left unchanged.
type Change struct {
	ID          int64
	URL         *string
	Events      []Event
	Description *string
	IsEnabled   *bool
}

// UpdateWebhook changes a webhook of the caller. Disabling it makes its waiting deliveries fail. It
// opens a transaction.
func (s *Store) UpdateWebhook(ctx context.Context, caller auth.Caller, c Change) (*Webhook, error) {
	return s.changeWebhook(ctx, caller, c.ID, func(ctx context.Context, tx bun.Tx, w *Webhook) error {
		events, err := s.checkWebhook(c.URL, c.Description, c.Events, w.IsGlobal)
		if err != nil {
			return err
		}
		models.Assign(&w.URL, c.URL)
		models.Assign(&w.Description, c.Description)
		if c.Events != nil {
			w.Events = events
		}
		if c.IsEnabled == nil {
			return nil
		}
		return w.setEnabled(ctx, tx, *c.IsEnabled, disabledByOwner)
	})
}

// RotateWebhookSecret replaces the secret of a webhook of the caller and returns the new one, which
// cannot be read again. Messages are signed with both secrets for a day. It opens a transaction.
func (s *Store) RotateWebhookSecret(ctx context.Context, caller auth.Caller,
	id int64) (w *Webhook, secret string, err error) {
	w, err = s.changeWebhook(ctx, caller, id, func(_ context.Context, _ bun.Tx, w *Webhook) error {
		until := models.Now().Add(rotationTime)
		w.OldSecret, w.OldSecretUntil, w.Secret = w.Secret, &until, webhook.NewSecret()
		secret = w.Secret
		return nil
	})
	return w, secret, err
}

// changeWebhook locks a webhook of the caller, calls change, and stores the result.
func (s *Store) changeWebhook(ctx context.Context, caller auth.Caller, id int64, change func(context.Context, bun.Tx,
	*Webhook) error) (*Webhook, error) {
	return s.withWebhook(ctx, caller, id, func(ctx context.Context, tx bun.Tx, w *Webhook) error {
		if err := change(ctx, tx, w); err != nil {
			return err
		}
		return w.store(ctx, tx)
	})
}

// store stores a locked webhook.
func (w *Webhook) store(ctx context.Context, tx bun.Tx) error {
	w.ModifiedAt = models.Now()
	_, err := tx.NewUpdate().Model(w).WherePK().ExcludeColumn("owner_id", "is_global", "created_at").Exec(ctx)
	return err
}

// withWebhook locks a webhook of the caller and calls fn in the same transaction. It returns
// NotFound for a webhook of another user, and Forbidden for a global webhook if the caller is no
// longer an administrator.
func (s *Store) withWebhook(ctx context.Context, caller auth.Caller, id int64,
	fn func(context.Context, bun.Tx, *Webhook) error) (*Webhook, error) {
	if err := managesWebhooks(caller); err != nil {
		return nil, err
	}
	w := new(Webhook)
	err := s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		err := s.core.DB.ForUpdate(tx.NewSelect().Model(w).Where("wh.id = ? AND wh.owner_id = ?", id, caller.UserID)).
			Scan(ctx)
		if err != nil {
			return models.NoSuchIfNoRows(err, "webhook", id)
		}
		if w.IsGlobal {
			if err := models.RequireAdministrator(caller); err != nil {
				return err
			}
		}
		return fn(ctx, tx, w)
	})
	return w, err
}

// webhookDisabled is the error of deliveries that failed because their webhook was disabled.
const webhookDisabled = "the webhook was disabled"

// setEnabled enables a locked webhook, or disables it for the given reason. The caller stores the
// webhook.
func (w *Webhook) setEnabled(ctx context.Context, tx bun.Tx, enabled bool, reason string) error {
	switch {
	case enabled == w.IsEnabled():
		return nil
	case !enabled:
		return disableWebhook(ctx, tx, w, reason)
	}
	w.DisabledAt, w.DisabledReason, w.FailingSince = nil, "", nil
	return nil
}

// disableWebhook marks a locked webhook as disabled and makes its waiting deliveries fail. The
// caller stores the webhook.
func disableWebhook(ctx context.Context, tx bun.Tx, w *Webhook, reason string) error {
	at := models.Now()
	w.DisabledAt, w.DisabledReason = &at, reason
	return failWaiting(ctx, tx, w.ID, webhookDisabled)
}

// disableWebhooksOf disables all webhooks of a user.
func (s *Store) disableWebhooksOf(ctx context.Context, tx bun.Tx, userID int64, reason string) error {
	var hooks []*Webhook
	err := s.core.DB.ForUpdate(tx.NewSelect().Model(&hooks).Where("wh.owner_id = ? AND wh.disabled_at IS NULL", userID).
		Order("wh.id")).Scan(ctx)
	if err != nil {
		return err
	}
	for _, w := range hooks {
		if err := disableWebhook(ctx, tx, w, reason); err != nil {
			return err
		}
		if _, err := tx.NewUpdate().Model(w).Column("disabled_at", "disabled_reason").WherePK().Exec(ctx); err != nil {
			return err
		}
	}
	return nil
}

// failWaiting makes the waiting deliveries of a webhook fail.
func failWaiting(ctx context.Context, db bun.IDB, webhookID int64, reason string) error {
	_, err := db.NewUpdate().Model((*Delivery)(nil)).Set("state = ?, next_attempt_at = NULL", DeliveryFailed).
		Set("error = CASE WHEN error = '' THEN ?0 ELSE error || '; ' || ?0 END", reason).
		Where("webhook_id = ? AND state = ?", webhookID, DeliveryWaiting).Exec(ctx)
	return err
}

// DeleteWebhook deletes a webhook of the caller and the log of its deliveries. It returns NotFound
// for a webhook of another user.
func (s *Store) DeleteWebhook(ctx context.Context, caller auth.Caller, id int64) error {
	if err := managesWebhooks(caller); err != nil {
		return err
	}
	return deleteWebhook(ctx, s.core.DB, id, "owner_id = ?", caller.UserID)
}

func deleteWebhook(ctx context.Context, db *models.DB, id int64, whose string, args ...any) error {
	if n, err := db.ExecAgain(ctx, db.Write.NewDelete().Model((*Webhook)(nil)).Where("id = ?", id).
		Where(whose, args...)); n > 0 || err != nil {
		return err
	}
	return models.NoSuch("webhook", id)
}

// Webhook returns a webhook of the caller. It returns NotFound for a webhook of another user.
func (s *Store) Webhook(ctx context.Context, caller auth.Caller, fields Fields, id int64) (*Webhook, error) {
	if err := managesWebhooks(caller); err != nil {
		return nil, err
	}
	found, err := s.WebhooksByID(ctx, fields, []int64{id})
	if err != nil {
		return nil, err
	}
	if w := found[id]; w != nil && w.Allows(caller) == nil {
		return w, nil
	}
	return nil, models.NoSuch("webhook", id)
}

// Allows returns nil if the webhook belongs to the caller, else NotFound. It returns Forbidden to
// applications.
func (w *Webhook) Allows(caller auth.Caller) error {
	if err := managesWebhooks(caller); err != nil {
		return err
	}
	if w.OwnerID != caller.UserID {
		return models.NoSuch("webhook", w.ID)
	}
	return nil
}

// WebhooksByID returns the webhooks with the given IDs, without their secrets. It does not check
// permissions: the caller must be their owner.
func (s *Store) WebhooksByID(ctx context.Context, fields Fields, ids []int64) (map[int64]*Webhook, error) {
	return webhooks.ByIDs(ctx, s.core.DB.DB, 0, fields, ids)
}

// NodeID returns the node ID of the webhook.
func (w *Webhook) NodeID() string { return models.NodeRef{Type: "Webhook", ID: w.ID}.NodeID() }
