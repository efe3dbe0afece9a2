package fsck_test

import (
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/fsck"
	"github.com/meshyard/meshyard/models/maintenance"
	"github.com/meshyard/meshyard/models/previews"
)

// newFsck adds checks to a core.
func newFsck(core *models.Store) *fsck.Store {
	pictures := previews.New(core)
	return fsck.New(core, maintenance.New(core, pictures), pictures)
}
