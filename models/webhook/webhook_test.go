package webhook

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/webhook"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/modelstest"
)

// TestGlobalWebhookOfFormerAdministrator checks that a user who is no longer an administrator can
// delete their global webhook, but not send its messages, which concern all users, anywhere.
func TestGlobalWebhookOfFormerAdministrator(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, ada auth.Caller) {
		ctx := t.Context()
		s.options = Options{
			Check:   func(string) error { return nil },
			Send:    func(context.Context, webhook.Message) webhook.Result { return webhook.Result{Status: 200} },
			Timeout: time.Minute,
		}
		admin := modelstest.NewUser(t, s.core, "eve")
		admin.Role, admin.Scopes = auth.Administrator, auth.Scopes{auth.Read, auth.Write, auth.Admin}
		if _, err := s.core.DB.Write.NewRaw("UPDATE users SET is_admin = ? WHERE id = ?", true, admin.UserID).
			Exec(ctx); err != nil {
			t.Fatal(err)
		}
		w, _, err := s.CreateWebhook(ctx, admin, Input{URL: "https://receiver.example/", Events: []Event{ThingPublishedEvent},
			IsGlobal: true})
		if err != nil {
			t.Fatal(err)
		}
		modelstest.Published(t, s.core, ada)
		var delivery int64
		if err := s.core.DB.Read.NewRaw("SELECT id FROM webhook_deliveries WHERE webhook_id = ?", w.ID).
			Scan(ctx, &delivery); err != nil {
			t.Fatal(err)
		}
		former := admin
		former.Role, former.Scopes = auth.Member, auth.Scopes{auth.Read, auth.Write}
		address := "https://other.example/"
		for _, c := range []struct {
			name string
			call func(caller auth.Caller) error
		}{
			{"updateWebhook", func(c auth.Caller) error {
				_, err := s.UpdateWebhook(ctx, c, Change{ID: w.ID, URL: &address})
				return err
			}},
			{"rotateWebhookSecret", func(c auth.Caller) error { _, _, err := s.RotateWebhookSecret(ctx, c, w.ID); return err }},
			{"redeliverWebhook", func(c auth.Caller) error { _, err := s.RedeliverWebhook(ctx, c, delivery); return err }},
		} {
			if err := c.call(former); models.CodeOf(err) != models.Forbidden {
				t.Errorf("%s by a former administrator: %v, want %s", c.name, err, models.Forbidden)
			}
			if err := c.call(admin); err != nil {
				t.Errorf("%s by an administrator: %v", c.name, err)
			}
		}
		if err := s.DeleteWebhook(ctx, former, w.ID); err != nil {
			t.Errorf("deleteWebhook: %v", err)
		}
	})
}

// TestWebhooksOfFormerUsers checks that messages that are waiting are not sent if the owner of the
// webhook was disabled, or is not an administrator any more and the webhook is global.
func TestWebhooksOfFormerUsers(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, ada auth.Caller) {
		ctx := t.Context()
		var sent atomic.Int64 // messages are sent concurrently
		s.options = Options{
			Check:   func(string) error { return nil },
			Send:    func(context.Context, webhook.Message) webhook.Result { sent.Add(1); return webhook.Result{Status: 200} },
			Timeout: time.Minute,
		}
		eve := modelstest.NewUser(t, s.core, "eve")
		role := func(isAdmin bool) {
			t.Helper()
			if _, err := s.core.DB.Write.NewRaw("UPDATE users SET is_admin = ? WHERE id = ?", isAdmin, eve.UserID).
				Exec(ctx); err != nil {
				t.Fatal(err)
			}
		}
		role(true)
		hook := func(owner string, global bool) int64 {
			t.Helper()
			w, _, err := s.Admin().
				CreateWebhook(ctx, owner, Input{URL: "https://receiver.example/", Events: []Event{ThingPublishedEvent},
					IsGlobal: global})
			if err != nil {
				t.Fatal(err)
			}
			return w.ID
		}
		global, own := hook("eve", true), hook("ada", false)
		// deliver delivers the messages of a webhook, and checks how many are sent and that the others
		// have an error.
		deliver := func(name string, id int64, wantSent int64, wantError string) {
			t.Helper()
			sent.Store(0)
			if err := s.DeliverWebhook(ctx, id); err != nil || sent.Load() != wantSent {
				t.Errorf("%s: %d messages are sent (%v), want %d", name, sent.Load(), err, wantSent)
			}
			last := new(Delivery)
			if err := s.core.DB.Read.NewSelect().Model(last).Where("wd.webhook_id = ?", id).Order("wd.id DESC").Limit(1).
				Scan(ctx); err != nil {
				t.Fatal(err)
			}
			if last.Error != wantError || last.State == DeliveryWaiting || last.NextAttemptAt != nil {
				t.Errorf("%s: the message is %s with the error %q, want the error %q", name, last.State, last.Error, wantError)
			}
		}
		modelstest.Published(t, s.core, ada)
		role(false)
		deliver("a former administrator", global, 0, "the owner of the global webhook is not an administrator any more")
		modelstest.Published(t, s.core, ada)
		role(true)
		modelstest.Published(t, s.core, ada)
		deliver("an administrator again", global, 1, "")
		deliver("an active user", own, 3, "")

		modelstest.Published(t, s.core, ada)
		if _, err := accounts(s).Admin().SuspendAndRevokeTokens(ctx, "ada", "No longer here."); err != nil {
			t.Fatal(err)
		}
		deliver("a disabled user", own, 0, webhookDisabled)
		if _, err := accounts(s).Admin().UnsuspendUser(ctx, "ada"); err != nil {
			t.Fatal(err)
		}
		found, err := s.WebhooksByID(ctx, AllFields, []int64{own})
		if err != nil || found[own].IsEnabled() || found[own].DisabledReason != disabledWithOwner {
			t.Errorf("the webhook of a user who was disabled is %+v (%v), want it to stay disabled", found[own], err)
		}
	})
}

// TestOperatorEnablesWebhooks checks that the operator can disable and enable webhooks, also those
// that fail, but not enable one whose owner may not have it.
func TestOperatorEnablesWebhooks(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, ada auth.Caller) {
		ctx := t.Context()
		s.options = Options{Check: func(string) error { return nil }}
		w, _, err := s.CreateWebhook(ctx, ada, Input{URL: "https://receiver.example/", Events: []Event{ThingPublishedEvent}})
		if err != nil {
			t.Fatal(err)
		}
		modelstest.Published(t, s.core, ada)
		check := func(doing, reason string, waiting int64) {
			t.Helper()
			w, err := s.Webhook(ctx, ada, AllFields, w.ID)
			if err != nil {
				t.Fatal(err)
			}
			n, err := s.core.DB.Read.NewSelect().Model((*Delivery)(nil)).Where("wd.webhook_id = ? AND wd.state = ?", w.ID,
				DeliveryWaiting).Count(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if w.IsEnabled() != (reason == "") || w.DisabledReason != reason || w.FailingSince != nil && reason == "" ||
				n != waiting {
				t.Errorf("%s: got %+v with %d waiting deliveries, want the reason %q and %d deliveries", doing, w, n, reason,
					waiting)
			}
		}
		enable := func(enabled bool, want models.Code) {
			t.Helper()
			if err := s.Admin().EnableWebhook(ctx, w.ID, enabled); want == "" && err != nil || want != "" &&
				models.CodeOf(err) != want {
				t.Errorf("enable the webhook (%v): got the error %v, want %q", enabled, err, want)
			}
		}
		change := func(statement string, args ...any) {
			t.Helper()
			if _, err := s.core.DB.Write.NewRaw(statement, args...).Exec(ctx); err != nil {
				t.Fatal(err)
			}
		}
		enable(true, "")
		check("enable one that is enabled", "", 1)
		change("UPDATE webhooks SET failing_since = CURRENT_TIMESTAMP")
		enable(false, "")
		check("disable", disabledByOperator, 0)
		enable(true, "")
		check("enable", "", 0)

		change("UPDATE users SET suspended_at = CURRENT_TIMESTAMP WHERE id = ?", ada.UserID)
		enable(false, "")
		enable(true, models.Conflict)
		check("enable one of a suspended user", disabledByOperator, 0)
		change("UPDATE users SET suspended_at = NULL WHERE id = ?", ada.UserID)
		change("UPDATE webhooks SET is_global = ?", true)
		enable(true, models.Conflict)
		change("UPDATE users SET is_admin = ? WHERE id = ?", true, ada.UserID)
		enable(true, "")
		check("enable a global one of an administrator", "", 0)
		if err := s.Admin().EnableWebhook(ctx, w.ID+1, true); models.CodeOf(err) != models.NotFound {
			t.Errorf("enable a webhook that does not exist: got the error %v", err)
		}
	})
}

// TestSecretsOfWebhook checks that messages are signed with the old secret, too, until the end of
// the time for which it is kept.
func TestSecretsOfWebhook(t *testing.T) {
	until := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	rotated := &Webhook{Secret: "new", OldSecret: "old", OldSecretUntil: &until}
	for _, c := range []struct {
		name    string
		webhook *Webhook
		at      time.Time
		want    []string
	}{
		{"before the end", rotated, until.Add(-time.Microsecond), []string{"new", "old"}},
		{"at the end", rotated, until, []string{"new"}},
		{"never rotated", &Webhook{Secret: "new"}, until, []string{"new"}},
	} {
		if got := c.webhook.secrets(c.at); !slices.Equal(got, c.want) {
			t.Errorf("%s: got secrets %q, want %q", c.name, got, c.want)
		}
	}
}
