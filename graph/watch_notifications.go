package graph

import (
	"context"
	"slices"
	"time"

	"github.com/meshyard/meshyard/graph/model"
	"github.com/meshyard/meshyard/models"
)

// notificationInterval is the polling interval of a notification subscription. It polls because
// another node may have written the notifications.
const notificationInterval = time.Second

// watchNotifications returns a channel that receives the number of unread notifications of the
// caller immediately, and then each new notification, for up to maxWatchTime.
func (r *Resolver) watchNotifications(ctx context.Context) (<-chan *model.NotificationUpdate, error) {
	recent, err := r.Store.RecentNotifications(ctx, caller(ctx))
	if err != nil {
		return nil, err
	}
	unread, err := r.Store.UnreadNotifications(ctx, caller(ctx))
	if err != nil {
		return nil, err
	}
	updates := make(chan *model.NotificationUpdate)
	go func() {
		defer close(updates)
		ctx, cancel := context.WithTimeout(ctx, maxWatchTime)
		defer cancel()
		send := func(n *models.Notification, unread int64) bool {
			select {
			case updates <- &model.NotificationUpdate{Notification: n, UnreadCount: int32(unread)}:
				return true
			case <-ctx.Done():
				return false
			}
		}
		if !send(nil, unread) {
			return
		}
		seen := idsOf(recent)
		tick := time.NewTicker(notificationInterval)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
			recent, err := r.Store.RecentNotifications(ctx, caller(ctx))
			if err != nil {
				continue // try again at the next tick, the database may have recovered
			}
			added := slices.DeleteFunc(slices.Clone(recent), func(n *models.Notification) bool { return seen[n.ID] })
			if len(added) == 0 {
				continue
			}
			unread, err := r.Store.UnreadNotifications(ctx, caller(ctx))
			if err != nil {
				continue
			}
			for _, n := range added {
				if !send(n, unread) {
					return
				}
			}
			seen = idsOf(recent)
		}
	}()
	return updates, nil
}

func idsOf(notifications []*models.Notification) map[int64]bool {
	ids := make(map[int64]bool, len(notifications))
	for _, n := range notifications {
		ids[n.ID] = true
	}
	return ids
}
