// Package signin serves the pages on which users create accounts, sign in with a password or with
// the operator's OpenID provider, reset their passwords, manage access tokens, and authorize
// applications. It implements the OAuth 2.0 authorization server: RFC 6749 with RFC 7636, 8252,
// 8414, 9207 and 9700, and the implicit grant for legacy applications. Its pages run no scripts and
// cannot be shown in a frame.
package signin

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"

	"github.com/meshyard/meshyard/internal/apierror"
	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/auth/oauth"
	"github.com/meshyard/meshyard/internal/auth/oidc"
	"github.com/meshyard/meshyard/internal/ratelimit"
	"github.com/meshyard/meshyard/internal/urls"
	"github.com/meshyard/meshyard/internal/urls/signing"
)

// Store stores users, sessions, applications and tokens. It is an interface because package models
// implements it, and this package cannot import models.
type Store interface {
	CheckPassword(ctx context.Context, username, password string) (auth.Verified, error)
	Identify(ctx context.Context, id auth.Identity) (userID int64, err error)
	LinkableAccount(ctx context.Context, id auth.Identity) (username string, err error)
	LinkIdentity(ctx context.Context, who auth.Verified, id auth.Identity) error
	SignIn(ctx context.Context, who auth.Verified, userAgent string) (secret string, err error)
	Session(ctx context.Context, secret string) (who auth.SignedIn, ok bool, err error)
	SignOut(ctx context.Context, secret string) error
	Application(ctx context.Context, clientID string) (*oauth.Application, error)
	AuthenticateApplication(ctx context.Context, clientID, secret string) (*oauth.Application, error)
	Authorize(ctx context.Context, g oauth.Grant) (code string, err error)
	AuthorizeImplicitly(ctx context.Context, g oauth.Grant) (*oauth.Token, error)
	Redeem(ctx context.Context, a *oauth.Application, code, redirect, verifier string) (*oauth.Token, error)
	Refresh(ctx context.Context, a *oauth.Application, refresh string) (*oauth.Token, error)
	IssueOwn(ctx context.Context, a *oauth.Application) (*oauth.Token, error)
	TokenInfo(ctx context.Context, token string) (clientID string, userID int64, err error)
	Tokens(ctx context.Context, caller auth.Caller) ([]Token, error)
	CreateToken(ctx context.Context, caller auth.Caller, n NewToken) (secret string, err error)
	RevokeToken(ctx context.Context, caller auth.Caller, id int64) error

	Link(ctx context.Context, secret string) (Link, error)
	Register(ctx context.Context, r Registration) (userID int64, err error)
	RequestSignUp(ctx context.Context, email string) error
	RequestReset(ctx context.Context, name string) error
	RequestConfirmation(ctx context.Context, caller auth.Caller) error
	ResetPassword(ctx context.Context, secret, password string) (userID int64, err error)
	ChangePassword(ctx context.Context, caller auth.Caller, present, password string) error
	ConfirmEmail(ctx context.Context, secret string) error
	Email(ctx context.Context, caller auth.Caller) (email string, confirmed bool, err error)
}

// Options are the dependencies of Handler.
type Options struct {
	// BaseURL is the URL of the server as browsers see it, without a trailing slash. If it is not set
	// by the operator, BaseIsDefault is true, and a form is accepted only if the context of its
	// request has the base URL by urls.WithBase.
	BaseURL       string
	BaseIsDefault bool

	Logger   *slog.Logger
	Key      signing.Key
	Store    Store
	Provider *oidc.Provider // nil: none
	Limits   *ratelimit.Group
	SiteName string // in titles and at the top of pages
	Look     Look
	// SendsMail reports whether the server sends mail, and Registration whether visitors can create an
	// account without an invitation.
	SendsMail, Registration bool
	// Explain returns the status for an error, and its public part. It logs errors that have no public
	// message.
	Explain func(ctx context.Context, err error) (status int, public *apierror.Error)
	// IsPage reports whether a path, perhaps with a query and a fragment, is that of a page to which a
	// browser can be redirected after signing in.
	IsPage func(path string) bool
	// Missing writes the response for a path that does not exist.
	Missing func(w http.ResponseWriter, r *http.Request)
}

type site struct {
	Options
	Cookies
	origin   *http.CrossOriginProtection
	attempts attempts
	requests requests
}

// Paths below the base URL.
const (
	loginPath     = "/login"
	signInPath    = "/signin" // the path that links use; the same page as loginPath
	callbackPath  = "/login/oidc/callback"
	tokensPath    = "/login/tokens"
	authorizePath = "/login/oauth/authorize"
	tokenPath     = "/login/oauth/access_token"
)

// CallbackURL returns the redirect URI of the OpenID provider, which must be registered there.
func CallbackURL(base string) string { return base + callbackPath }

// IsPage reports whether a path is that of a page for browsers. The other paths are for programs.
func IsPage(path string) bool {
	switch first, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/"); first {
	case "signin", "signup", "logout":
		return true
	case "login":
		return !strings.HasPrefix(rest, "oauth/") || path == authorizePath
	}
	return false
}

// Handler serves /login and all paths below it, /signin, /signup, /logout, and the description of
// OAuth 2 at /.well-known/oauth-authorization-server.
func Handler(o Options) http.Handler {
	s := &site{Options: o, Cookies: CookiesAt(o.BaseURL), origin: http.NewCrossOriginProtection(),
		attempts: newAttempts(o.Limits), requests: newRequests(o.Limits)}
	if u, err := url.Parse(o.BaseURL); err == nil {
		// A proxy may change the host of requests, so the origin of the base URL is trusted explicitly.
		// It is valid, because the settings have been checked.
		_ = s.origin.AddTrustedOrigin(u.Scheme + "://" + u.Host)
	}
	s.origin.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.refuse(w, r, http.StatusForbidden, texts(r).OtherSite)
	}))
	mux := http.NewServeMux()
	handle := func(pattern string, h http.HandlerFunc) {
		mux.HandleFunc(pattern, h)
		mux.HandleFunc(pattern+"/{$}", h)
	}
	// form protects a handler of a form against cross-site request forgery.
	form := func(h http.HandlerFunc) http.HandlerFunc {
		protected := s.origin.Handler(h)
		return func(w http.ResponseWriter, r *http.Request) {
			if message := s.unknownHost(r); message != "" {
				s.refuse(w, r, http.StatusMisdirectedRequest, message)
				return
			}
			protected.ServeHTTP(w, r)
		}
	}
	handle("GET /login", s.showSignIn)
	handle("GET "+signInPath, s.showSignIn)
	handle("POST /login", form(s.signInByPassword))
	handle("POST /logout", form(s.signOut))
	handle("GET "+tokensPath, s.showTokens)
	handle("POST "+tokensPath, form(s.createToken))
	handle("POST "+tokensPath+"/revoke", form(s.revokeToken))
	handle("GET "+signUpPath, s.showSignUp)
	handle("POST "+signUpPath, form(s.signUp))
	handle("GET "+InvitationPath, s.showInvitation)
	handle("POST "+InvitationPath, form(s.acceptInvitation))
	handle("GET "+forgottenPath, s.showForgotten)
	handle("POST "+forgottenPath, form(s.forgotten))
	handle("GET "+ResetPath, s.showReset)
	handle("POST "+ResetPath, form(s.reset))
	handle("GET "+ConfirmPath, s.showConfirmation)
	handle("POST "+ConfirmPath, form(s.confirm))
	handle("GET "+passwordPath, s.showAccount)
	handle("POST "+passwordPath, form(s.changePassword))
	handle("POST "+emailPath, form(s.sendConfirmation))
	handle("GET "+authorizePath, s.authorize)
	handle("POST "+authorizePath, form(s.decide))
	handle("POST "+tokenPath, s.issueToken)
	handle("POST /login/oauth/tokeninfo", s.tokenInfo)
	handle("GET /.well-known/oauth-authorization-server", s.describe)
	if o.Provider != nil {
		handle("GET /login/oidc", s.askProvider)
		handle("GET "+callbackPath, s.handleCallback)
		handle("GET "+linkPath, s.showLink)
		handle("POST "+linkPath, form(s.linkAccount))
	}
	mux.HandleFunc("/", o.Missing)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		// URLs here may contain codes. With no-referrer, browsers would send the forms of a server
		// without HTTPS with the origin null, as if they were from another website.
		h.Set("Referrer-Policy", "same-origin")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY") // for browsers that do not support frame-ancestors
		h.Set("Content-Security-Policy", "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		mux.ServeHTTP(w, r)
	})
}

// maxForm is the maximum size of a request body, in bytes.
const maxForm = 64 << 10

// baseURL returns the base URL of the server as the browser sees it.
func (s *site) baseURL(r *http.Request) string { return urls.BaseOf(r.Context(), s.BaseURL) }

// unknownHost returns a message that says what the operator must set, if the base URL is not set
// and the browser uses a host name that could be that of another website. Otherwise it returns "".
func (s *site) unknownHost(r *http.Request) string {
	if !s.BaseIsDefault || urls.BaseOf(r.Context(), "") != "" {
		return ""
	}
	return fmt.Sprintf(texts(r).UnknownHost, r.Host)
}

// onward returns the URL to continue at after signing in: an authorization request of an
// application, or a page of this server. For any other value of next, which a malicious link could
// contain, it returns the home page. This prevents open redirects.
func (s *site) onward(r *http.Request, next string) string {
	u, err := url.Parse(next)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil {
		return s.baseURL(r) + "/"
	}
	switch path := strings.TrimSuffix(u.Path, "/"); path {
	case authorizePath:
		return s.baseURL(r) + path + "?" + u.RawQuery
	case tokensPath, passwordPath, "/graphiql", "/reference":
		return s.baseURL(r) + path
	}
	if s.IsPage != nil && s.IsPage(next) {
		return s.baseURL(r) + u.String()
	}
	return s.baseURL(r) + "/"
}

// signInFirst redirects the browser to the sign-in page, and after signing in to a path of this
// server.
func (s *site) signInFirst(w http.ResponseWriter, r *http.Request, path string) {
	next := url.Values{"next": {path}}
	http.Redirect(w, r, s.baseURL(r)+loginPath+"?"+next.Encode(), http.StatusSeeOther)
}
