package server

import (
	"context"

	"github.com/meshyard/meshyard/internal/webhook/sender"
	"github.com/meshyard/meshyard/models/webhook"
)

// webhooks returns the options for sending messages to webhooks.
func (a *Server) webhooks() webhook.Options {
	s := sender.New(a.Settings.WebhookTimeout, a.Settings.WebhookAllowPrivate, a.Settings.Version)
	return webhook.Options{Check: s.Check, Send: s.Send, Timeout: a.Settings.WebhookTimeout, BaseURL: a.Settings.BaseURL,
		Delivered: a.metrics.Delivery, Disabled: a.webhookDisabled}
}

// deliverWebhook sends the due messages of a webhook. When the server stops, it cancels the attempt
// in progress and does not wait for the receiver. The next start sends those messages again.
func (a *Server) deliverWebhook(ctx context.Context, id int64) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-a.stopping:
			cancel()
		case <-ctx.Done():
		}
	}()
	return a.Store.Webhook.DeliverWebhook(ctx, id)
}

func (a *Server) webhookDisabled(id int64, reason string) {
	a.Logger.Warn("disabled a webhook", "webhook_id", id, "reason", reason)
}
