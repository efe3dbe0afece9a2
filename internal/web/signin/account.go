package signin

import (
	"net/http"
	"strings"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/clientip"
	"github.com/meshyard/meshyard/internal/ratelimit"
	"github.com/meshyard/meshyard/internal/urls"
	"github.com/meshyard/meshyard/internal/web/language"
)

// Link is a link that a user received by mail or from an administrator.
type Link struct {
	Purpose  string
	Email    string // e-mail address of the account that the link creates or confirms; may be empty
	Username string // username, if the account exists already
}

// Registration is the input for creating an account.
type Registration struct {
	Secret   string // secret of the link; empty: none
	Username string
	Email    string
	Password string
}

// Paths of pages that links lead to, below the base URL. The secret of a link is in its query,
// which is not logged.
const (
	signUpPath     = "/signup"
	InvitationPath = urls.InvitationPath
	ConfirmPath    = "/login/confirm"
	ResetPath      = "/login/reset"
	forgottenPath  = "/login/forgotten"
	passwordPath   = "/login/password"
	emailPath      = "/login/email"
)

// requests limits the requests of visitors without an account in each ratelimit.Window: network
// limits new accounts and mails for each network, and name limits mails for each name or address
// that was entered.
type requests struct{ network, name *ratelimit.Strict }

const (
	requestsPerNetwork = 20
	mailsPerName       = 3
)

func newRequests(g *ratelimit.Group) requests {
	return requests{g.Strict("accounts of a network", requestsPerNetwork), g.Strict("mails to a name", mailsPerName)}
}

// allowed counts a request of a network. If the limit is exceeded, it writes the response and
// returns false.
func (s *site) allowed(w http.ResponseWriter, r *http.Request) bool {
	wait, ok := s.requests.network.Allow(r.Context(), clientip.Network(r))
	if !ok {
		s.tooMany(w, r, wait)
	}
	return ok
}

// accountFormPurpose is the purpose of the signatures (CSRF tokens) in the forms of the account
// page.
const accountFormPurpose = "account form"

func (s *site) showAccount(w http.ResponseWriter, r *http.Request) {
	if who, secret, ok := s.signedIn(w, r, passwordPath); ok {
		s.account(w, r, who, secret, http.StatusOK, language.Message{}, "")
	}
}

// account shows the account page for the password and the e-mail address, with an error message or
// a notice about a finished action, if not empty.
func (s *site) account(w http.ResponseWriter, r *http.Request, who auth.SignedIn, secret string, status int,
	message language.Message, notice string) {
	email, confirmed, err := s.Store.Email(r.Context(), who.Caller)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.show(w, r, "account", status, view{
		Username: who.Username, SignedIn: true, Message: message, Notice: notice, Token: s.Key.Sign(accountFormPurpose,
			secret), Email: email, Confirmed: confirmed,
	}, "")
}

// changePassword changes the password. It requires the current password, so that nobody can take
// over an account through a browser that was left open. Wrong passwords count as sign-in attempts.
func (s *site) changePassword(w http.ResponseWriter, r *http.Request) {
	who, secret, ok := s.sessionForm(w, r, passwordPath, accountFormPurpose)
	if !ok {
		return
	}
	account, network := strings.ToLower(who.Username), clientip.Network(r)
	if wait, ok := s.attempts.take(r.Context(), account, network, s.device(r, account)); !ok {
		s.tooMany(w, r, wait)
		return
	}
	if err := s.Store.ChangePassword(r.Context(), who.Caller, r.PostForm.Get("present"),
		r.PostForm.Get("password")); err != nil {
		status, message := s.explain(r, err)
		s.account(w, r, who, secret, status, message, "")
		return
	}
	s.attempts.succeeded(r.Context(), account, network, s.device(r, account))
	s.account(w, r, who, secret, http.StatusOK, language.Message{}, texts(r).PasswordChanged)
}

func (s *site) sendConfirmation(w http.ResponseWriter, r *http.Request) {
	who, secret, ok := s.sessionForm(w, r, passwordPath, accountFormPurpose)
	if !ok {
		return
	}
	if !s.SendsMail {
		s.refuse(w, r, http.StatusNotFound, texts(r).NoMail)
		return
	}
	if err := s.Store.RequestConfirmation(r.Context(), who.Caller); err != nil {
		s.fail(w, r, err)
		return
	}
	s.account(w, r, who, secret, http.StatusOK, language.Message{}, texts(r).CheckSent)
}
