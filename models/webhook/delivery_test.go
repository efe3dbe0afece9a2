package webhook

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/webhook"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/modelstest"
)

// TestOutcomesOfAttempts checks that the reported outcome of an attempt is that which is stored
// with the delivery, also if the attempt disables the webhook, and that only an attempt that will
// be repeated schedules a job.
func TestOutcomesOfAttempts(t *testing.T) {
	jobs := 0
	eachStoreDuring(t, func() { jobs++ }, func(t *testing.T, s *Store, ada auth.Caller) {
		ctx := t.Context()
		var result webhook.Result
		var outcomes, disabled []string
		s.options = Options{
			Check:   func(string) error { return nil },
			Send:    func(context.Context, webhook.Message) webhook.Result { return result },
			Timeout: time.Minute,
		}
		s.options.Delivered = func(outcome string) { outcomes = append(outcomes, outcome) }
		s.options.Disabled = func(_ int64, reason string) { disabled = append(disabled, reason) }
		long := models.Now().Add(-maxFailing - time.Hour)
		for _, c := range []struct {
			name         string
			result       webhook.Result
			failingSince *time.Time
			outcome      string
			state        DeliveryState
			err          string
			jobs         int
			disabled     []string
		}{
			{"200", webhook.Result{Status: 200}, &long, "delivered", DeliveryDelivered, "", 0, nil},
			{"500", webhook.Result{Status: 500, Error: "HTTP 500"}, nil, "retried", DeliveryWaiting, "HTTP 500", 1, nil},
			{"503 for an hour", webhook.Result{Status: 503, Error: "HTTP 503", RetryAfter: time.Hour}, nil, "retried",
				DeliveryWaiting, "HTTP 503", 1, nil},
			{"500 for three days", webhook.Result{Status: 500, Error: "HTTP 500"}, &long, "failed", DeliveryFailed,
				"HTTP 500; " + webhookDisabled, 0, []string{"all deliveries failed for three days"}},
			{"410", webhook.Result{Status: 410, Error: "HTTP 410"}, nil, "failed", DeliveryFailed, "HTTP 410; " +
				webhookDisabled, 0, []string{"the receiver responded with 410 Gone"}},
		} {
			w, _, err := s.Admin().
				CreateWebhook(ctx, "ada", Input{URL: "https://receiver.example/", Events: []Event{ThingPublishedEvent}})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.core.DB.Write.NewRaw("UPDATE webhooks SET failing_since = ? WHERE id = ?", c.failingSince, w.ID).
				Exec(ctx); err != nil {
				t.Fatal(err)
			}
			modelstest.Published(t, s.core, ada)
			result, outcomes, disabled, jobs = c.result, nil, nil, 0
			if err := s.DeliverWebhook(ctx, w.ID); err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			d := new(Delivery)
			if err := s.core.DB.Read.NewSelect().Model(d).Where("wd.webhook_id = ?", w.ID).Scan(ctx); err != nil {
				t.Fatal(err)
			}
			if after := c.result.RetryAfter; after != 0 && d.NextAttemptAt.Before(d.AttemptedAt.Add(after)) {
				t.Errorf("%s: the next attempt is at %v, want it %s after %v", c.name, d.NextAttemptAt, after, d.AttemptedAt)
			}
			if d.State != c.state || d.Error != c.err || (d.NextAttemptAt != nil) != (c.state == DeliveryWaiting) {
				t.Errorf("%s: the delivery is %s with the error %q and the next attempt at %v, want %s and %q", c.name, d.State,
					d.Error, d.NextAttemptAt, c.state, c.err)
			}
			if strings.Join(outcomes, " ") != c.outcome || jobs != c.jobs || !slices.Equal(disabled, c.disabled) {
				t.Errorf("%s: outcomes %q, %d jobs, disabled %q, want %q, %d and %q", c.name, outcomes, jobs, disabled, c.outcome,
					c.jobs, c.disabled)
			}
			if err := s.Admin().DeleteWebhook(ctx, w.ID); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestAttemptsOfDelivery checks the number of attempts to send a message, and the times between
// them, if all of them fail.
func TestAttemptsOfDelivery(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, ada auth.Caller) {
		ctx := t.Context()
		attempts := 0
		s.options = Options{
			Check: func(string) error { return nil },
			Send: func(context.Context, webhook.Message) webhook.Result {
				attempts++
				return webhook.Result{Status: 500, Error: "HTTP 500"}
			},
			Timeout: time.Minute,
		}
		w, _, err := s.Admin().
			CreateWebhook(ctx, "ada", Input{URL: "https://receiver.example/", Events: []Event{ThingPublishedEvent}})
		if err != nil {
			t.Fatal(err)
		}
		modelstest.Published(t, s.core, ada)
		attempt := func() *Delivery {
			t.Helper()
			if err := s.DeliverWebhook(ctx, w.ID); err != nil {
				t.Fatal(err)
			}
			d := new(Delivery)
			if err := s.core.DB.Read.NewSelect().Model(d).Where("wd.webhook_id = ?", w.ID).Scan(ctx); err != nil {
				t.Fatal(err)
			}
			return d
		}
		for i, want := range []time.Duration{10 * time.Second, time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour,
			6 * time.Hour, 16 * time.Hour} {
			d := attempt()
			if d.NextAttemptAt == nil {
				t.Fatalf("after attempt %d: the delivery is %s, want another attempt", i+1, d.State)
			}
			// The attempt itself takes time on a slow machine.
			if wait := d.NextAttemptAt.Sub(*d.AttemptedAt); wait < want || wait > want+want/10+time.Minute {
				t.Errorf("after attempt %d: the next one is in %s, want %s to 10 %% more", i+1, wait, want)
			}
			if _, err := s.core.DB.Write.NewRaw("UPDATE webhook_deliveries SET next_attempt_at = ? WHERE id = ?", models.Now(),
				d.ID).Exec(ctx); err != nil {
				t.Fatal(err)
			}
		}
		if d := attempt(); d.State != DeliveryFailed || d.NextAttemptAt != nil || attempts != 8 {
			t.Errorf("after %d attempts: the delivery is %s, want that it has failed after 8", attempts, d.State)
		}
	})
}

// TestDeliveryAfterClockWasAhead checks that a message is sent although the time of its next
// attempt was set while the clock was a year ahead.
func TestDeliveryAfterClockWasAhead(t *testing.T) {
	jobs := 0
	eachStoreDuring(t, func() { jobs++ }, func(t *testing.T, s *Store, ada auth.Caller) {
		ctx, sent := t.Context(), 0
		s.options = Options{
			Check: func(string) error { return nil },
			Send: func(context.Context, webhook.Message) webhook.Result {
				sent++
				return webhook.Result{Status: 200}
			},
			Timeout: time.Minute,
		}
		w, _, err := s.Admin().
			CreateWebhook(ctx, "ada", Input{URL: "https://receiver.example/", Events: []Event{ThingPublishedEvent}})
		if err != nil {
			t.Fatal(err)
		}
		modelstest.Published(t, s.core, ada)
		for _, ahead := range []time.Duration{24 * time.Hour, 365 * 24 * time.Hour} {
			if _, err := s.core.DB.Write.NewRaw("UPDATE webhook_deliveries SET next_attempt_at = ?", models.Now().Add(ahead)).
				Exec(ctx); err != nil {
				t.Fatal(err)
			}
			jobs = 0
			if err := errors.Join(s.DeliverOverdue(ctx), s.DeliverWebhook(ctx, w.ID)); err != nil {
				t.Fatal(err)
			}
			want := 0
			if ahead > deliveryTTL {
				want = 1
			}
			if sent != want || jobs != want {
				t.Errorf("the next attempt is in %s: %d messages were sent, %d jobs scheduled, want %d", ahead, sent, jobs, want)
			}
		}
	})
}

// TestBusyWebhook checks that a user's webhook gets a limited number of messages in an hour, and
// that this does not affect global webhooks.
func TestBusyWebhook(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, ada auth.Caller) {
		ctx := t.Context()
		s.options.Check = func(string) error { return nil }
		if _, err := s.core.Admin().CreateUser(ctx, "root", true); err != nil {
			t.Fatal(err)
		}
		hook := func(owner string, global bool) *Webhook {
			w, _, err := s.Admin().
				CreateWebhook(ctx, owner, Input{URL: "https://receiver.example/", Events: []Event{ThingPublishedEvent},
					IsGlobal: global})
			if err != nil {
				t.Fatal(err)
			}
			return w
		}
		own, global := hook("ada", false), hook("root", true)
		before := models.Now().Add(-30 * time.Minute)
		for _, w := range []*Webhook{own, global} {
			rows := make([]*Delivery, maxHourly)
			for i := range rows {
				rows[i] = &Delivery{WebhookID: w.ID, Event: ThingPublishedEvent, Payload: "{}", State: DeliveryDelivered,
					CreatedAt: before}
			}
			if _, err := s.core.DB.Write.NewInsert().Model(&rows).Exec(ctx); err != nil {
				t.Fatal(err)
			}
		}
		waiting := func(w *Webhook, want int64) {
			t.Helper()
			n, err := s.core.DB.Read.NewSelect().Model((*Delivery)(nil)).Where("wd.webhook_id = ? AND wd.state = ?", w.ID,
				DeliveryWaiting).Count(ctx)
			if err != nil || n != want {
				t.Errorf("%d messages are waiting, want %d: %v", n, want, err)
			}
		}
		modelstest.Published(t, s.core, ada)
		waiting(own, 0)
		waiting(global, 1)
		if _, err := s.PingWebhook(ctx, ada, own.ID); models.CodeOf(err) != models.Conflict {
			t.Errorf("a ping: %v, want Conflict", err)
		}
		if _, err := s.core.DB.Write.NewRaw("UPDATE webhook_deliveries SET created_at = ?", models.Now().
			Add(-61*time.Minute)).Exec(ctx); err != nil {
			t.Fatal(err)
		}
		modelstest.Published(t, s.core, ada)
		waiting(own, 1)
		waiting(global, 2)
	})
}
