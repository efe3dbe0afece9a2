package models

import "github.com/meshyard/meshyard/internal/auth"

// RequireUser returns an error if the caller is not a user: Unauthenticated for a request without a
// token, and Forbidden for a token that belongs to an application itself.
func RequireUser(caller auth.Caller) error {
	switch {
	case caller.UserID != 0:
		return nil
	case caller.Known():
		return Fail(Forbidden, "the access token belongs to an application and has no user")
	default:
		return Fail(Unauthenticated, "an access token is required")
	}
}

// RequireAdministrator returns Forbidden if the caller is not an administrator.
func RequireAdministrator(caller auth.Caller) error {
	if !caller.Administers() {
		return Fail(Forbidden, "requires an administrator")
	}
	return nil
}

// RequireModerator returns Forbidden if the caller is not a moderator or an administrator.
func RequireModerator(caller auth.Caller) error {
	if !caller.Moderates() {
		return Fail(Forbidden, "requires a moderator or an administrator")
	}
	return nil
}

// RequireSelf returns Forbidden if the caller is not the user. what is a plural: what only the user
// can see.
func RequireSelf(caller auth.Caller, userID int64, what string) error {
	if caller.UserID != userID {
		return Fail(Forbidden, "%s are visible to their user only", what)
	}
	return nil
}
