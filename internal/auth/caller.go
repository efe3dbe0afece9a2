// Package auth identifies callers: it provides scopes, roles, access tokens, passwords, and the
// caller of a request in its context.
//
// Middleware stores the [Caller] in the context with [WithCaller]. Resolvers and routes read it
// with [From] and check scopes with [Authorize]. Package models checks roles and ownership. This
// package does not use the database: it computes the hashes of tokens and passwords, and package
// models stores them.
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

// The scopes. No scope includes another one: a token that reads and writes has both.
const (
	Read  Scope = "read"
	Write Scope = "write"
	Admin Scope = "admin"
)

// Scopes is a set of scopes.
type Scopes []Scope

// ParseScopes parses scope names. It returns an error if there are none or if one is unknown.
func ParseScopes(names []string) (Scopes, error) {
	var s Scopes
	for _, name := range names {
		scope := Scope(strings.ToLower(strings.TrimSpace(name)))
		if !slices.Contains([]Scope{Read, Write, Admin}, scope) {
			return nil, fmt.Errorf("scope %q: must be read, write or admin", name)
		}
		if !slices.Contains(s, scope) {
			s = append(s, scope)
		}
	}
	if len(s) == 0 {
		return nil, fmt.Errorf("scopes: must be at least one of read, write and admin")
	}
	return s, nil
}

// Has reports whether the set contains scope.
func (s Scopes) Has(scope Scope) bool { return slices.Contains(s, scope) }

func (s Scopes) String() string {
	names := make([]string, len(s))
	for i, scope := range s {
		names[i] = string(scope)
	}
	return strings.Join(names, " ")
}

// Role is the role of a user, which decides their permissions.
type Role string

// The roles, each with the permissions of those before it.
const (
	Member        Role = "member"
	Moderator     Role = "moderator"     // removes content and suspends users
	Administrator Role = "administrator" // also assigns roles and registers applications
)

// Caller is the user or the application that makes a request. The zero Caller is anonymous.
type Caller struct {
	// TokenID is the access token that was used. It is 0 if the caller authenticated with an ID token
	// of the OpenID provider or with a browser session.
	TokenID int64
	// SessionID is the browser session that was used, or 0.
	SessionID int64
	// UserID is the ID of the user. It is 0 if the token belongs to an application itself, which acts
	// for no user and can only read public data.
	UserID int64
	// ApplicationID is the application to which the token was issued, or 0.
	ApplicationID int64
	// Role is the role of the user.
	Role Role
	// Suspended is the reason for the suspension of the user, who can only read. It is empty if the
	// user is not suspended.
	Suspended string
	// ExpiresAt is when the token expires, or zero if it does not.
	ExpiresAt time.Time
	// Scopes are the scopes of the token.
	Scopes Scopes
	// HidesNSFW and HidesAI report whether the user chose to hide things from lists that are not safe
	// for work, or that were made with artificial intelligence.
	HidesNSFW, HidesAI bool
	// Opened has the unlisted things that the request opened with their keys. It may be nil.
	Opened *Opened
}

// Known reports whether the caller is not anonymous.
func (c Caller) Known() bool { return c.TokenID != 0 || c.UserID != 0 }

// Moderates reports whether the caller acts as a moderator or an administrator: the user has that
// role, is not suspended, and the token has the scope admin.
func (c Caller) Moderates() bool {
	return (c.Role == Moderator || c.Role == Administrator) && c.Suspended == "" && c.Scopes.Has(Admin)
}

// Administers reports whether the caller acts as an administrator.
func (c Caller) Administers() bool { return c.Role == Administrator && c.Moderates() }

// Account returns the account that the caller's requests are attributed to: the user, whichever
// token they use, or the application if the token is an application's own. It is empty for an
// anonymous caller.
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

// identity is the result of authenticating a request: the caller, or the error.
type identity struct {
	caller  Caller
	err     error
	account string // of the caller
	shared  bool   // work that several callers share; see WithoutAccount
}

func identityOf(ctx context.Context) *identity {
	id, _ := ctx.Value(contextKey{}).(*identity)
	return id
}

// WithCaller returns a context that carries the caller. err, if not nil, is the reason why the
// token of the request is not valid.
func WithCaller(ctx context.Context, c Caller, err error) context.Context {
	return context.WithValue(ctx, contextKey{}, &identity{caller: c, err: err, account: c.Account()})
}

// From returns the caller that ctx carries. The caller is anonymous if the request had no token. If
// the token of the request was not valid, From returns the error of the authentication.
func From(ctx context.Context) (Caller, error) {
	var caller Caller
	var err error
	if id := identityOf(ctx); id != nil {
		caller, err = id.caller, id.err
	}
	caller.Opened = OpenedOf(ctx)
	return caller, err
}

// Verified is a user whose identity was verified, so that a session can begin.
type Verified struct {
	UserID int64
	// PasswordHash is the hash that the password of the user matched. It is empty if the identity was
	// verified in another way.
	PasswordHash string
}

// SignedIn is a user who is signed in with a browser session.
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
	Username        string // the username that the provider proposes; may be empty, taken or invalid
	FirstName       string
	LastName        string
	Email           string    // empty unless it can be trusted; see package oidc
	ExpiresAt       time.Time // of the token

	// IsAdministrator and IsModerator report whether the provider assigns these roles. Nil means that
	// the provider does not decide.
	IsAdministrator, IsModerator *bool
}
