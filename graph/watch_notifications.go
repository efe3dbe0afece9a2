package graph

import (
	"context"
	"time"

	"github.com/meshyard/meshyard/graph/model"
	"github.com/meshyard/meshyard/models/social"
)

// notificationInterval is the polling interval of a notification subscription. It polls because
// another node may have written the notifications.
const notificationInterval = time.Second

// watchNotifications returns a channel that receives the number of unread notifications of the
// caller immediately, and then each new notification, for up to maxWatchTime.
func (r *Resolver) watchNotifications(ctx context.Context) (<-chan *model.NotificationUpdate, error) {
	news, err := r.Store.Social.NewNotifications(ctx, caller(ctx))
	if err != nil {
		return nil, err
	}
	unread, err := r.Store.Social.UnreadNotifications(ctx, caller(ctx))
	if err != nil {
		return nil, err
	}
	updates := make(chan *model.NotificationUpdate)
	go func() {
		defer close(updates)
		ctx, cancel := context.WithTimeout(ctx, maxWatchTime)
		defer cancel()
		send := func(n *social.Notification, unread int64) bool {
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
		tick := time.NewTicker(notificationInterval)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
			added, unread, err := news.Next(ctx)
			if err != nil {
				continue // try again at the next tick, the database may have recovered
			}
			for _, n := range added {
				if !send(n, unread) {
					return
				}
			}
		}
	}()
	return updates, nil
}
