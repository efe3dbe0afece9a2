// Package oauth implements the parts of OAuth 2.0 (RFC 6749) that need neither the database nor
// HTTP: scopes, redirect URIs and PKCE (RFC 7636). It follows RFC 9700: redirect URIs are compared
// exactly, PKCE uses S256, and the implicit grant is limited to applications that are registered
// for it.
package oauth

import (
	"errors"
	"strings"
	"time"

	"github.com/meshyard/meshyard/internal/auth"
)

// CodeLifetime is how long an authorization code can be exchanged for a token.
const CodeLifetime = 10 * time.Minute

// ImplicitLifetime is the lifetime of a token issued by the implicit grant.
const ImplicitLifetime = 30 * 24 * time.Hour

// ApplicationLifetime is the lifetime of a token issued by the client credentials grant.
const ApplicationLifetime = 24 * time.Hour

// AccessLifetime is the lifetime of a token of an application that uses PKCE.
const AccessLifetime = time.Hour

// RefreshLifetime is how long a refresh token can be exchanged for a new access token.
const RefreshLifetime = 60 * 24 * time.Hour

// Application is a registered OAuth client.
type Application struct {
	ID        int64
	ClientID  string
	Name      string
	Redirects []string
	Public    bool // a public client: it has no secret and must use PKCE
	Implicit  bool // may use the implicit grant, for old applications that cannot be changed
}

// Grant is the authorization that a user gives an application.
type Grant struct {
	Application *Application
	UserID      int64
	Redirect    string // the redirect URI as the application sent it
	Scopes      auth.Scopes
	Challenge   string // PKCE challenge (S256); empty if none was sent
}

// Token is a newly issued access token.
type Token struct {
	Text      string
	Scopes    auth.Scopes
	ExpiresAt *time.Time // nil if it does not expire
	Refresh   string     // the refresh token; empty if there is none
}

// ParseScopes parses scopes separated by spaces. An empty text means read and write, which legacy
// clients rely on. OAuth tokens cannot have the scopes of moderators and administrators; users
// create such tokens themselves.
func ParseScopes(text string) (auth.Scopes, error) {
	if strings.TrimSpace(text) == "" {
		return auth.Scopes{auth.Read, auth.Write}, nil
	}
	scopes, err := auth.ParseScopes(strings.Fields(text))
	if err == nil && scopes.Has(auth.Admin) {
		err = errors.New("scope admin: is not available to applications")
	}
	return scopes, err
}
