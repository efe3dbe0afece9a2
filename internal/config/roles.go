package config

import (
	"errors"
	"slices"
)

// Role is a kind of work that a server does.
type Role string

// The roles.
const (
	RoleWeb      Role = "web"
	RoleJobs     Role = "jobs"
	RoleMail     Role = "mail"
	RolePreviews Role = "previews"
)

// Roles are the roles of a server. Without any, it has all of them.
type Roles []Role

// Has reports whether a server with these roles has a role.
func (r Roles) Has(role Role) bool { return len(r) == 0 || slices.Contains(r, role) }

// checkRoles returns an error if the only role of the server has no work.
func (s *Settings) checkRoles() error {
	switch {
	case len(s.Roles) != 1:
	case s.Roles[0] == RoleMail && s.SMTPURL == "":
		return errors.New("--roles mail: requires --smtp-url")
	case s.Roles[0] == RolePreviews && s.PreviewWorkers == 0:
		return errors.New("--roles previews: requires --preview-workers of at least 1")
	}
	return nil
}
