package signin

import (
	"net/http"
	"strings"
	"time"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/clientip"
	"github.com/meshyard/meshyard/internal/ratelimit"
	"github.com/meshyard/meshyard/internal/urls"
)

// Link describes a link that a person got by mail or from an administrator.
type Link struct {
	Purpose  string
	Email    string // of the account that it creates or confirms; may be empty
	Username string // of an account that exists
}

// Registration is what a person enters to create an account.
type Registration struct {
	Secret   string // of a link; empty: none
	Username string
	Email    string
	Password string
}

// Where links lead, below the base. Their secret is in the query, which is not logged.
const (
	signUpPath     = "/signup"
	InvitationPath = urls.InvitationPath
	ConfirmPath    = "/login/confirm"
	ResetPath      = "/login/reset"
	forgottenPath  = "/login/forgotten"
	passwordPath   = "/login/password"
	emailPath      = "/login/email"
)

// requests limits what visitors without an account may ask for, in a ratelimit.Window: accounts and
// mails by network, and mails by what they typed.
type requests struct{ network, name *ratelimit.Limiter }

const (
	requestsPerNetwork = 20
	mailsPerName       = 3
)

func newRequests() requests {
	return requests{ratelimit.New(requestsPerNetwork), ratelimit.New(mailsPerName)}
}

// allowed counts a request of a network. It answers one too many.
func (s *site) allowed(w http.ResponseWriter, r *http.Request) bool {
	wait, ok := s.requests.network.Allow(clientip.Network(r), time.Now())
	if !ok {
		s.tooMany(w, r, wait)
	}
	return ok
}

// accountForm reads a form of the page for the password and the e-mail address. It answers if
// nobody is signed in, or if the form is not one that this session was shown, and ok is false.
func (s *site) accountForm(w http.ResponseWriter, r *http.Request) (who auth.SignedIn, secret string, ok bool) {
	if err := r.ParseForm(); err != nil {
		s.refuse(w, r, http.StatusBadRequest, "The form could not be read.")
		return who, "", false
	}
	who, secret, ok = s.signedIn(w, r, passwordPath)
	if ok && !s.Key.Verify(r.PostForm.Get("token"), accountFormPurpose, secret) {
		s.refuse(w, r, http.StatusForbidden, "This form is not the one that you were shown. Open the page again.")
		return who, "", false
	}
	return who, secret, ok
}

// accountFormPurpose is what the signature in the forms of the page is for.
const accountFormPurpose = "account form"

func (s *site) showAccount(w http.ResponseWriter, r *http.Request) {
	if who, secret, ok := s.signedIn(w, r, passwordPath); ok {
		s.account(w, r, who, secret, http.StatusOK, "", "")
	}
}

// account shows the page for the password and the e-mail address, with a message if something went
// wrong, or a notice if something was done.
func (s *site) account(w http.ResponseWriter, r *http.Request, who auth.SignedIn, secret string, status int, message, notice string) {
	email, confirmed, err := s.Store.Email(r.Context(), who.Caller)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.show(w, "account", status, view{
		Username: who.Username, SignedIn: true, Message: message, Notice: notice, Token: s.Key.Sign(accountFormPurpose, secret), Email: email, Confirmed: confirmed,
	}, "")
}

// changePassword takes the present password too, so that a browser that was left open does not give
// the account away. Wrong ones count as attempts to sign in.
func (s *site) changePassword(w http.ResponseWriter, r *http.Request) {
	who, secret, ok := s.accountForm(w, r)
	if !ok {
		return
	}
	account, network := strings.ToLower(who.Username), clientip.Network(r)
	if wait, ok := s.attempts.take(r.Context(), account, network, s.device(r, account)); !ok {
		s.tooMany(w, r, wait)
		return
	}
	if err := s.Store.ChangePassword(r.Context(), who.Caller, r.PostForm.Get("present"), r.PostForm.Get("password")); err != nil {
		status, message := s.Explain(r.Context(), err)
		s.account(w, r, who, secret, status, message, "")
		return
	}
	s.attempts.succeeded(account, network, s.device(r, account))
	s.account(w, r, who, secret, http.StatusOK, "", "The password was changed, and you were signed out in all other browsers.")
}

func (s *site) sendConfirmation(w http.ResponseWriter, r *http.Request) {
	who, secret, ok := s.accountForm(w, r)
	if !ok {
		return
	}
	if !s.SendsMail {
		s.refuse(w, r, http.StatusNotFound, "This server sends no mail.")
		return
	}
	if err := s.Store.RequestConfirmation(r.Context(), who.Caller); err != nil {
		s.fail(w, r, err)
		return
	}
	s.account(w, r, who, secret, http.StatusOK, "", "A link is on its way to your e-mail address.")
}
