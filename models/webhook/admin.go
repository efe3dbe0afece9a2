package webhook

import (
	"context"
	"slices"
	"strings"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"

	"github.com/meshyard/meshyard/internal/apierror"
	"github.com/meshyard/meshyard/models"
)

// CreateWebhook creates a webhook of a user and returns its secret, which cannot be read again. It
// opens a transaction.
func (a Admin) CreateWebhook(ctx context.Context, username string, n Input) (*Webhook, string, error) {
	u, err := a.store.core.Admin().User(ctx, username)
	if err != nil {
		return nil, "", err
	}
	if n.IsGlobal && !u.IsAdmin {
		return nil, "", models.Invalid("username", "%s is not an administrator, and only those can have a global webhook",
			u.Username)
	}
	for _, e := range n.Events {
		if !slices.Contains(webhookEvents, e) {
			return nil, "", models.Invalid("events", "events: %.60q is not one of %s", e, eventNames(webhookEvents)).
				WithFieldCode(apierror.FieldInvalid)
		}
	}
	return a.store.createWebhook(ctx, u.ID, n)
}

func eventNames(events []Event) string {
	names := make([]string, len(events))
	for i, e := range events {
		names[i] = string(e)
	}
	return strings.Join(names, ", ")
}

// EachWebhook calls fn with every webhook and the name of its owner, in the order of the IDs.
func (a Admin) EachWebhook(ctx context.Context, fn func(w *Webhook, owner string) error) error {
	var all []*Webhook
	if err := a.store.core.DB.Read.NewSelect().Model(&all).ExcludeColumn("secret", "old_secret").Order("wh.id").
		Scan(ctx); err != nil {
		return err
	}
	for some := range slices.Chunk(all, models.ObjectsAtOnce) {
		ids := make([]int64, len(some))
		for i, w := range some {
			ids[i] = w.OwnerID
		}
		owners, err := a.store.core.UsersByID(ctx, auth.Caller{}, models.UserAccess, ids)
		if err != nil {
			return err
		}
		for _, w := range some {
			if err := fn(w, owners[w.OwnerID].Username); err != nil {
				return err
			}
		}
	}
	return nil
}

// EnableWebhook enables or disables a webhook of any user. Disabling it makes its waiting
// deliveries fail. EnableWebhook returns Conflict if the owner is suspended, or if they are no
// longer an administrator and the webhook is global. It opens a transaction.
func (a Admin) EnableWebhook(ctx context.Context, id int64, enabled bool) error {
	return a.store.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		w := new(Webhook)
		if err := tx.NewSelect().Model(w).Column("owner_id").Where("wh.id = ?", id).Scan(ctx); err != nil {
			return models.NoSuchIfNoRows(err, "webhook", id)
		}
		// A suspension also locks the owner first, and then their webhooks.
		owner, err := a.store.core.LockAccount(ctx, tx, w.OwnerID)
		if err != nil {
			return err
		}
		if err := a.store.core.DB.ForUpdate(tx.NewSelect().Model(w).Where("wh.id = ?", id)).Scan(ctx); err != nil {
			return models.NoSuchIfNoRows(err, "webhook", id)
		}
		switch {
		case enabled && owner.SuspendedAt != nil:
			return models.Fail(models.Conflict, "webhook %d belongs to %s, who is suspended", id, owner.Username)
		case enabled && w.IsGlobal && !owner.IsAdmin:
			return models.Fail(models.Conflict, "webhook %d is global and belongs to %s, who is not an administrator", id,
				owner.Username)
		}
		if err := w.setEnabled(ctx, tx, enabled, disabledByOperator); err != nil {
			return err
		}
		return w.store(ctx, tx)
	})
}

// DeleteWebhook deletes a webhook of any user.
func (a Admin) DeleteWebhook(ctx context.Context, id int64) error {
	return deleteWebhook(ctx, a.store.core.DB, id, "1 = 1")
}

// WebhookDeliveries returns up to limit deliveries to a webhook of any user, the latest first.
func (a Admin) WebhookDeliveries(ctx context.Context, webhookID int64, limit int) (latest []*Delivery, err error) {
	if _, err := models.One(a.store.core, ctx, auth.Caller{}, webhooks, AllFields, "webhook", webhookID); err != nil {
		return nil, err
	}
	err = a.store.core.DB.Read.NewSelect().Model(&latest).Where("wd.webhook_id = ?", webhookID).Order("wd.id DESC").
		Limit(int64(limit)).Scan(ctx)
	return latest, err
}
