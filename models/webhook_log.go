package models

import (
	"context"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
)

// WebhookDeliveriesOf lists the deliveries to a webhook in a state, or all if the state is empty,
// the latest first. It does not check permissions: the caller must own the webhook.
func (s *Store) WebhookDeliveriesOf(state DeliveryState) List {
	return List{DB: s.db.DB, By: database.Order{ID: "wd.id"}, Rows: func(webhookID, _ any) *bun.SelectQuery {
		q := s.db.Read.NewSelect().TableExpr("webhook_deliveries AS wd").Where("wd.webhook_id = ?", webhookID)
		if state != "" {
			q = q.Where("wd.state = ?", state)
		}
		return q
	}}
}

// WebhookDeliveriesByID returns the deliveries with the given IDs. It does not check permissions,
// see [WebhookDelivery.Allows].
func (s *Store) WebhookDeliveriesByID(ctx context.Context, ids []int64) (map[int64]*WebhookDelivery, error) {
	withOwner := func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.ColumnExpr("wd.*").ColumnExpr("(SELECT wh.owner_id FROM webhooks AS wh WHERE wh.id = wd.webhook_id) AS owner_id")
	}
	return byID(ctx, s.db, ids, withOwner, "wd.id", func(d *WebhookDelivery) int64 { return d.ID })
}

// Allows returns nil if the webhook belongs to the caller, else NotFound. It returns Forbidden to
// applications.
func (d *WebhookDelivery) Allows(caller auth.Caller) error {
	if err := managesWebhooks(caller); err != nil {
		return err
	}
	if d.OwnerID != caller.UserID {
		return notFound("delivery", d.ID)
	}
	return nil
}
