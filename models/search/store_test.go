package search

import (
	"testing"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/lists"
	"github.com/meshyard/meshyard/models/modelstest"
)

// eachStore runs a test on a store of each engine, with a user.
func eachStore(t *testing.T, test func(t *testing.T, s *Store, ada auth.Caller)) {
	modelstest.Each(t, func() {}, func(t *testing.T, core *models.Store,
		ada auth.Caller) {
		test(t, New(core, lists.New(core)), ada)
	})
}
