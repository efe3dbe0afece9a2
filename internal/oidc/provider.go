// Package oidc knows people by the operator's OpenID provider: it signs them in by the
// authorization code flow of OpenID Connect Core 1.0, with state, nonce and proof key, and believes
// ID tokens of that provider that are meant for this server.
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

// ErrRefused means that the provider does not confirm the user: a code or a token is not valid.
// What exactly is wrong is not said, for it would repeat them.
var ErrRefused = errors.New("the OpenID provider does not vouch for this")

// Provider is an OpenID provider. It is found when it is first needed, and again later where that
// failed: the server starts without it.
type Provider struct {
	Issuer       string // its address, exactly as it writes it in its tokens
	ClientID     string // what this server is called there
	ClientSecret string
	RedirectURL  string   // where it answers
	Scopes       []string // to ask for besides openid
	Rules        Rules

	documents documents // what the provider publishes, as it was fetched last
	mu        sync.Mutex
	found     *oidc.Provider
	failure   error // of the last attempt to find it
	again     time.Time
}

// retryAfter is how long a provider that could not be found is left alone, so that who asks
// meanwhile need not wait.
const retryAfter = 5 * time.Second

// provider returns what the provider publishes of itself.
func (p *Provider) provider(ctx context.Context) (*oidc.Provider, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.found != nil {
		return p.found, nil
	}
	if p.failure != nil && time.Now().Before(p.again) {
		return nil, p.failure
	}
	// one who waits may go, and the others not
	found, err := oidc.NewProvider(oidc.ClientContext(context.WithoutCancel(ctx), p.client()), p.Issuer)
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
		Scopes: append([]string{oidc.ScopeOpenID}, p.Scopes...),
	}
}

// AuthorizeURL is where a browser is sent to sign in. state, nonce and verifier are random, and
// kept for Exchange.
func (p *Provider) AuthorizeURL(ctx context.Context, state, nonce, verifier string) (string, error) {
	found, err := p.provider(ctx)
	if err != nil {
		return "", err
	}
	return p.config(found).AuthCodeURL(state, oidc.Nonce(nonce), oauth2.S256ChallengeOption(verifier)), nil
}

// Exchange turns the code that the browser came back with into the identity of its user, and their
// roles. Claims that the ID token lacks come from UserInfo. A code that is not valid, or not for
// this nonce and verifier, is ErrRefused.
func (p *Provider) Exchange(ctx context.Context, code, nonce, verifier string) (auth.Identity, error) {
	found, err := p.provider(ctx)
	if err != nil {
		return auth.Identity{}, err
	}
	ctx = oidc.ClientContext(ctx, p.client())
	token, err := p.config(found).Exchange(ctx, code, oauth2.VerifierOption(verifier))
	if answer := new(oauth2.RetrieveError); errors.As(err, &answer) {
		return auth.Identity{}, fmt.Errorf("%w: its token endpoint answered %s %s", ErrRefused, answer.Response.Status, answer.ErrorCode)
	} else if err != nil {
		return auth.Identity{}, fmt.Errorf("ask the OpenID provider %s for a token: %w", p.Issuer, err)
	}
	raw, _ := token.Extra("id_token").(string)
	idToken, said, err := p.verify(ctx, found, raw)
	if err != nil || idToken.Nonce != nonce {
		return auth.Identity{}, ErrRefused
	}
	if p.Rules.lacking(said) && found.UserInfoEndpoint() != "" {
		info, err := found.UserInfo(ctx, oauth2.StaticTokenSource(token))
		if err != nil {
			return auth.Identity{}, fmt.Errorf("ask the OpenID provider %s for UserInfo: %.300s", p.Issuer, err)
		}
		if info.Subject != idToken.Subject { // OpenID Connect Core 1.0, section 5.3.2
			return auth.Identity{}, ErrRefused
		}
		var more map[string]any
		if err := info.Claims(&more); err != nil {
			return auth.Identity{}, ErrRefused
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

// Verify returns the identity of the user of an ID token. It decides no roles, and the claims must
// be in the token: there is no access token to ask UserInfo with. A token that is not the
// provider's, not for this server, or expired, is ErrRefused.
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
	token, err := found.Verifier(&oidc.Config{ClientID: p.ClientID}).Verify(ctx, raw)
	if err != nil {
		return nil, nil, ErrRefused
	}
	var said map[string]any
	if err := token.Claims(&said); err != nil {
		return nil, nil, ErrRefused
	}
	return token, claims{said}, nil
}

func identityOf(token *oidc.IDToken) auth.Identity {
	return auth.Identity{Issuer: token.Issuer, Subject: token.Subject, ExpiresAt: token.Expiry}
}
