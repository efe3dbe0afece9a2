// Package oidc authenticates users with the operator's OpenID provider. It implements sign-in by
// the authorization code flow of OpenID Connect Core 1.0, with state, nonce and PKCE, and verifies
// ID tokens that the provider issued for this server.
//
// It returns an [auth.Identity] and does not use the database: package models finds or creates the
// user. The server can start, and run, while the provider is down.
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

// ErrRefused means that the provider does not confirm the user: a code or a token is not valid. If
// it is a Refusal, that contains the reason.
var ErrRefused = errors.New("the OpenID provider did not confirm the user")

// ErrUnavailable means that the configuration or the keys of the provider could not be loaded.
var ErrUnavailable = errors.New("the OpenID provider is unavailable")

// Provider is an OpenID provider. Its configuration is discovered when it is first needed, and
// discovery is retried after a failure. So the server can start while the provider is down.
type Provider struct {
	Issuer       string // its URL, exactly as in the claim iss of its tokens
	ClientID     string // the ID of this server at the provider
	ClientSecret string
	RedirectURL  string   // to which the provider redirects after the sign-in
	Scopes       []string // requested in addition to openid
	Rules        Rules

	documents documents // cache of the provider's configuration and keys
	mu        sync.Mutex
	found     *oidc.Provider
	failure   error // error of the last discovery
	again     time.Time
}

// retryAfter is the time after a failed discovery during which the error is returned without
// another attempt, so that requests do not wait for an unreachable provider.
const retryAfter = 5 * time.Second

// provider returns the discovered configuration of the provider, or ErrUnavailable.
func (p *Provider) provider(ctx context.Context) (*oidc.Provider, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.found != nil {
		return p.found, nil
	}
	if p.failure != nil && time.Now().Before(p.again) {
		return nil, p.failure
	}
	// The end of one request must not cancel the discovery for others that wait.
	found, err := oidc.NewProvider(oidc.ClientContext(context.WithoutCancel(ctx), p.client()), p.Issuer)
	if err != nil {
		p.failure, p.again = fmt.Errorf("%w: %s: %w", ErrUnavailable, p.Issuer, err), time.Now().Add(retryAfter)
		return nil, p.failure
	}
	p.found, p.failure = found, nil
	return found, nil
}

// Check returns ErrUnavailable if the configuration of the provider cannot be loaded. It does not
// keep the configuration or the failure, so it does not affect users who sign in at the same time.
func (p *Provider) Check(ctx context.Context) error {
	if _, err := oidc.NewProvider(oidc.ClientContext(ctx, new(Provider).client()), p.Issuer); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrUnavailable, p.Issuer, err)
	}
	return nil
}

func (p *Provider) config(found *oidc.Provider) *oauth2.Config {
	return &oauth2.Config{
		ClientID: p.ClientID, ClientSecret: p.ClientSecret, RedirectURL: p.RedirectURL, Endpoint: found.Endpoint(),
		Scopes: append([]string{oidc.ScopeOpenID}, p.Scopes...),
	}
}

// AuthorizeURL returns the URL to which the browser is redirected to sign in. state, nonce and
// verifier are random. The caller keeps them for the callback and for Exchange.
func (p *Provider) AuthorizeURL(ctx context.Context, state, nonce, verifier string) (string, error) {
	found, err := p.provider(ctx)
	if err != nil {
		return "", err
	}
	return p.config(found).AuthCodeURL(state, oidc.Nonce(nonce), oauth2.S256ChallengeOption(verifier)), nil
}

// Exchange exchanges an authorization code for the identity of the user, including roles. Claims
// that are missing in the ID token are taken from UserInfo. It returns ErrRefused if the code is
// not valid or was issued for another nonce or verifier. It returns ErrNotAdmitted if Rules do not
// admit the user, and ErrUnavailable if the configuration or the keys of the provider cannot be
// loaded.
func (p *Provider) Exchange(ctx context.Context, code, nonce, verifier string) (auth.Identity, error) {
	found, err := p.provider(ctx)
	if err != nil {
		return auth.Identity{}, err
	}
	ctx = oidc.ClientContext(ctx, p.client())
	token, err := p.config(found).Exchange(ctx, code, oauth2.VerifierOption(verifier))
	if retrieveErr := new(oauth2.RetrieveError); errors.As(err, &retrieveErr) {
		return auth.Identity{}, refuse("the token endpoint returned %s %.*q", retrieveErr.Response.Status, maxQuoted,
			retrieveErr.ErrorCode)
	} else if err != nil {
		return auth.Identity{}, fmt.Errorf("token request to the OpenID provider %s: %w", p.Issuer, err)
	}
	raw, _ := token.Extra("id_token").(string)
	if raw == "" {
		return auth.Identity{}, refuse("the response of the token endpoint has no id_token")
	}
	idToken, said, err := p.verify(ctx, found, raw)
	if err != nil {
		return auth.Identity{}, err
	}
	if idToken.Nonce != nonce {
		return auth.Identity{}, refuse("the nonce of the ID token is not that of this sign-in")
	}
	if p.Rules.lacking(said) && found.UserInfoEndpoint() != "" {
		info, err := found.UserInfo(ctx, oauth2.StaticTokenSource(token))
		if err != nil {
			return auth.Identity{}, fmt.Errorf("UserInfo request to the OpenID provider %s: %.300s", p.Issuer, err)
		}
		if info.Subject != idToken.Subject { // OpenID Connect Core 1.0, section 5.3.2
			return auth.Identity{}, refuse("the subject (sub) of UserInfo is not that of the ID token")
		}
		var more map[string]any
		if err := info.Claims(&more); err != nil {
			return auth.Identity{}, refuse("the claims of UserInfo are not a JSON object")
		}
		said = append(said, more)
	}
	id := identityOf(idToken)
	if err := p.Rules.identify(said, &id); err != nil {
		return auth.Identity{}, err
	}
	p.Rules.decideRoles(said, &id)
	return id, nil
}

// IsToken reports whether a text looks like a token of any provider: a JWT in compact form.
func IsToken(text string) bool { return strings.HasPrefix(text, "ey") && strings.Count(text, ".") == 2 }

// Verify returns the identity of the user of an ID token. It sets no roles. All claims must be in
// the token, because there is no access token for UserInfo. It returns ErrRefused if the token was
// not issued by the provider, is not for this server, or is expired. It returns ErrNotAdmitted if
// Rules do not admit the user, and ErrUnavailable if the configuration or the keys of the provider
// cannot be loaded.
func (p *Provider) Verify(ctx context.Context, token string) (auth.Identity, error) {
	found, err := p.provider(ctx)
	if err != nil {
		return auth.Identity{}, err
	}
	idToken, said, err := p.verify(ctx, found, token)
	if err != nil {
		return auth.Identity{}, err
	}
	id := identityOf(idToken)
	return id, p.Rules.identify(said, &id)
}

func (p *Provider) verify(ctx context.Context, found *oidc.Provider, raw string) (*oidc.IDToken, claims, error) {
	at := time.Now()
	token, err := found.Verifier(&oidc.Config{ClientID: p.ClientID, Now: func() time.Time { return at }}).Verify(ctx, raw)
	if err != nil {
		// The error of go-oidc wraps no cause, but documents knows whether the keys could be loaded.
		var published struct {
			Keys string `json:"jwks_uri"`
		}
		if found.Claims(&published) == nil {
			if cause := p.documents.failure(published.Keys); cause != nil {
				return nil, nil, fmt.Errorf("%w: %s: %w", ErrUnavailable, p.Issuer, cause)
			}
		}
		return nil, nil, p.refusal(found, raw, err, at)
	}
	var said map[string]any
	if err := token.Claims(&said); err != nil {
		return nil, nil, refuse("the claims of the ID token are not a JSON object")
	}
	return token, claims{said}, nil
}

func identityOf(token *oidc.IDToken) auth.Identity {
	return auth.Identity{Issuer: token.Issuer, Subject: token.Subject, ExpiresAt: token.Expiry}
}
