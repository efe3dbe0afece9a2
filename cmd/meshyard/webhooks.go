package main

import (
	"context"
	"log/slog"
	"strconv"

	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/models/catalogue"
	"github.com/meshyard/meshyard/models/webhook"
)

type webhookCreateCmd struct {
	Owner       string   `arg:"" help:"Username of the owner, whose content the events are about."`
	URL         string   `arg:"" name:"url" help:"URL that receives the events, beginning with https://."`
	Event       []string `help:"Events to send; repeat the flag for several. docs/webhooks.md lists them. Default: ${default}." default:"thing.published,make.created,comment.created" placeholder:"EVENT"`
	Global      bool     `help:"Send the events of everyone's public content, and of moderation. The owner must be an administrator."`
	Description string   `help:"What the webhook is for." placeholder:"TEXT"`
}

func (c *webhookCreateCmd) Run(ctx context.Context, s config.Settings, logger *slog.Logger) error {
	events := make([]webhook.Event, len(c.Event))
	for i, e := range c.Event {
		events[i] = webhook.Event(e)
	}
	return withStore(ctx, s, logger, func(store *catalogue.Catalogue) error {
		w, secret, err := store.Webhook.Admin().
			CreateWebhook(ctx, c.Owner, webhook.Input{URL: c.URL, Events: events, Description: c.Description,
				IsGlobal: c.Global})
		if err != nil {
			return err
		}
		stdout.println("id", w.ID)
		stdout.println("secret", secret)
		return nil
	})
}

type webhookListCmd struct{}

func (*webhookListCmd) Run(ctx context.Context, s config.Settings, logger *slog.Logger) error {
	return withStore(ctx, s, logger, func(store *catalogue.Catalogue) error {
		out := table("ID", "OWNER", "STATE", "URL", "EVENTS")
		err := store.Webhook.Admin().EachWebhook(ctx, func(w *webhook.Webhook, owner string) error {
			state := "enabled"
			switch {
			case !w.IsEnabled():
				state = "disabled: " + w.DisabledReason
			case w.FailingSince != nil:
				state = "failing since " + when(w.FailingSince)
			}
			if w.IsGlobal {
				owner += " (global)"
			}
			out.row(strconv.FormatInt(w.ID, 10), owner, state, w.URL, w.Events)
			return nil
		})
		if err != nil {
			return err
		}
		return out.Flush()
	})
}

type webhookEnableCmd struct {
	ID int64 `arg:"" name:"id" help:"Id, as printed by webhook list."`
}

func (c *webhookEnableCmd) Run(ctx context.Context, s config.Settings, logger *slog.Logger) error {
	return enableWebhook(ctx, s, logger, c.ID, true)
}

type webhookDisableCmd struct {
	ID int64 `arg:"" name:"id" help:"Id, as printed by webhook list."`
}

func (c *webhookDisableCmd) Run(ctx context.Context, s config.Settings, logger *slog.Logger) error {
	return enableWebhook(ctx, s, logger, c.ID, false)
}

func enableWebhook(ctx context.Context, s config.Settings, logger *slog.Logger, id int64, enabled bool) error {
	return withStore(ctx, s, logger, func(store *catalogue.Catalogue) error {
		if err := store.Webhook.Admin().EnableWebhook(ctx, id, enabled); err != nil {
			return err
		}
		done := "disabled webhook"
		if enabled {
			done = "enabled webhook"
		}
		stdout.println(done, id)
		return nil
	})
}

type webhookDeleteCmd struct {
	ID int64 `arg:"" name:"id" help:"Id, as printed by webhook list."`
}

func (c *webhookDeleteCmd) Run(ctx context.Context, s config.Settings, logger *slog.Logger) error {
	return withStore(ctx, s, logger, func(store *catalogue.Catalogue) error {
		if err := store.Webhook.Admin().DeleteWebhook(ctx, c.ID); err != nil {
			return err
		}
		stdout.println("deleted webhook", c.ID)
		return nil
	})
}

type webhookDeliveriesCmd struct {
	ID    int64 `arg:"" name:"id" help:"Id, as printed by webhook list."`
	Limit int   `help:"Number of deliveries. Default: ${default}." default:"50" placeholder:"N"`
}

func (c *webhookDeliveriesCmd) Run(ctx context.Context, s config.Settings, logger *slog.Logger) error {
	return withStore(ctx, s, logger, func(store *catalogue.Catalogue) error {
		latest, err := store.Webhook.Admin().WebhookDeliveries(ctx, c.ID, max(c.Limit, 1))
		if err != nil {
			return err
		}
		out := table("ID", "EVENT", "CREATED", "STATE", "ATTEMPTS", "STATUS", "NEXT ATTEMPT", "ERROR")
		for _, d := range latest {
			status := ""
			if d.StatusCode != 0 {
				status = strconv.Itoa(int(d.StatusCode))
			}
			out.row(strconv.FormatInt(d.ID, 10), string(d.Event), when(&d.CreatedAt), string(d.State),
				strconv.Itoa(int(d.Attempts)), status, when(d.NextAttemptAt), d.Error)
		}
		return out.Flush()
	})
}
