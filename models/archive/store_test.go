package archive

import (
	"testing"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/account"
	"github.com/meshyard/meshyard/models/comments"
	"github.com/meshyard/meshyard/models/maintenance"
	"github.com/meshyard/meshyard/models/modelstest"
	"github.com/meshyard/meshyard/models/moderation"
	"github.com/meshyard/meshyard/models/previews"
	"github.com/meshyard/meshyard/models/social"
	"github.com/meshyard/meshyard/models/uploads"
)

// eachStore runs a test on a store of each engine, with a user.
func eachStore(t *testing.T, test func(t *testing.T, s *Store, ada auth.Caller)) {
	eachStoreDuring(t, func() {}, test)
}

// eachStoreDuring is eachStore with a function that is called in each transaction that stores jobs.
func eachStoreDuring(t *testing.T, during func(), test func(t *testing.T, s *Store, ada auth.Caller)) {
	modelstest.Each(t, during, func(t *testing.T, core *models.Store, ada auth.Caller) {
		pictures := previews.New(core)
		test(t, New(core, maintenance.New(core, pictures, uploads.New(core)), pictures), ada)
	})
}

// moderators returns the moderation of the core of a store.
func moderators(s *Store) *moderation.Store {
	return moderation.New(s.core, account.New(s.core, account.Objects{Social: social.New(s.core)}), comments.New(s.core))
}
