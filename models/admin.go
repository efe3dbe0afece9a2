package models

import (
	"context"

	"github.com/meshyard/meshyard/internal/auth"
)

// Admin contains the operations of the command line. They do not check the permissions of a caller,
// so code that serves requests must not use them; a test in package archtest enforces this.
type Admin struct{ store *Store }

// Admin returns the operations of the command line.
func (s *Store) Admin() Admin { return Admin{s} }

// User returns the user with a name.
func (a Admin) User(ctx context.Context, name string) (*User, error) {
	return a.store.User(ctx, auth.Caller{}, AllUserFields, name)
}
