package graph

import (
	"github.com/meshyard/meshyard/internal/fieldset"
	"github.com/meshyard/meshyard/models"
)

// phrases has the text for each kind of notification whose text does not depend on the target.
var phrases = map[models.NotificationKind]string{
	models.NotifyComment:          "wrote a comment",
	models.NotifyReply:            "replied to your comment",
	models.NotifyMake:             "posted a make",
	models.NotifyFollow:           "follows you",
	models.NotifyRemix:            "published a remix",
	models.NotifyProcessingFailed: "No preview could be made of a file",
}

// nameOfUser has the name of a user.
var nameOfUser = fieldset.Of[models.User]("Username")

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
