package webhook

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/internal/fieldset"
	"github.com/meshyard/meshyard/internal/webhook"
	"github.com/meshyard/meshyard/models"
)

// DeliveryState is the state of a delivery.
type DeliveryState string

// The states of a delivery.
const (
	DeliveryWaiting   DeliveryState = "waiting" // waits for an attempt, or is being sent
	DeliveryDelivered DeliveryState = "delivered"
	DeliveryFailed    DeliveryState = "failed"
)

// deliveryWaits are the times between attempts. There are 8 attempts, within about a day.
var deliveryWaits = []time.Duration{10 * time.Second, time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour,
	6 * time.Hour, 16 * time.Hour}

const (
	// deliveriesAtOnce is how many messages a server sends to one webhook concurrently.
	deliveriesAtOnce = 4
	// deliveryTurn is how long one job sends messages to a webhook. If messages are left, it schedules
	// another job, which runs after the waiting jobs of other webhooks.
	deliveryTurn = 15 * time.Second
	// deliveryGrace is how long after the timeout of an attempt its result must be recorded. Otherwise
	// the server that made the attempt is considered dead, and the message is sent again.
	deliveryGrace = 20 * time.Second
	// deliveryAhead is longer than any wait. A later time was set by a clock that was ahead.
	deliveryAhead = 25 * time.Hour
	// maxHourly is the maximum number of messages to a webhook in an hour. Global webhooks have no
	// limit. Within the rate limit, requests that cause one event each do not reach it. But one
	// GraphQL operation can cause thousands of events, which would delay the messages of other users
	// and fill the database.
	maxHourly = 5_000
	// maxFailing is how long all attempts may fail before the webhook is disabled.
	maxFailing = 3 * 24 * time.Hour
	// deliveryTTL is how long a delivery is kept in the log. It is longer than all attempts take.
	deliveryTTL = 14 * 24 * time.Hour
	// gone is the HTTP status 410, with which a receiver refuses all further messages.
	gone = 410
)

// Delivery is a message to a webhook. The table is both the queue of messages to send and
// the log of sent messages.
type Delivery struct {
	bun.BaseModel `bun:"table:webhook_deliveries,alias:wd"`
	database.Listed

	ID            int64 `bun:",pk,autoincrement" reads:"OwnerID"`
	WebhookID     int64
	MessageID     string // the same for all webhooks that receive an event
	Event         Event
	Payload       string // JSON
	State         DeliveryState
	Attempts      int32
	StatusCode    int32      // of the last attempt; 0: no response
	Error         string     // of the last attempt; empty: none
	NextAttemptAt *time.Time // nil: there is none
	AttemptedAt   *time.Time // nil: it was not attempted
	CreatedAt     time.Time
	OwnerID       int64 `bun:",scanonly"` // of the webhook; only WebhookDeliveriesByID sets it
}

// WebhookDeliveryFields is a set of fields of a delivery.
type WebhookDeliveryFields = fieldset.Set[Delivery]

// DeliverWebhook sends the due messages of a webhook, a few at a time, for at most about
// deliveryTurn. If ctx ends or messages are left, another job continues.
//
// Messages are delivered at least once: if the process dies during an attempt, the message is sent
// again. The lost attempt counts towards the maximum number of attempts.
func (s *Store) DeliverWebhook(ctx context.Context, id int64) error {
	if !s.delivering.begin(id) {
		return nil
	}
	until := time.Now().Add(deliveryTurn)
	for {
		more, err := s.deliverDue(ctx, id)
		switch {
		case err == nil && more && time.Now().Before(until) && ctx.Err() == nil:
		case err != nil: // the job is repeated
			s.delivering.drop(id)
			return err
		case more:
			s.delivering.drop(id)
			return s.enqueueDeliverers(context.WithoutCancel(ctx), id)
		case !s.delivering.end(id):
			return nil
		}
	}
}

// DeliverOverdue schedules jobs for due messages, because the jobs of some may have been lost when
// a server died. Messages that would wait because the clock was ahead become due.
func (s *Store) DeliverOverdue(ctx context.Context) error {
	at := models.Now()
	_, err := s.core.DB.Write.NewUpdate().Model((*Delivery)(nil)).Set("next_attempt_at = ?", at).
		Where("state = ? AND next_attempt_at > ?", DeliveryWaiting, at.Add(deliveryAhead)).Exec(ctx)
	if err != nil {
		return err
	}
	var ids []int64
	err = s.core.DB.Read.NewSelect().Model((*Delivery)(nil)).ColumnExpr("DISTINCT wd.webhook_id").
		Where("wd.state = ? AND wd.next_attempt_at <= ?", DeliveryWaiting, at).Scan(ctx, &ids)
	if err != nil || len(ids) == 0 {
		return err
	}
	return s.enqueueDeliverers(ctx, ids...)
}

// enqueueDeliverers schedules jobs that send the messages of webhooks.
func (s *Store) enqueueDeliverers(ctx context.Context, ids ...int64) error {
	return s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		for _, id := range ids {
			if err := s.core.Enqueue(ctx, tx, models.Work{DeliverWebhook: id}); err != nil {
				return err
			}
		}
		return nil
	})
}

// deliverDue makes an attempt for some due messages, and reports whether there were any.
func (s *Store) deliverDue(ctx context.Context, id int64) (more bool, err error) {
	found, err := s.webhookWithSecrets(ctx, id)
	if err != nil || found != nil && !found.IsEnabled() {
		return false, err
	}
	if found == nil {
		return false, failWaiting(ctx, s.core.DB.Write, id,
			"the owner of the global webhook is not an administrator any more")
	}
	due, err := s.claimDeliveries(ctx, id)
	if err != nil {
		return false, err
	}
	errs := make([]error, len(due))
	var sending sync.WaitGroup
	for i, d := range due {
		sending.Go(func() { errs[i] = s.deliver(ctx, found, d) })
	}
	sending.Wait()
	return len(due) > 0, errors.Join(errs...)
}

// webhookWithSecrets returns a webhook with its secrets, or nil if it was deleted, or is global and
// its owner is not an administrator any more.
func (s *Store) webhookWithSecrets(ctx context.Context, id int64) (*Webhook, error) {
	var rows []*Webhook
	err := s.core.DB.Write.NewSelect().Model(&rows).Where("wh.id = ?", id).Where(sends).Scan(ctx)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return rows[0], nil
}

// claimDeliveries leases due messages to the caller: no other caller gets them until the attempt is
// recorded or counts as lost.
func (s *Store) claimDeliveries(ctx context.Context, webhookID int64) (due []*Delivery, err error) {
	at := models.Now()
	next := s.core.DB.Write.NewSelect().Table("webhook_deliveries").Column("id").
		Where("webhook_id = ? AND state = ? AND next_attempt_at <= ?", webhookID, DeliveryWaiting, at).
		Order("next_attempt_at", "id").Limit(deliveriesAtOnce)
	// The conditions are repeated: if two servers choose the same message, PostgreSQL evaluates them
	// again for the second one.
	err = s.core.DB.Write.NewUpdate().Model(&due).Set("attempts = attempts + 1, attempted_at = ?, next_attempt_at = ?", at,
		at.Add(s.options.Timeout+deliveryGrace)).
		Where("id IN (?)", next).Where("state = ? AND next_attempt_at <= ?", DeliveryWaiting, at).Returning("*").Scan(ctx)
	return due, models.IgnoreNoRows(err)
}

// deliver makes an attempt and records it.
func (s *Store) deliver(ctx context.Context, w *Webhook, d *Delivery) error {
	result := s.options.Send(ctx, webhook.Message{ID: d.MessageID, URL: w.URL, Secrets: w.secrets(models.Now()),
		Body: []byte(d.Payload)})
	interrupted := ctx.Err() != nil && result.Error != ""
	ctx = context.WithoutCancel(ctx)
	if interrupted { // by a shutdown: the attempt does not count
		_, err := claimed(s.core.DB.Write.NewUpdate(), d).Set("attempts = attempts - 1, next_attempt_at = ?", models.Now()).
			Exec(ctx)
		return err
	}
	outcome, reason := "delivered", ""
	err := s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		var err error
		outcome, reason, err = s.recordAttempt(ctx, tx, d, result)
		return err
	})
	if err != nil {
		return err
	}
	if report := s.options.Delivered; report != nil {
		report(outcome)
	}
	if report := s.options.Disabled; report != nil && reason != "" {
		report(w.ID, reason)
	}
	return nil
}

// claimed restricts an update to a delivery that is still assigned to the caller. Comparing the
// number of the attempt is not enough, because it starts from 1 again when the user redelivers the
// message.
func claimed(q *bun.UpdateQuery, d *Delivery) *bun.UpdateQuery {
	return q.Model(d).Where("id = ? AND state = ? AND attempts = ? AND attempted_at = ?", d.ID, DeliveryWaiting,
		d.Attempts, d.AttemptedAt)
}

// recordAttempt stores the result of an attempt, and schedules the next one or disables the
// webhook. outcome is "delivered", "retried" or "failed"; disabled is why the webhook was disabled.
func (s *Store) recordAttempt(ctx context.Context, tx bun.Tx, d *Delivery,
	a webhook.Result) (outcome, disabled string, err error) {
	w := new(Webhook)
	err = s.core.DB.ForUpdate(tx.NewSelect().Model(w).Where("wh.id = ?", d.WebhookID)).Scan(ctx)
	if err := models.IgnoreNoRows(err); err != nil || w.ID == 0 {
		return "failed", "", err // the webhook was deleted meanwhile
	}
	at := models.Now()
	failed, was := a.Error != "", w.FailingSince
	if !failed {
		w.FailingSince = nil
	} else if d.Event != PingEvent && w.IsEnabled() {
		if was == nil {
			w.FailingSince = &at
		}
		switch {
		case a.Status == gone:
			disabled = "the receiver responded with 410 Gone"
		case at.Sub(*w.FailingSince) > maxFailing:
			disabled = "all deliveries failed for three days"
		}
	}
	d.State, d.StatusCode, d.Error, d.NextAttemptAt = DeliveryWaiting, int32(a.Status), a.Error, nil
	switch {
	case !failed:
		outcome, d.State = "delivered", DeliveryDelivered
	case disabled != "":
		outcome, d.State, d.Error = "failed", DeliveryFailed, a.Error+"; "+webhookDisabled
	case d.Event == PingEvent || int(d.Attempts) > len(deliveryWaits) || !w.IsEnabled():
		outcome, d.State = "failed", DeliveryFailed
	default:
		wait := deliveryWaits[max(d.Attempts, 1)-1]
		// Jitter, so that a receiver that was down does not get all messages at the same time.
		wait += time.Duration(rand.Int64N(int64(wait / 10)))
		next := at.Add(max(wait, a.RetryAfter))
		outcome, d.NextAttemptAt = "retried", &next
	}
	updated, err := claimed(tx.NewUpdate(), d).Column("state", "status_code", "error", "next_attempt_at").Exec(ctx)
	if err != nil {
		return "", "", err
	}
	if n, err := updated.RowsAffected(); n == 0 || err != nil {
		return outcome, "", err // another server has claimed it: the attempt took too long
	}
	if d.NextAttemptAt != nil {
		if err := s.core.Enqueue(ctx, tx, models.Work{DeliverWebhook: w.ID, At: *d.NextAttemptAt}); err != nil {
			return "", "", err
		}
	}
	switch {
	case disabled != "":
		if err := disableWebhook(ctx, tx, w, disabled); err != nil {
			return "", "", err
		}
	case w.FailingSince == was:
		return outcome, "", nil // nothing changes
	}
	_, err = tx.NewUpdate().Model(w).Column("failing_since", "disabled_at", "disabled_reason").WherePK().Exec(ctx)
	return outcome, disabled, err
}

// PingWebhook sends a test event to a webhook of the caller, in one attempt. It returns Conflict if
// the webhook is disabled, or got too many messages within an hour. It opens a transaction.
func (s *Store) PingWebhook(ctx context.Context, caller auth.Caller, id int64) (*Delivery, error) {
	d := &Delivery{MessageID: webhook.NewID(), Event: PingEvent, CreatedAt: models.Now()}
	_, err := s.withWebhook(ctx, caller, id, func(ctx context.Context, tx bun.Tx, w *Webhook) error {
		if err := w.checkEnabled(); err != nil {
			return err
		}
		if busy, err := w.isBusy(ctx, tx); err != nil {
			return err
		} else if busy {
			return models.Fail(models.Conflict, "webhook %d got %d messages within an hour, which is the limit", w.ID, maxHourly)
		}
		return s.enqueueDelivery(ctx, tx, w, d, eventData{Webhook: &webhookRef{idText(w.ID)}})
	})
	return d, err
}

// checkEnabled returns Conflict if the webhook is disabled.
func (w *Webhook) checkEnabled() error {
	if w.IsEnabled() {
		return nil
	}
	return models.Fail(models.Conflict, "webhook %d is disabled: enable it first", w.ID)
}

// RedeliverWebhook sends a message to a webhook of the caller again, with the same ID and in any
// state. Its attempts are counted again from 0. It returns NotFound for a webhook of another user,
// and Conflict if the webhook is disabled. It opens a transaction.
func (s *Store) RedeliverWebhook(ctx context.Context, caller auth.Caller, deliveryID int64) (*Delivery, error) {
	if err := managesWebhooks(caller); err != nil {
		return nil, err
	}
	d := new(Delivery)
	err := s.core.DB.Write.NewSelect().Model(d).Where("wd.id = ?", deliveryID).Scan(ctx)
	if err == nil {
		_, err = s.withWebhook(ctx, caller, d.WebhookID, func(ctx context.Context, tx bun.Tx, w *Webhook) error {
			if err := w.checkEnabled(); err != nil {
				return err
			}
			at := models.Now()
			d.State, d.Attempts, d.NextAttemptAt = DeliveryWaiting, 0, &at
			if _, err := tx.NewUpdate().Model(d).Column("state", "attempts", "next_attempt_at").WherePK().Exec(ctx); err != nil {
				return err
			}
			return s.core.Enqueue(ctx, tx, models.Work{DeliverWebhook: w.ID})
		})
	}
	if err := models.NoSuchIfNoRows(err, "delivery", deliveryID); models.CodeOf(err) == models.NotFound {
		return nil, models.NoSuch("delivery", deliveryID) // also for a webhook of another user
	}
	return d, err
}

// WebhookQueue returns the number of due messages, and for how long the oldest of them has been
// due.
func (s *Store) WebhookQueue(ctx context.Context) (waiting int, oldest time.Duration, err error) {
	var state struct {
		N     int
		Since *time.Time
	}
	at := models.Now()
	err = s.core.DB.Read.NewSelect().Model((*Delivery)(nil)).ColumnExpr("count(*) AS n, min(wd.next_attempt_at) AS since").
		Where("wd.state = ? AND wd.next_attempt_at <= ?", DeliveryWaiting, at).Scan(ctx, &state)
	if err == nil && state.Since != nil {
		oldest = at.Sub(*state.Since)
	}
	return state.N, oldest, err
}

// expireDeliveries removes old deliveries from the log.
func (s *Store) expireDeliveries(ctx context.Context) error {
	_, err := s.core.DB.ExecAgain(ctx, s.core.DB.Write.NewDelete().Model((*Delivery)(nil)).
		Where("created_at < ?", models.Now().Add(-deliveryTTL)))
	return err
}

// NodeID returns the node ID of the delivery.
func (d *Delivery) NodeID() string { return models.NodeRef{Type: "WebhookDelivery", ID: d.ID}.NodeID() }
