package graph

import (
	"context"
	"strconv"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models"
)

// viewPurpose separates the signatures of viewers from signatures with other purposes.
const viewPurpose = "view"

// noteView counts a view of a thing by the caller. A caller without an account is identified by a
// hash of the network and the day, keyed with the server's key. The stored views therefore do not
// reveal who viewed a thing, or whether a visitor returned on another day.
func (r *Resolver) noteView(ctx context.Context, t *models.Thing) {
	c, viewer := caller(ctx), ""
	if c.UserID == 0 {
		if account := auth.Account(ctx); account != "" {
			viewer = r.URLs.Key.Sign(viewPurpose, strconv.Itoa(int(models.Today())), account)
		}
	}
	r.Store.NoteView(c, t, viewer)
}
