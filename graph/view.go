package graph

import (
	"context"
	"strconv"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/activity"
)

// withKey adds the key of a thing to a URL if the thing is unlisted. The caller of the request must
// be allowed to see the thing.
func (r *Resolver) withKey(ctx context.Context, url string, t *models.Thing) string {
	if t.State != models.Unlisted || t.Allows(caller(ctx)) != nil {
		return url
	}
	return r.URLs.WithKey(url, t.ID)
}

// viewPurpose separates the signatures of viewers from signatures with other purposes.
const viewPurpose = "view"

// noteView counts a view of a thing by the caller. A caller without an account is identified by a
// hash of the network and the day, keyed with the server's key. The stored views therefore do not
// reveal who viewed a thing, or whether a visitor returned on another day.
func (r *Resolver) noteView(ctx context.Context, t *models.Thing) {
	c, viewer := caller(ctx), ""
	if c.UserID == 0 {
		if account := auth.Account(ctx); account != "" {
			viewer = r.URLs.Key.Sign(viewPurpose, strconv.Itoa(int(activity.Today())), account)
		}
	}
	r.Store.Activity.NoteView(c, t, viewer)
}
