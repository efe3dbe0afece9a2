package models

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
)

// beside calls acts while a transaction is open in which hold has run. It calls each of them, and
// finally commits the transaction, as soon as the one before waits for a lock or has ended. It
// returns the errors of acts.
func beside(t *testing.T, s *Store, hold func(ctx context.Context, tx bun.Tx) error, acts ...func() error) error {
	t.Helper()
	done := make([]chan error, len(acts))
	err := s.db.InTx(t.Context(), func(ctx context.Context, tx bun.Tx) error {
		if err := hold(ctx, tx); err != nil {
			return err
		}
		before := s.db.Write.Stats().WaitCount
		for i, act := range acts {
			done[i] = make(chan error, 1)
			go func() { done[i] <- act() }()
			for waits := int64(0); waits <= int64(i) && len(done[i]) == 0; time.Sleep(time.Millisecond) {
				if s.db.Engine == database.SQLite { // acts wait for the connection of this transaction
					waits = s.db.Write.Stats().WaitCount - before
					continue
				}
				var err error
				waits, err = s.db.Read.NewSelect().TableExpr("pg_stat_activity").Where("datname = current_database() AND wait_event_type = 'Lock'").Count(ctx)
				if err != nil {
					return err
				}
			}
		}
		return nil
	})
	for _, ended := range done {
		err = errors.Join(err, <-ended)
	}
	return err
}

// TestDeadlocksAreRepeated checks that statements that lock several rows are repeated if PostgreSQL
// aborts them to resolve a deadlock. SQLite has no row locks.
func TestDeadlocksAreRepeated(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, ada auth.Caller) {
		if s.db.Engine == database.SQLite {
			return
		}
		ctx := t.Context()
		s.options.Webhooks.Check = func(string) error { return nil }
		bob := newUser(t, s, "bob")
		thing, _ := published(t, s, ada)
		for _, by := range []auth.Caller{bob, newUser(t, s, "cyd")} {
			if err := s.Like(ctx, by, Target{OnThing, thing.ID}); err != nil {
				t.Fatal(err)
			}
		}
		_, invitation, err := s.Admin().CreateInvitation(ctx, NewInvitation{})
		if err != nil {
			t.Fatal(err)
		}
		_, application, err := s.Admin().RegisterApplication(ctx, NewApplication{Name: "App"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.IssueOwn(ctx, application.oauth()); err != nil {
			t.Fatal(err)
		}
		hook, _, err := s.CreateWebhook(ctx, ada, NewWebhook{URL: "https://receiver.example/", Events: []WebhookEvent{ThingPublishedEvent}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.PingWebhook(ctx, ada, hook.ID); err != nil {
			t.Fatal(err)
		}
		for _, test := range []struct {
			first, second string // the rows that act locks, in this order
			act           func() error
		}{
			{"notifications WHERE actor_id = 2", "notifications WHERE actor_id = 3", func() error { _, err := s.MarkNotificationsRead(ctx, ada, nil); return err }},
			{"invitations", "account_links", func() error { return s.Admin().RevokeInvitation(ctx, invitation.ID) }},
			{"applications", "tokens", func() error { return s.Admin().DeleteApplication(ctx, application.ClientID) }},
			{"webhooks", "webhook_deliveries", func() error { return s.DeleteWebhook(ctx, ada, hook.ID) }},
		} {
			done := make(chan error, 1)
			err := s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
				lock := func(rows string) error {
					_, err := tx.ExecContext(ctx, "SELECT 1 FROM "+rows+" FOR UPDATE")
					return err
				}
				// PostgreSQL aborts the transaction that finds the deadlock, which must be that of act.
				if _, err := tx.ExecContext(ctx, "SET LOCAL deadlock_timeout = '1min'"); err != nil {
					return err
				}
				if err := lock(test.second); err != nil {
					return err
				}
				go func() { done <- test.act() }()
				for waits := false; !waits; time.Sleep(time.Millisecond) {
					var err error
					if waits, err = s.waitsForLock(ctx); err != nil {
						return err
					}
				}
				return lock(test.first)
			})
			if err := errors.Join(err, <-done); err != nil {
				t.Errorf("%s: %v", test.first, err)
			}
		}
	})
}

// waitsForLock reports whether a transaction on PostgreSQL waits for a lock.
func (s *Store) waitsForLock(ctx context.Context) (bool, error) {
	return s.db.Read.NewSelect().TableExpr("pg_stat_activity").Where("datname = current_database() AND wait_event_type = 'Lock'").Exists(ctx)
}
