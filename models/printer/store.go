// Package printer keeps the printers of users, sends sliced files to them and follows the prints.
// A print is stored before anything is sent, and background jobs send it. A file is never sent
// again without the confirmation of its user: see [Store.Drive].
package printer

import (
	"cmp"
	"context"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/printer"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/activity"
)

// Options determine how printers are reached.
type Options struct {
	// Check returns an error if a printer cannot have a URL. It is nil if there can be no printers.
	Check func(url string) error
	// Connect returns a client of a printer.
	Connect func(kind printer.Kind, url, key string) (printer.Printer, error)
	// Poll is the time between two looks at a printer that prints; 0: 10 seconds.
	Poll time.Duration
	// Lease is how long the job of a printer may be silent before it counts as lost; 0: 20 seconds.
	Lease time.Duration
	// Grace is how long a printer may take to begin a print that it has received; 0: 2 minutes.
	Grace time.Duration
}

// Store has the operations on printers.
type Store struct {
	core     *models.Store
	activity *activity.Store
	options  Options
}

// New adds printers to the core.
func New(core *models.Store, downloads *activity.Store, options Options) *Store {
	options.Poll = cmp.Or(options.Poll, 10*time.Second)
	options.Lease = cmp.Or(options.Lease, 20*time.Second)
	options.Grace = cmp.Or(options.Grace, 2*time.Minute)
	s := &Store{core, downloads, options}
	core.DB.Register((*Printer)(nil), (*Job)(nil), (*picture)(nil))
	core.React(s.react)
	core.Expire("prints", s.expire)
	return s
}

// manages returns an error if the caller is not a user or is an application. A printer would
// outlive the token of the application, and a print costs material.
func manages(caller auth.Caller) error {
	if err := models.RequireUser(caller); err != nil {
		return err
	}
	if caller.ApplicationID != 0 {
		return models.Fail(models.Forbidden, "applications cannot use printers")
	}
	return nil
}

// react deletes the printers of a deleted account, and holds the prints of a suspended one.
func (s *Store) react(ctx context.Context, tx bun.Tx, e models.Event) error {
	switch e := e.(type) {
	case models.ObjectDeleted:
		if e.Target.Type != models.OnUser {
			return nil
		}
		_, err := tx.NewDelete().Model((*Printer)(nil)).Where("owner_id = ?", e.Target.ID).Exec(ctx)
		return err
	case models.AccessRevoked:
		at := models.Now()
		_, err := tx.NewUpdate().Model((*Job)(nil)).Set("state = ?, ended_at = ?, message = 'the account was suspended'",
			Cancelled, at).
			Where("owner_id = ? AND state IN (?)", e.UserID, bun.List([]State{Queued, Held, Unknown})).Exec(ctx)
		return err
	}
	return nil
}

// jobTTL is how long a print is kept after its end.
const jobTTL = 90 * 24 * time.Hour

// expire deletes prints that ended long ago.
func (s *Store) expire(ctx context.Context) error {
	_, err := s.core.DB.ExecAgain(ctx, s.core.DB.Write.NewDelete().Model((*Job)(nil)).
		Where("ended_at < ?", models.Now().Add(-jobTTL)))
	return err
}
