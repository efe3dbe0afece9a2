package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/meshyard/meshyard/internal/apierror"
	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/auth/bearer"
	"github.com/meshyard/meshyard/internal/auth/oidc"
	"github.com/meshyard/meshyard/internal/clientip"
	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/internal/graphql/graphqlhttp"
	"github.com/meshyard/meshyard/internal/outage"
	"github.com/meshyard/meshyard/internal/urls/signing"
	"github.com/meshyard/meshyard/internal/web/pages"
	"github.com/meshyard/meshyard/internal/web/signin"
	"github.com/meshyard/meshyard/internal/web/webpage"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/account"
)

// signIn returns the handler of the pages to sign in and register, and of OAuth 2.
func (a *Server) signIn(key signing.Key, webPages webpage.Options) http.Handler {
	look := signin.Look{}
	if webPages.Site.Logo != nil {
		look.Logo = pages.BasePath(a.Settings.BaseURL) + webPages.Site.LogoPath()
	}
	if theme := webPages.Site.Theme(); theme != nil {
		look.Accent, look.Text = theme.Accent, theme.Text
	}
	return signin.Handler(signin.Options{
		BaseURL: a.Settings.BaseURL, BaseIsDefault: a.Settings.BaseURLIsDefault, Logger: a.Logger, Key: key,
		Store: accounts{a.Store.Account}, Provider: a.provider, Limits: a.limiters,
		Missing: func(w http.ResponseWriter, r *http.Request) {
			if webpage.IsVisit(r) {
				webPages.NotFound(w, r)
				return
			}
			missing(w)
		},
		Explain: explain, IsPage: func(path string) bool { return webPages.IsPage(path) || isViewer(path) },
		SiteName: a.Settings.SiteName, Look: look, SendsMail: a.Settings.SMTPURL != "", Registration: a.Settings.Registration,
	})
}

// accounts implements signin.Store: it converts the types of package account to those of package
// signin.
type accounts struct{ *account.Store }

// Tokens returns the valid access tokens of the caller's user, newest first.
func (a accounts) Tokens(ctx context.Context, caller auth.Caller) ([]signin.Token, error) {
	rows, err := a.WorkingTokens(ctx, caller)
	if err != nil {
		return nil, err
	}
	var ids []int64
	for _, t := range rows {
		if t.ApplicationID != 0 {
			ids = append(ids, t.ApplicationID)
		}
	}
	applications, err := a.ApplicationsByID(ctx, account.AllApplicationFields, ids)
	if err != nil {
		return nil, err
	}
	tokens := make([]signin.Token, len(rows))
	for i, t := range rows {
		tokens[i] = signin.Token{ID: t.ID, Name: t.Name, Scopes: t.ScopeList(), CreatedAt: t.CreatedAt,
			ExpiresAt: t.ExpiresAt, LastUsedAt: t.LastUsedAt}
		if app := applications[t.ApplicationID]; app != nil {
			tokens[i].Application = app.Name
		}
	}
	return tokens, nil
}

// CreateToken creates an access token of the caller's user and returns it.
func (a accounts) CreateToken(ctx context.Context, caller auth.Caller, n signin.NewToken) (string, error) {
	secret, _, err := a.Store.CreateToken(ctx, caller, account.NewToken{Name: n.Name, Scopes: n.Scopes,
		ExpiresAt: n.ExpiresAt})
	return secret, err
}

// RevokeToken revokes an access token of the caller's user.
func (a accounts) RevokeToken(ctx context.Context, caller auth.Caller, id int64) error {
	_, err := a.Store.RevokeToken(ctx, caller, id)
	return err
}

// Link returns the purpose of a link, and the e-mail address and the username that belong to it.
func (a accounts) Link(ctx context.Context, secret string) (signin.Link, error) {
	l, err := a.Store.Link(ctx, secret)
	return signin.Link{Purpose: string(l.Purpose), Email: l.Email, Username: l.Username}, err
}

// Register creates an account and returns the user's ID.
func (a accounts) Register(ctx context.Context, r signin.Registration) (userID int64, err error) {
	return a.Store.Register(ctx, account.Registration{Secret: r.Secret, Username: r.Username, Email: r.Email,
		Password: r.Password})
}

// RequestSignUp queues a mail with a link to create an account.
func (a accounts) RequestSignUp(ctx context.Context, email string) error {
	return a.RequestMail(ctx, models.Mail{Purpose: models.SignUpLink, Email: email})
}

// RequestReset queues mails with links to reset a password, if there is such a user.
func (a accounts) RequestReset(ctx context.Context, name string) error {
	return a.RequestMail(ctx, models.Mail{Purpose: models.ResetLink, Name: name})
}

// RequestConfirmation queues a mail with a link to confirm the caller's e-mail address.
func (a accounts) RequestConfirmation(ctx context.Context, caller auth.Caller) error {
	return a.RequestMail(ctx, models.Mail{Purpose: models.ConfirmationLink, UserID: caller.UserID})
}

// explain returns the status of an error and its public part, for a page.
func explain(ctx context.Context, err error) (status int, public *apierror.Error) {
	var presented *gqlerror.Error // of an operation
	if !errors.As(err, &presented) {
		presented = graphqlhttp.PresentError(ctx, err)
	}
	_, status = graphqlhttp.MostSevere(gqlerror.List{presented})
	public = &apierror.Error{Message: presented.Message}
	if code, ok := presented.Extensions["code"].(string); ok {
		public.Code = apierror.Code(code)
	}
	public.Field, _ = presented.Extensions["field"].(string)
	if seconds, ok := presented.Extensions["retryAfter"].(int); ok {
		public.RetryAfter = time.Duration(seconds) * time.Second
	}
	return status, public
}

// newProvider returns the OpenID provider of the settings, or nil if none is configured.
func newProvider(s config.Settings) *oidc.Provider {
	if s.OIDCIssuer == "" {
		return nil
	}
	return &oidc.Provider{
		Issuer: s.OIDCIssuer, ClientID: s.OIDCClientID, ClientSecret: s.OIDCClientSecret,
		RedirectURL: signin.CallbackURL(s.BaseURL), Scopes: s.OIDCScopes,
		Rules: oidc.Rules{
			UsernameClaim: s.OIDCUsernameClaim, NameClaim: s.OIDCNameClaim, EmailClaim: s.OIDCEmailClaim,
			AllowUnverifiedEmail: s.OIDCAllowUnverifiedEmail,
			GroupsClaim:          s.OIDCGroupsClaim, AllowedGroups: s.OIDCAllowedGroups, AllowedDomains: s.OIDCAllowedDomains,
			RoleClaim: s.OIDCRoleClaim, Administrators: s.OIDCAdministrators, Moderators: s.OIDCModerators,
		},
	}
}

// withCaller returns ctx with the caller of a request: the user of its token or, without a token,
// the user of its session. If the token or the session is not valid, ctx carries that error, and
// the requested field or route decides whether authentication is required. A session counts only if
// a page of this server sent the request with signin.SessionHeader, which prevents cross-site
// request forgery and requests of a page as a user who has signed in later in another tab.
func (a *Server) withCaller(ctx context.Context, r *http.Request) context.Context {
	if token := bearer.Token(r); token != "" {
		caller, err := a.authenticate(ctx, token)
		return auth.WithCaller(ctx, caller, err)
	}
	user := r.Header.Get(signin.SessionHeader)
	if user == "" || !a.fromOwnPage(r) {
		return ctx
	}
	secret := signin.CookiesAt(a.Settings.BaseURL).Session(r)
	if secret == "" {
		return ctx
	}
	who, ok, err := a.Store.Account.Session(ctx, secret)
	switch {
	case err != nil:
	case !ok:
		err = &models.Error{Code: models.Unauthenticated, Message: "the session ended: sign in again"}
	case user != signin.AnyUser && user != who.Username && user != signin.UserPrefix+strconv.FormatInt(who.UserID, 10):
		who = auth.SignedIn{}
		err = &models.Error{Code: models.Unauthenticated,
			Message: "another user has signed in in this browser: reload the page"}
	}
	return auth.WithCaller(ctx, who.Caller, err)
}

// fromOwnPage reports whether a page of this server sent a request, according to the headers that
// browsers set. A request without Sec-Fetch-Site and Origin passes: browsers omit both in a GET
// over plain HTTP to the page's own origin.
func (a *Server) fromOwnPage(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" {
		return site == "same-origin"
	}
	origin := r.Header.Get("Origin")
	return origin == "" || a.ownOrigin(r, origin)
}

// session returns the user whose browser session a page request belongs to. ok is false if there is
// none.
func (a *Server) session(r *http.Request) (who auth.SignedIn, ok bool, err error) {
	found := sessionOf(r.Context())
	if found == nil {
		found = a.lookUpSession(r)
	}
	return found.who, found.ok, found.err
}

// sessionKey is the key of the session in the context of a page request that limits have looked up.
type sessionKey struct{}

// foundSession is the result of looking up the session of a request.
type foundSession struct {
	who auth.SignedIn
	ok  bool
	err error
}

func sessionOf(ctx context.Context) *foundSession {
	found, _ := ctx.Value(sessionKey{}).(*foundSession)
	return found
}

func (a *Server) lookUpSession(r *http.Request) *foundSession {
	found := new(foundSession)
	if secret := signin.CookiesAt(a.Settings.BaseURL).Session(r); secret != "" {
		found.who, found.ok, found.err = a.Store.Account.Session(r.Context(), secret)
	}
	return found
}

// signedIn is session for pages that also work without a user, such as during an outage.
func (a *Server) signedIn(r *http.Request) (who auth.SignedIn, ok bool) {
	who, ok, err := a.session(r)
	if err != nil {
		a.Logger.ErrorContext(r.Context(), "session of a page", "error", err.Error())
		return auth.SignedIn{}, false
	}
	return who, ok
}

// mayRead returns nil if a request without a signature may read the content of published files: on
// a server with anonymous reading every request may, on others the request needs a browser session
// or a token with the scope read. A cookie suffices for the session, because browsers send no
// cookies when a page of another site embeds a file.
func (a *Server) mayRead(r *http.Request) error {
	if a.Settings.AnonymousRead {
		return nil
	}
	token := bearer.Token(r)
	if token == "" {
		if _, ok, err := a.session(r); ok || err != nil {
			return err
		}
		return &models.Error{Code: models.Unauthenticated, Message: "a signed URL, an access token or signing in is required"}
	}
	caller, err := a.authenticate(auth.WithNetwork(r.Context(), clientip.Network(r)), token)
	return auth.Authorize(auth.WithCaller(r.Context(), caller, err), auth.Read)
}

// maxRefusedIDTokens is the maximum number of rejected ID tokens from one network in a
// ratelimit.Window. Further ones are rejected without verification, because anyone can send forged
// tokens, and verifying a signature takes CPU time.
const maxRefusedIDTokens = 100

// providerDown is the error of an ID token that cannot be verified.
var providerDown = &models.Error{
	Code: apierror.Unavailable, RetryAfter: outage.RetryAfter,
	Message: "the OpenID provider is unavailable: try again in a few seconds",
}

// authenticate returns the caller of a token, which is an access token of this server or an ID
// token of the operator's OpenID provider. ctx contains the network of the request. For an ID token
// it returns RateLimited if too many from the network were rejected, and Unauthenticated if the
// token is not valid. It returns Forbidden if the user is not admitted, and Unavailable if the
// provider cannot be reached.
func (a *Server) authenticate(ctx context.Context, token string) (auth.Caller, error) {
	if a.provider == nil || !oidc.IsToken(token) {
		return a.Store.Account.Authenticate(ctx, token)
	}
	network := auth.Account(ctx)
	if wait, ok := a.idTokens.Allow(ctx, network); !ok {
		return auth.Caller{}, &models.Error{
			Code: models.RateLimited, Limit: maxRefusedIDTokens, RetryAfter: wait,
			Message: fmt.Sprintf("more than %d ID tokens from this network were rejected within 5 minutes: wait %s",
				maxRefusedIDTokens, wait),
		}
	}
	caller, err := a.Store.Account.AuthenticateBearer(ctx, token, a.provider.Verify)
	if !errors.Is(err, oidc.ErrRefused) {
		a.idTokens.Refund(ctx, network)
	}
	switch {
	case errors.Is(err, oidc.ErrNotAdmitted):
		err = &models.Error{Code: models.Forbidden, Message: err.Error()}
	case errors.Is(err, oidc.ErrRefused):
		message := "the ID token was not issued by the OpenID provider for this server, or it has expired"
		if refusal := new(oidc.Refusal); errors.As(err, &refusal) {
			message = "the ID token was rejected: " + refusal.Reason
		}
		a.Logger.InfoContext(ctx, "ID token rejected", "error", err.Error())
		err = &models.Error{Code: models.Unauthenticated, Message: message}
	case errors.Is(err, oidc.ErrUnavailable):
		outage.Log(ctx, providerDown, err)
		err = providerDown
	}
	return caller, err
}
