package models

import (
	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
)

// hiddenThings says which things a user does not want to see in lists, unless they are the user's
// own.
type hiddenThings struct {
	nsfw, ai bool
	userID   int64
}

// hiddenFrom returns the things that the caller does not want to see.
func hiddenFrom(caller auth.Caller) hiddenThings {
	if !caller.HidesNSFW && !caller.HidesAI {
		return hiddenThings{}
	}
	return hiddenThings{caller.HidesNSFW, caller.HidesAI, caller.UserID}
}

// from removes the hidden things from a selection of the things t.
func (h hiddenThings) from(q *bun.SelectQuery) *bun.SelectQuery {
	if h.nsfw {
		q = q.Where("(NOT t.is_nsfw OR t.owner_id = ?)", h.userID)
	}
	if h.ai {
		q = q.Where("(NOT t.is_ai OR t.owner_id = ?)", h.userID)
	}
	return q
}

// Hide leaves out the things that the caller does not want to see in lists.
func (f *Filter) Hide(caller auth.Caller) { f.hidden = hiddenFrom(caller) }
