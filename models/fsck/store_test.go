package fsck_test

import (
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/fsck"
	"github.com/meshyard/meshyard/models/maintenance"
	"github.com/meshyard/meshyard/models/previews"
	"github.com/meshyard/meshyard/models/uploads"
)

// newFsck adds checks to a core.
func newFsck(core *models.Store) *fsck.Store {
	pictures, begun := previews.New(core), uploads.New(core)
	return fsck.New(core, maintenance.New(core, pictures, begun), pictures, begun)
}
