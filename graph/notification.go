package graph

import (
	"context"

	"github.com/meshyard/meshyard/graph/batch"
	"github.com/meshyard/meshyard/graph/model"
	"github.com/meshyard/meshyard/models"
)

// notificationTargets returns what each notification is about, nil where the caller may no longer
// see it. It reads one statement for each type of target.
func notificationTargets(ctx context.Context, objs []*models.Notification) ([]model.NotificationTarget, error) {
	l := loadersOf(ctx)
	shown := make([]model.NotificationTarget, len(objs))
	for i, n := range objs {
		key := func(other *models.Notification) int64 {
			if other.TargetType == n.TargetType {
				return other.TargetID
			}
			return 0
		}
		var found []any
		var err error
		one := objs[i : i+1]
		switch n.TargetType {
		case models.OnThing:
			found, err = batch.LoadAs(ctx, one, l.things, key, nilOrValue)
		case models.OnMake:
			found, err = batch.LoadAs(ctx, one, l.makes, key, nilOrValue)
		case models.OnComment:
			found, err = batch.LoadAs(ctx, one, l.comments, key, nilOrValue)
		case models.OnCollection:
			found, err = batch.LoadAs(ctx, one, l.collections, key, nilOrValue)
		case models.OnFile:
			found, err = batch.LoadAs(ctx, one, l.files, key, nilOrValue)
		default:
			found, err = batch.LoadAs(ctx, one, l.users, key, nilOrValue)
		}
		if err != nil {
			return nil, err
		}
		if found[0] != nil && checkVisible(ctx, found[0]) == nil {
			shown[i] = found[0]
		}
	}
	return shown, nil
}

// phrases says what each kind of notification reports, where that does not depend on the target.
var phrases = map[models.NotificationKind]string{
	models.NotifyComment:          "wrote a comment",
	models.NotifyReply:            "replied to your comment",
	models.NotifyMake:             "posted a make",
	models.NotifyFollow:           "follows you",
	models.NotifyRemix:            "published a remix",
	models.NotifyProcessingFailed: "No preview could be made of a file",
}

// sentence writes a notification as one sentence of plain text. actor is nil where nobody caused
// it.
func sentence(n *models.Notification, actor *models.User) string {
	who := "Somebody"
	if actor != nil {
		who = actor.Username
	}
	switch n.Kind {
	case models.NotifyModeration:
		if n.TargetType == models.OnUser {
			return "A moderator decided about your account."
		}
		return "A moderator decided about your " + string(n.TargetType) + "."
	case models.NotifyProcessingFailed:
		return phrases[n.Kind] + "."
	case models.NotifyLike:
		return who + " likes your " + string(n.TargetType) + "."
	}
	return who + " " + phrases[n.Kind] + "."
}
