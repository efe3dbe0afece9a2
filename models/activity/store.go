// Package activity records what users do: downloads, views, and calls of deprecated operations.
package activity

import (
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/account"
)

// Store has the operations on downloads, views and deprecated calls.
type Store struct {
	core    *models.Store
	account *account.Store

	downloads downloadLog
	activity  activity
}

// New adds downloads, views and deprecated calls to the core.
func New(core *models.Store, accounts *account.Store) *Store {
	s := &Store{core: core, account: accounts}
	core.DB.Register((*DeprecatedCall)(nil), (*Download)(nil), (*newDownload)(nil), (*view)(nil))
	s.downloads.insert = s.insertDownloads
	return s
}
