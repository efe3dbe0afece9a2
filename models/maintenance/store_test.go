package maintenance

import (
	"testing"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/modelstest"
	"github.com/meshyard/meshyard/models/previews"
	"github.com/meshyard/meshyard/models/uploads"
)

// eachStore runs a test on a store of each engine, with a user.
func eachStore(t *testing.T, test func(t *testing.T, s *Store, ada auth.Caller)) {
	modelstest.Each(t, func() {}, func(t *testing.T, core *models.Store, ada auth.Caller) {
		test(t, New(core, previews.New(core), uploads.New(core)), ada)
	})
}
