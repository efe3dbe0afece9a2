package graph

import (
	"github.com/meshyard/meshyard/internal/fieldset"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/social"
)

// phrases has the text for each kind of notification whose text does not depend on the target.
var phrases = map[social.NotificationKind]string{
	social.NotifyComment:          "wrote a comment",
	social.NotifyReply:            "replied to your comment",
	social.NotifyMake:             "posted a make",
	social.NotifyFollow:           "follows you",
	social.NotifyRemix:            "published a remix",
	social.NotifyProcessingFailed: "No preview could be made of a file",
}

// nameOfUser has the name of a user.
var nameOfUser = fieldset.Of[models.User]("Username")

// sentence returns a notification as one sentence of plain text. actor is nil if no user caused it.
func sentence(n *social.Notification, actor *models.User) string {
	who := "Somebody"
	if actor != nil {
		who = actor.Username
	}
	switch n.Kind {
	case social.NotifyModeration:
		if n.TargetType == models.OnUser {
			return "A moderator decided about your account or your content."
		}
		return "A moderator decided about your " + string(n.TargetType) + "."
	case social.NotifyProcessingFailed:
		return phrases[n.Kind] + "."
	case social.NotifyLike:
		return who + " likes your " + string(n.TargetType) + "."
	}
	return who + " " + phrases[n.Kind] + "."
}
