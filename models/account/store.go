// Package account contains how users sign in: passwords, sessions, access tokens, applications,
// invitations, and accounts of other services.
package account

import (
	"github.com/meshyard/meshyard/internal/coalesce"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/collections"
	"github.com/meshyard/meshyard/models/comments"
	"github.com/meshyard/meshyard/models/makes"
	"github.com/meshyard/meshyard/models/social"
)

// Store has the operations on accounts.
type Store struct {
	core    *models.Store
	objects Objects

	identities     *identityCache
	uses           useLog
	authenticating coalesce.Group[authentication] // by the hash of the token
}

// Objects are the areas that delete what belongs to an account.
type Objects struct {
	Collections *collections.Store
	Comments    *comments.Store
	Makes       *makes.Store
	Social      *social.Store
}

// New adds accounts to the core.
func New(core *models.Store, objects Objects) *Store {
	s := &Store{core: core, objects: objects, identities: newIdentityCache()}
	core.DB.Register((*accountLink)(nil), (*Application)(nil), (*Invitation)(nil), (*Session)(nil), (*Token)(nil),
		(*grant)(nil), (*identity)(nil),
		(*password)(nil), (*refreshToken)(nil))
	core.Expire("sessions and codes", s.forgetSignIns)
	return s
}

// Admin has the operations of the command line. They do not check the permissions of a caller.
type Admin struct{ store *Store }

// Admin returns the operations of the command line.
func (s *Store) Admin() Admin { return Admin{s} }
