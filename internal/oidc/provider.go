// Package oidc knows people by the operator's OpenID provider: it signs them in by the authorization code flow of OpenID Connect Core 1.0, with state, nonce and
// proof key, and believes ID tokens of that provider that are meant for this server.
package oidc

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/meshyard/meshyard/internal/auth"
)

// ErrRefused says that the provider does not vouch for whoever asks: a code or a token is not good. What exactly is wrong is not said, for it would repeat them.
var ErrRefused = errors.New("the OpenID provider does not vouch for this")

// Provider is an OpenID provider. It is found when it is first needed, and again later where that failed: the server starts without it.
type Provider struct {
	Issuer       string // its address, exactly as it writes it in its tokens
	ClientID     string // what this server is called there
	ClientSecret string
	RedirectURL  string // where it answers

	documents documents // what the provider publishes, as it was fetched last
	mu        sync.Mutex
	found     *oidc.Provider
	failure   error // of the last attempt to find it
	again     time.Time
}

// retryAfter is how long a provider that could not be found is left alone, so that who asks meanwhile need not wait.
const retryAfter = 5 * time.Second

// provider gives what the provider publishes of itself.
func (p *Provider) provider(ctx context.Context) (*oidc.Provider, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.found != nil {
		return p.found, nil
	}
	if p.failure != nil && time.Now().Before(p.again) {
		return nil, p.failure
	}
	found, err := oidc.NewProvider(oidc.ClientContext(context.WithoutCancel(ctx), p.client()), p.Issuer) // one who waits may go, and the others not
	if err != nil {
		p.failure, p.again = fmt.Errorf("the OpenID provider %s cannot be asked: %w", p.Issuer, err), time.Now().Add(retryAfter)
		return nil, p.failure
	}
	p.found, p.failure = found, nil
	return found, nil
}

func (p *Provider) config(found *oidc.Provider) *oauth2.Config {
	return &oauth2.Config{
		ClientID: p.ClientID, ClientSecret: p.ClientSecret, RedirectURL: p.RedirectURL, Endpoint: found.Endpoint(),
		Scopes: []string{oidc.ScopeOpenID, "profile", "email"},
	}
}

// AuthorizeURL is where a browser is sent to sign in. state, nonce and verifier are random, and kept for Exchange.
func (p *Provider) AuthorizeURL(ctx context.Context, state, nonce, verifier string) (string, error) {
	found, err := p.provider(ctx)
	if err != nil {
		return "", err
	}
	return p.config(found).AuthCodeURL(state, oidc.Nonce(nonce), oauth2.S256ChallengeOption(verifier)), nil
}

// Exchange turns the code that the browser came back with into whom it is for. A code that is not good, or not for this nonce and verifier, is ErrRefused.
func (p *Provider) Exchange(ctx context.Context, code, nonce, verifier string) (auth.Identity, error) {
	found, err := p.provider(ctx)
	if err != nil {
		return auth.Identity{}, err
	}
	ctx = oidc.ClientContext(ctx, p.client())
	token, err := p.config(found).Exchange(ctx, code, oauth2.VerifierOption(verifier))
	if err != nil {
		return auth.Identity{}, ErrRefused
	}
	raw, _ := token.Extra("id_token").(string)
	said, id, err := p.verify(ctx, found, raw)
	if err != nil || said.Nonce != nonce {
		return auth.Identity{}, ErrRefused
	}
	return id, nil
}

// IsToken tells whether a text looks like a token of any provider: a JWT in compact form.
func IsToken(text string) bool { return strings.HasPrefix(text, "ey") && strings.Count(text, ".") == 2 }

// Verify tells whose an ID token is. One that is not the provider's, not for this server, or over, is ErrRefused.
func (p *Provider) Verify(ctx context.Context, token string) (auth.Identity, error) {
	found, err := p.provider(ctx)
	if err != nil {
		return auth.Identity{}, err
	}
	_, id, err := p.verify(ctx, found, token)
	return id, err
}

func (p *Provider) verify(ctx context.Context, found *oidc.Provider, raw string) (*oidc.IDToken, auth.Identity, error) {
	token, err := found.Verifier(&oidc.Config{ClientID: p.ClientID}).Verify(ctx, raw)
	if err != nil {
		return nil, auth.Identity{}, ErrRefused
	}
	var claims struct {
		PreferredUsername string `json:"preferred_username"`
		GivenName         string `json:"given_name"`
		FamilyName        string `json:"family_name"`
		Email             string `json:"email"`
		EmailVerified     bool   `json:"email_verified"`
	}
	if err := token.Claims(&claims); err != nil {
		return nil, auth.Identity{}, ErrRefused
	}
	id := auth.Identity{
		Issuer: token.Issuer, Subject: token.Subject, Username: claims.PreferredUsername, FirstName: claims.GivenName, LastName: claims.FamilyName, ExpiresAt: token.Expiry,
	}
	if claims.EmailVerified {
		id.Email = claims.Email
	}
	return token, id, nil
}
