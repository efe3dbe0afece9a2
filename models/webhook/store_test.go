package webhook

import (
	"testing"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/account"
	"github.com/meshyard/meshyard/models/modelstest"
	"github.com/meshyard/meshyard/models/social"
)

// eachStore runs a test on a store of each engine, with a user.
func eachStore(t *testing.T, test func(t *testing.T, s *Store, ada auth.Caller)) {
	eachStoreDuring(t, func() {}, test)
}

// eachStoreDuring is eachStore with a function that is called in each transaction that stores jobs.
func eachStoreDuring(t *testing.T, during func(), test func(t *testing.T, s *Store, ada auth.Caller)) {
	modelstest.Each(t, during, func(t *testing.T, core *models.Store, ada auth.Caller) {
		test(t, New(core, Options{}),
			ada)
	})
}

// accounts returns the accounts of the core of a store.
func accounts(s *Store) *account.Store {
	return account.New(s.core, account.Objects{Social: social.New(s.core)})
}
