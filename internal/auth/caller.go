// Package auth holds who calls: scopes, access tokens and the caller that a request carries.
package auth

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Scope is one permission of a token.
type Scope string

// The scopes. None includes another: a token that reads and writes has both.
const (
	Read  Scope = "read"
	Write Scope = "write"
	Admin Scope = "admin"
)

// Scopes is a set of scopes.
type Scopes []Scope

// ParseScopes reads scope names. At least one is needed, each of them known.
func ParseScopes(names []string) (Scopes, error) {
	var s Scopes
	for _, name := range names {
		scope := Scope(strings.ToLower(strings.TrimSpace(name)))
		if !slices.Contains([]Scope{Read, Write, Admin}, scope) {
			return nil, fmt.Errorf("scope %q: want read, write or admin", name)
		}
		if !slices.Contains(s, scope) {
			s = append(s, scope)
		}
	}
	if len(s) == 0 {
		return nil, fmt.Errorf("a token needs at least one scope: read, write or admin")
	}
	return s, nil
}

// Has reports whether the set holds scope.
func (s Scopes) Has(scope Scope) bool { return slices.Contains(s, scope) }

func (s Scopes) String() string {
	names := make([]string, len(s))
	for i, scope := range s {
		names[i] = string(scope)
	}
	return strings.Join(names, " ")
}

// Role is what a user may do in addition to other users.
type Role string

// The roles, each with the permissions of those before it.
const (
	Member        Role = "member"
	Moderator     Role = "moderator"     // decides what others may publish
	Administrator Role = "administrator" // decides who moderates, and which applications are known
)

// Caller is the user or the application that makes a request. The zero Caller is anonymous.
type Caller struct {
	// 0: the caller showed an ID token of the operator's OpenID provider, or is signed in in a
	// browser
	TokenID   int64
	SessionID int64 // of the browser in which the caller is signed in; 0: no browser
	// 0: the token is an application's own, which has no user and reads public data
	UserID        int64
	ApplicationID int64 // 0: the token was not issued to an application
	Role          Role
	Suspended     string    // why the user may write no more; empty if the user is not suspended
	ExpiresAt     time.Time // of the token; zero: never
	Scopes        Scopes
	HidesNSFW     bool // the user wants no things in lists that are not safe for work
	HidesAI       bool // the user wants no things in lists that were made with artificial intelligence
}

// Known reports whether the caller is not anonymous.
func (c Caller) Known() bool { return c.TokenID != 0 || c.UserID != 0 }

// Staff reports whether the caller acts as a moderator or an administrator: is one, and holds a
// token that says so.
func (c Caller) Staff() bool {
	return (c.Role == Moderator || c.Role == Administrator) && c.Suspended == "" && c.Scopes.Has(Admin)
}

// Administers reports whether the caller acts as an administrator.
func (c Caller) Administers() bool { return c.Role == Administrator && c.Staff() }

// Account names the account that the caller's requests count for: the user, whichever of their
// tokens they use, or the application where the token is an application's own. It is empty for
// nobody.
func (c Caller) Account() string {
	switch {
	case c.UserID != 0:
		return "user " + strconv.FormatInt(c.UserID, 10)
	case c.ApplicationID != 0:
		return "application " + strconv.FormatInt(c.ApplicationID, 10)
	}
	return ""
}

type contextKey struct{}

// identity is what the request's token led to: a caller, or the reason why there is none.
type identity struct {
	caller Caller
	err    error
}

// WithCaller keeps the caller in ctx; err, if not nil, is why the presented token names nobody.
func WithCaller(ctx context.Context, c Caller, err error) context.Context {
	return context.WithValue(ctx, contextKey{}, identity{c, err})
}

// From returns the caller that ctx carries, and why there is none where a token was presented in
// vain.
func From(ctx context.Context) (Caller, error) {
	id, _ := ctx.Value(contextKey{}).(identity)
	return id.caller, id.err
}

// SignedIn is a user who is signed in in a browser.
type SignedIn struct {
	Caller
	Username string
	Name     string // first and last name; may be empty
	// HasAvatar reports whether the user has an avatar of their own.
	HasAvatar bool
}

// Identity is a user as an OpenID provider describes them.
type Identity struct {
	Issuer, Subject string // together they identify the user permanently
	Username        string // the name that the user would like; may be empty, taken or not allowed
	FirstName       string
	LastName        string
	Email           string    // empty unless it can be trusted
	ExpiresAt       time.Time // of the token

	// IsAdministrator and IsModerator say whether the provider gives these roles; nil: it does not
	// decide.
	IsAdministrator, IsModerator *bool
}
