// Package catalogue is the one place that creates the core and all areas of the models, and
// connects them.
package catalogue

import (
	"context"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/bucket"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/account"
	"github.com/meshyard/meshyard/models/activity"
	"github.com/meshyard/meshyard/models/archive"
	"github.com/meshyard/meshyard/models/bulk"
	"github.com/meshyard/meshyard/models/cluster"
	"github.com/meshyard/meshyard/models/collections"
	"github.com/meshyard/meshyard/models/comments"
	"github.com/meshyard/meshyard/models/files"
	"github.com/meshyard/meshyard/models/fsck"
	"github.com/meshyard/meshyard/models/importer"
	"github.com/meshyard/meshyard/models/library"
	"github.com/meshyard/meshyard/models/link"
	"github.com/meshyard/meshyard/models/lists"
	"github.com/meshyard/meshyard/models/maintenance"
	"github.com/meshyard/meshyard/models/makes"
	"github.com/meshyard/meshyard/models/moderation"
	"github.com/meshyard/meshyard/models/openin"
	"github.com/meshyard/meshyard/models/previews"
	"github.com/meshyard/meshyard/models/printed"
	"github.com/meshyard/meshyard/models/printer"
	"github.com/meshyard/meshyard/models/problem"
	"github.com/meshyard/meshyard/models/search"
	"github.com/meshyard/meshyard/models/social"
	"github.com/meshyard/meshyard/models/uploads"
	"github.com/meshyard/meshyard/models/webhook"
)

// Options are settings of the operator.
type Options struct {
	models.Options
	Libraries library.Options
	Links     link.Options
	Printers  printer.Options
	Webhooks  webhook.Options
}

// Catalogue is the core with all areas.
type Catalogue struct {
	*models.Store
	Account     *account.Store
	Collections *collections.Store
	Comments    *comments.Store
	Files       *files.Store
	Lists       *lists.Store
	Makes       *makes.Store
	Uploads     *uploads.Store
	Activity    *activity.Store
	Archive     *archive.Store
	Bulk        *bulk.Store
	Cluster     *cluster.Store
	Fsck        *fsck.Store
	Importer    *importer.Store
	Library     *library.Store
	Link        *link.Store
	Maintenance *maintenance.Store
	Moderation  *moderation.Store
	OpenIn      *openin.Store
	Previews    *previews.Store
	Printed     *printed.Store
	Printer     *printer.Store
	Problem     *problem.Store
	Search      *search.Store
	Social      *social.Store
	Webhook     *webhook.Store
}

// New returns the catalogue on a migrated database and a bucket. enqueue stores jobs in the given
// transaction. The order of the areas is the order in which they react to an event.
func New(db *models.DB, b *bucket.Bucket, options Options, enqueue func(ctx context.Context, tx bun.Tx,
	work models.Work) error) *Catalogue {
	core := models.NewStore(db, b, options.Options, enqueue)
	c := &Catalogue{Store: core}
	c.Social = social.New(core)
	c.Problem = problem.New(core)
	c.Uploads = uploads.New(core)
	c.Files = files.New(core)
	c.Makes = makes.New(core, c.Uploads)
	c.Collections = collections.New(core)
	c.Comments = comments.New(core)
	c.Lists = lists.New(core)
	c.Account = account.New(core, account.Objects{Collections: c.Collections, Comments: c.Comments, Makes: c.Makes,
		Social: c.Social})
	c.Moderation = moderation.New(core, c.Account, c.Comments)
	c.Activity = activity.New(core, c.Account)
	c.OpenIn = openin.New(core, c.Activity)
	c.Bulk = bulk.New(core, c.Collections)
	c.Cluster = cluster.New(core)
	c.Printed = printed.New(core)
	c.Printer = printer.New(core, c.Activity, options.Printers)
	c.Search = search.New(core, c.Lists)
	c.Previews = previews.New(core)
	c.Importer = importer.New(core, c.Collections, c.Uploads)
	c.Library = library.New(core, options.Libraries)
	c.Link = link.New(core, c.Importer, options.Links)
	c.Maintenance = maintenance.New(core, c.Previews, c.Uploads)
	c.Fsck = fsck.New(core, c.Maintenance, c.Previews, c.Uploads)
	c.Archive = archive.New(core, c.Maintenance, c.Previews)
	c.Webhook = webhook.New(core, options.Webhooks)
	return c
}
