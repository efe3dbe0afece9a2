package account

import (
	"testing"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/collections"
	"github.com/meshyard/meshyard/models/comments"
	"github.com/meshyard/meshyard/models/makes"
	"github.com/meshyard/meshyard/models/modelstest"
	"github.com/meshyard/meshyard/models/social"
	"github.com/meshyard/meshyard/models/uploads"
)

// eachStore runs a test on a store of each engine, with a user.
func eachStore(t *testing.T, test func(t *testing.T, s *Store, ada auth.Caller)) {
	modelstest.Each(t, func() {}, func(t *testing.T, core *models.Store, ada auth.Caller) {
		test(t, New(core, Objects{Collections: collections.New(core), Comments: comments.New(core),
			Makes: makes.New(core, uploads.New(core)), Social: social.New(core)}), ada)
	})
}
