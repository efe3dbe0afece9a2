package webhook

import (
	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/models"
)

var deliveries = database.NewTable(func(d *Delivery) (int64, *database.Listed) { return d.ID, &d.Listed },
	database.Computed{Fields: []string{"OwnerID"}, Add: func(q *bun.SelectQuery, _ database.Row) *bun.SelectQuery {
		return q.ColumnExpr("(SELECT wh.owner_id FROM webhooks AS wh WHERE wh.id = wd.webhook_id) AS owner_id")
	}},
)

// AllWebhookDeliveryFields has all fields of a delivery.
var AllWebhookDeliveryFields = deliveries.All()

type deliveriesTo struct{ state DeliveryState }

func (l deliveriesTo) Select(b *database.Builder, webhookID any) *bun.SelectQuery {
	q := b.Select().TableExpr("webhook_deliveries AS wd").Where("wd.webhook_id = ?", webhookID)
	if l.state != "" {
		q = q.Where("wd.state = ?", l.state)
	}
	return q
}

// WebhookDeliveriesOf lists the deliveries to a webhook in a state, or all if the state is empty,
// the latest first. It does not check permissions: the caller must own the webhook.
func (s *Store) WebhookDeliveriesOf(state DeliveryState) models.List {
	return models.List{DB: s.core.DB.DB, By: database.Order{ID: "wd.id"}, Rows: deliveriesTo{state}}
}

// Allows returns nil if the webhook belongs to the caller, else NotFound. It returns Forbidden to
// applications.
func (d *Delivery) Allows(caller auth.Caller) error {
	if err := managesWebhooks(caller); err != nil {
		return err
	}
	if d.OwnerID != caller.UserID {
		return models.NoSuch("delivery", d.ID)
	}
	return nil
}
