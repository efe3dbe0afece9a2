package social

import (
	"context"
	"slices"
	"time"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models"
)

const (
	// recentPeriod is how long a notification is recent. No transaction takes longer (see
	// [database.MaxTx]), so a notification is still recent when its transaction is committed and it
	// becomes visible.
	recentPeriod = time.Minute
	// maxRecent is the maximum number of recent notifications that are read at once.
	maxRecent = 100
)

// NewNotifications finds the notifications that a user gets from a point in time on. It must not be
// used concurrently.
type NewNotifications struct {
	store  *Store
	caller auth.Caller
	seen   map[int64]bool // the IDs of the latest recent notifications that are not new
	// floor is the lowest ID for which seen is complete, or 0. Notifications with lower IDs are not
	// new. They would appear to be: if there are more than maxRecent recent ones, the oldest are not
	// in seen, and are read once later ones are deleted.
	floor int64
}

// NewNotifications returns a reader of the notifications that the caller gets from now on. It
// returns an error if the caller is not a user.
func (s *Store) NewNotifications(ctx context.Context, caller auth.Caller) (*NewNotifications, error) {
	if err := models.RequireUser(caller); err != nil {
		return nil, err
	}
	n := &NewNotifications{store: s, caller: caller}
	recent, err := n.recent(ctx)
	n.see(recent)
	return n, err
}

// Next returns the notifications that are new since the last call, the oldest first, and the number
// of unread notifications. If there are more than 100, it returns the latest 100. After an error,
// the next call returns the same notifications.
func (n *NewNotifications) Next(ctx context.Context) (added []*Notification, unread int64, err error) {
	recent, err := n.recent(ctx)
	if err != nil {
		return nil, 0, err
	}
	added = slices.DeleteFunc(slices.Clone(recent), func(r *Notification) bool { return n.seen[r.ID] || r.ID < n.floor })
	if len(added) == 0 {
		return nil, 0, nil
	}
	if unread, err = n.store.UnreadNotifications(ctx, n.caller); err != nil {
		return nil, 0, err
	}
	n.see(recent)
	return added, unread, nil
}

// recent returns the recent notifications, the oldest first.
func (n *NewNotifications) recent(ctx context.Context) (recent []*Notification, err error) {
	err = n.store.core.DB.Read.NewSelect().Model(&recent).Where("n.user_id = ? AND n.created_at >= ?", n.caller.UserID,
		models.Now().Add(-recentPeriod)).
		Order("n.id DESC").Limit(maxRecent).Scan(ctx)
	slices.Reverse(recent)
	return recent, err
}

// see records that notifications are no longer new.
func (n *NewNotifications) see(recent []*Notification) {
	n.seen = make(map[int64]bool, len(recent))
	for _, r := range recent {
		n.seen[r.ID] = true
	}
	if len(recent) == maxRecent {
		n.floor = max(n.floor, recent[0].ID)
	}
}
