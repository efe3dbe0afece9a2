package graph

import (
	"context"

	"github.com/meshyard/meshyard/graph/batch"
	"github.com/meshyard/meshyard/models"
)

// visibleTargets returns the target of each object, or nil if the caller is not allowed to see it.
// It executes one statement for each type of target.
func visibleTargets[T any, O comparable](ctx context.Context, objs []O, of func(O) models.Target) ([]T, error) {
	l := loadersOf(ctx)
	shown := make([]T, len(objs))
	for i, o := range objs {
		target := of(o)
		key := func(other O) int64 {
			if t := of(other); t.Type == target.Type {
				return t.ID
			}
			return 0
		}
		var found []any
		var err error
		one := objs[i : i+1]
		switch target.Type {
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
			found, err = batch.LoadAs(ctx, one, l.targetUsers, key, nilOrValue)
		}
		if err != nil {
			return nil, err
		}
		if found[0] != nil && checkVisible(ctx, found[0]) == nil {
			shown[i] = found[0].(T)
		}
	}
	return shown, nil
}

// phrases has the text for each kind of notification whose text does not depend on the target.
var phrases = map[models.NotificationKind]string{
	models.NotifyComment:          "wrote a comment",
	models.NotifyReply:            "replied to your comment",
	models.NotifyMake:             "posted a make",
	models.NotifyFollow:           "follows you",
	models.NotifyRemix:            "published a remix",
	models.NotifyProcessingFailed: "No preview could be made of a file",
}

// sentence returns a notification as one sentence of plain text. actor is nil if no user caused it.
func sentence(n *models.Notification, actor *models.User) string {
	who := "Somebody"
	if actor != nil {
		who = actor.Username
	}
	switch n.Kind {
	case models.NotifyModeration:
		if n.TargetType == models.OnUser {
			return "A moderator decided about your account or your content."
		}
		return "A moderator decided about your " + string(n.TargetType) + "."
	case models.NotifyProcessingFailed:
		return phrases[n.Kind] + "."
	case models.NotifyLike:
		return who + " likes your " + string(n.TargetType) + "."
	}
	return who + " " + phrases[n.Kind] + "."
}
