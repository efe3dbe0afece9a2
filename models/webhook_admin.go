package models

import (
	"context"
	"slices"
	"strings"

	"github.com/meshyard/meshyard/internal/apierror"
)

// CreateWebhook creates a webhook of a user and returns its secret, which cannot be read again. It
// opens a transaction.
func (a Admin) CreateWebhook(ctx context.Context, username string, n NewWebhook) (*Webhook, string, error) {
	u, err := a.User(ctx, username)
	if err != nil {
		return nil, "", err
	}
	if n.IsGlobal && !u.IsAdmin {
		return nil, "", badInput("username", "%s is not an administrator, and only those can have a global webhook", u.Username)
	}
	for _, e := range n.Events {
		if !slices.Contains(webhookEvents, e) {
			return nil, "", badInput("events", "events: %.60q is not one of %s", e, eventNames(webhookEvents)).WithFieldCode(apierror.FieldInvalid)
		}
	}
	return a.store.createWebhook(ctx, u.ID, n)
}

func eventNames(events []WebhookEvent) string {
	names := make([]string, len(events))
	for i, e := range events {
		names[i] = string(e)
	}
	return strings.Join(names, ", ")
}

// EachWebhook calls fn with every webhook and the name of its owner, in the order of the IDs.
func (a Admin) EachWebhook(ctx context.Context, fn func(w *Webhook, owner string) error) error {
	var all []*Webhook
	if err := a.store.db.Read.NewSelect().Model(&all).ExcludeColumn("secret", "old_secret").Order("wh.id").Scan(ctx); err != nil {
		return err
	}
	for some := range slices.Chunk(all, objectsAtOnce) {
		ids := make([]int64, len(some))
		for i, w := range some {
			ids[i] = w.OwnerID
		}
		owners, err := a.store.UsersByID(ctx, ids)
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

// DeleteWebhook deletes a webhook of any user.
func (a Admin) DeleteWebhook(ctx context.Context, id int64) error {
	return deleteWebhook(ctx, a.store.db, id, "1 = 1")
}

// WebhookDeliveries returns up to limit deliveries to a webhook of any user, the latest first.
func (a Admin) WebhookDeliveries(ctx context.Context, webhookID int64, limit int) (latest []*WebhookDelivery, err error) {
	if _, err := readOne(ctx, a.store.WebhooksByID, "webhook", webhookID); err != nil {
		return nil, err
	}
	err = a.store.db.Read.NewSelect().Model(&latest).Where("wd.webhook_id = ?", webhookID).Order("wd.id DESC").Limit(int64(limit)).Scan(ctx)
	return latest, err
}
