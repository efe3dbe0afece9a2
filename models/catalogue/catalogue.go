// Package catalogue is the one place that creates the core and all areas of the models, and
// connects them.
package catalogue

import (
	"context"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/bucket"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/archive"
	"github.com/meshyard/meshyard/models/bulk"
	"github.com/meshyard/meshyard/models/fsck"
	"github.com/meshyard/meshyard/models/importer"
	"github.com/meshyard/meshyard/models/openin"
	"github.com/meshyard/meshyard/models/webhook"
)

// Options are settings of the operator.
type Options struct {
	models.Options
	Webhooks webhook.Options
}

// Catalogue is the core with all areas.
type Catalogue struct {
	*models.Store
	Archive  *archive.Store
	Bulk     *bulk.Store
	Fsck     *fsck.Store
	Importer *importer.Store
	OpenIn   *openin.Store
	Webhook  *webhook.Store
}

// New returns the catalogue on a migrated database and a bucket. enqueue stores jobs in the given
// transaction. The order of the areas is the order in which they react to an event.
func New(db *models.DB, b *bucket.Bucket, options Options, enqueue func(ctx context.Context, tx bun.Tx, work models.Work) error) *Catalogue {
	core := models.NewStore(db, b, options.Options, enqueue)
	return &Catalogue{
		Store:    core,
		Archive:  archive.New(core),
		Bulk:     bulk.New(core),
		Fsck:     fsck.New(core),
		Importer: importer.New(core),
		OpenIn:   openin.New(core),
		Webhook:  webhook.New(core, options.Webhooks),
	}
}
