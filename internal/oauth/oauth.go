// Package oauth holds what OAuth 2 (RFC 6749) says of applications, redirect addresses and proof keys (RFC 7636), as far as it needs neither rows nor
// requests. It follows RFC 9700: addresses are compared exactly, proof keys are S256, and the implicit form is for applications that are known to need it.
package oauth

import (
	"errors"
	"strings"
	"time"

	"github.com/meshyard/meshyard/internal/auth"
)

// CodeLifetime is how long an authorization code can be turned into a token.
const CodeLifetime = 10 * time.Minute

// ImplicitLifetime is how long a token lives that came in an address.
const ImplicitLifetime = 30 * 24 * time.Hour

// ApplicationLifetime is how long a token lives that is an application's own.
const ApplicationLifetime = 24 * time.Hour

// Application is a program that may ask users to let it in.
type Application struct {
	ID        int64
	ClientID  string
	Name      string
	Redirects []string
	Public    bool // can keep no secret: it proves with a key of its own that a code is its own
	Implicit  bool // may have tokens in an address: it was written for that and cannot be changed
}

// Grant is what a user allows an application.
type Grant struct {
	Application *Application
	UserID      int64
	Redirect    string // where the answer goes, as the application wrote it
	Scopes      auth.Scopes
	Challenge   string // S256; empty: none was sent
}

// Token is an access token that was just made.
type Token struct {
	Text      string
	Scopes    auth.Scopes
	ExpiresAt *time.Time // nil: never
}

// ParseScopes reads scopes that are separated by blanks. None at all are read and write, which programs for the old interface rely on. None reaches the
// powers of the staff: those are for tokens that their users make themselves.
func ParseScopes(text string) (auth.Scopes, error) {
	if strings.TrimSpace(text) == "" {
		return auth.Scopes{auth.Read, auth.Write}, nil
	}
	scopes, err := auth.ParseScopes(strings.Fields(text))
	if err == nil && scopes.Has(auth.Admin) {
		err = errors.New("scope admin: is for no application")
	}
	return scopes, err
}
