// Package auth holds who calls: scopes, access tokens and the caller that a request carries.
package auth

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Scope is one thing a token allows.
type Scope string

// The scopes. Each stands for itself alone: a token that shall read and write carries both.
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

// Has tells whether the set holds scope.
func (s Scopes) Has(scope Scope) bool { return slices.Contains(s, scope) }

func (s Scopes) String() string {
	names := make([]string, len(s))
	for i, scope := range s {
		names[i] = string(scope)
	}
	return strings.Join(names, " ")
}

// Caller is who makes a request. The zero Caller is nobody.
type Caller struct {
	TokenID int64
	UserID  int64
	IsAdmin bool // the user is an administrator
	Scopes  Scopes
}

// Staff tells whether the caller acts as an administrator: is one, and holds a token that says so.
func (c Caller) Staff() bool { return c.IsAdmin && c.Scopes.Has(Admin) }

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

// From gives the caller that ctx carries, and why there is none where a token was presented in vain.
func From(ctx context.Context) (Caller, error) {
	id, _ := ctx.Value(contextKey{}).(identity)
	return id.caller, id.err
}
