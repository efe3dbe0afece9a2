package graph

import (
	"context"
	"strconv"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models"
)

// viewPurpose distinguishes the hashes of viewers from other signatures.
const viewPurpose = "view"

// noteView counts a view of a thing by the caller. A caller without an account is known by a hash
// of the network and the day with the key of the server, so that views do not tell who visits, or
// whether a visitor comes back on another day.
func (r *Resolver) noteView(ctx context.Context, t *models.Thing) {
	c, viewer := caller(ctx), ""
	if c.UserID == 0 {
		if account := auth.Account(ctx); account != "" {
			viewer = r.URLs.Key.Sign(viewPurpose, strconv.Itoa(int(models.Today())), account)
		}
	}
	r.Store.NoteView(c, t, viewer)
}
