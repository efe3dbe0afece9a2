// Package webhook sends events to the URLs that users and administrators have registered. The
// events are stored in the transaction that causes them, and delivered by background jobs.
package webhook

import (
	"context"
	"time"

	"github.com/meshyard/meshyard/internal/webhook"
	"github.com/meshyard/meshyard/models"
)

// Store has the operations on webhooks.
type Store struct {
	core       *models.Store
	options    Options
	delivering deliveryTurns
}

// New adds webhooks to the core.
func New(core *models.Store, options Options) *Store {
	s := &Store{core: core, options: options}
	core.DB.Register((*Webhook)(nil), (*Delivery)(nil))
	core.React(s.react)
	core.Expire("deliveries to webhooks", s.expireDeliveries)
	return s
}

// Admin has the operations of the command line. They do not check the permissions of a caller.
type Admin struct{ store *Store }

// Admin returns the operations of the command line.
func (s *Store) Admin() Admin { return Admin{s} }

// Options determine how messages to webhooks are sent.
type Options struct {
	// Check returns an error if messages cannot be sent to a URL.
	Check func(url string) error
	// Send makes one attempt to deliver a message.
	Send func(ctx context.Context, m webhook.Message) webhook.Result
	// Timeout is the maximum duration of Send.
	Timeout time.Duration
	// BaseURL begins the URLs in messages. It has no slash at its end.
	BaseURL string
	// Delivered gets the outcome of each attempt, for metrics: "delivered", "retried" or "failed". It
	// may be nil.
	Delivered func(outcome string)
	// Disabled gets the reason why a webhook was disabled. It may be nil.
	Disabled func(id int64, reason string)
}
