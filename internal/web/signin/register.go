package signin

import (
	"fmt"
	"net/http"
	"net/mail"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/web/language"
)

// The purposes of links. The Store uses the same names.
const (
	forInvitation   = "invitation"
	forSignUp       = "sign_up"
	forConfirmation = "confirmation"
	forReset        = "reset"
)

// maxEmail is the maximum length of an e-mail address. User names are shorter.
const maxEmail = 254

// nextCookie contains the path to continue at after the account has been created. The link in the
// mail is usually opened in the browser in which it was requested.
const (
	nextCookie     = "meshyard_next"
	signUpLifetime = 24 * time.Hour // as long as the link
)

// tooMany responds to a request that exceeds a limit.
func (s *site) tooMany(w http.ResponseWriter, r *http.Request, wait time.Duration) {
	w.Header().Set("Retry-After", strconv.Itoa(int(wait.Seconds())))
	s.refuse(w, r, http.StatusTooManyRequests, tooManyAttempts(r, wait))
}

// tooManyAttempts returns the message for a request that exceeds a limit.
func tooManyAttempts(r *http.Request, wait time.Duration) string {
	return fmt.Sprintf(texts(r).TooManyAttempts, int(wait.Minutes()), int(wait.Seconds())%60)
}

// link returns the link whose secret is in the request. If it is not valid, or not for one of the
// given purposes, link writes the response and ok is false.
func (s *site) link(w http.ResponseWriter, r *http.Request, purposes ...string) (l Link, secret string, ok bool) {
	secret = r.FormValue("token")
	l, err := s.Store.Link(r.Context(), secret)
	if err != nil {
		s.fail(w, r, err)
		return l, "", false
	}
	if slices.Contains(purposes, l.Purpose) {
		return l, secret, true
	}
	s.refuse(w, r, http.StatusNotFound, texts(r).OtherPurpose)
	return l, "", false
}

// showSignUp shows the page for creating an account if registration is open. If the server sends
// mail, the page asks for an e-mail address, to which a link is sent; otherwise it creates the
// account directly.
func (s *site) showSignUp(w http.ResponseWriter, r *http.Request) {
	if !s.Registration {
		s.refuse(w, r, http.StatusForbidden, texts(r).NeedsInvitation)
		return
	}
	name := "register"
	if s.SendsMail {
		name = "sign-up"
	}
	v := view{Action: signUpPath, Next: r.URL.Query().Get("next")}
	status := s.correct(w, r, signUpPath, &v)
	s.show(w, r, name, status, v, "")
}

func (s *site) signUp(w http.ResponseWriter, r *http.Request) {
	switch {
	case !s.Registration:
		s.refuse(w, r, http.StatusForbidden, texts(r).NeedsInvitation)
		return
	case !s.allowed(w, r):
		return
	case !s.SendsMail:
		s.register(w, r, view{Action: signUpPath})
		return
	}
	email, next := strings.TrimSpace(r.PostFormValue("email")), r.PostFormValue("next")
	if parsed, err := mail.ParseAddress(email); err != nil || parsed.Address != email || len(email) > maxEmail {
		v := view{Email: email, Next: next, Message: language.Message{Text: texts(r).BadEmail, Field: "email"}}
		s.showAgain(w, r, "sign-up", http.StatusBadRequest, signUpPath, url.Values{"next": {next}}, v)
		return
	}
	if _, ok := s.requests.name.Allow(r.Context(), forSignUp+" "+strings.ToLower(email)); ok {
		if err := s.Store.RequestSignUp(r.Context(), email); err != nil {
			s.fail(w, r, err)
			return
		}
	}
	if len(next) <= maxNext {
		s.setCookie(w, nextCookie, url.QueryEscape(next), signUpLifetime)
	}
	s.show(w, r, "sent", http.StatusOK, view{Message: language.Message{Text: fmt.Sprintf(texts(r).SignUpSent, email)}}, "")
}

func (s *site) showInvitation(w http.ResponseWriter, r *http.Request) {
	if l, secret, ok := s.link(w, r, forInvitation, forSignUp); ok {
		next, _ := url.QueryUnescape(s.cookie(r, nextCookie))
		v := view{Action: InvitationPath, Next: next, Token: secret, Email: l.Email, Fixed: l.Email != ""}
		status := s.correct(w, r, InvitationPath, &v)
		s.show(w, r, "register", status, v, "")
	}
}

func (s *site) acceptInvitation(w http.ResponseWriter, r *http.Request) {
	if !s.allowed(w, r) {
		return
	}
	if l, secret, ok := s.link(w, r, forInvitation, forSignUp); ok {
		s.register(w, r, view{Action: InvitationPath, Token: secret, Email: l.Email, Fixed: l.Email != ""})
	}
}

// register creates an account and signs its user in. v is the view of the form, which is shown
// again after an error.
func (s *site) register(w http.ResponseWriter, r *http.Request, v view) {
	v.Username, v.Next = strings.TrimSpace(r.PostFormValue("username")), r.PostFormValue("next")
	registration := Registration{Secret: v.Token, Username: v.Username, Password: r.PostFormValue("password")}
	if !v.Fixed {
		v.Email = strings.TrimSpace(r.PostFormValue("email"))
		registration.Email = v.Email
	}
	userID, err := s.Store.Register(r.Context(), registration)
	if err != nil {
		var status int
		if status, v.Message = s.explain(r, err); status >= http.StatusInternalServerError {
			s.fail(w, r, err)
			return
		}
		query := url.Values{"next": {v.Next}}
		if v.Token != "" {
			query = url.Values{"token": {v.Token}} // the page of a link reads next from a cookie
		}
		s.showAgain(w, r, "register", status, v.Action, query, v)
		return
	}
	if s.signIn(w, r, auth.Verified{UserID: userID}) {
		s.rememberDevice(w, strings.ToLower(v.Username))
		http.Redirect(w, r, s.onward(r, v.Next), http.StatusSeeOther)
	}
}

func (s *site) showForgotten(w http.ResponseWriter, r *http.Request) {
	if !s.SendsMail {
		s.refuse(w, r, http.StatusNotFound, texts(r).NoMailReset)
		return
	}
	s.show(w, r, "forgotten", http.StatusOK, view{}, "")
}

// forgotten requests a link to reset a password. The response and its time are the same whether or
// not the account exists: the account is looked up by the job that writes the mail.
func (s *site) forgotten(w http.ResponseWriter, r *http.Request) {
	if !s.SendsMail {
		s.showForgotten(w, r)
		return
	}
	if !s.allowed(w, r) {
		return
	}
	name := strings.TrimSpace(r.PostFormValue("name"))
	if name != "" && len(name) <= maxEmail {
		if _, ok := s.requests.name.Allow(r.Context(), forReset+" "+strings.ToLower(name)); ok {
			if err := s.Store.RequestReset(r.Context(), name); err != nil {
				s.fail(w, r, err)
				return
			}
		}
	}
	s.show(w, r, "sent", http.StatusOK, view{Message: language.Message{Text: texts(r).ResetSent}}, "")
}

func (s *site) showReset(w http.ResponseWriter, r *http.Request) {
	if l, secret, ok := s.link(w, r, forReset); ok {
		v := view{Token: secret, Username: l.Username}
		status := s.correct(w, r, ResetPath, &v)
		s.show(w, r, "reset", status, v, "")
	}
}

func (s *site) reset(w http.ResponseWriter, r *http.Request) {
	if !s.allowed(w, r) {
		return
	}
	l, secret, ok := s.link(w, r, forReset)
	if !ok {
		return
	}
	userID, err := s.Store.ResetPassword(r.Context(), secret, r.PostFormValue("password"))
	if err != nil {
		status, message := s.explain(r, err)
		if status >= http.StatusInternalServerError {
			s.fail(w, r, err)
			return
		}
		s.showAgain(w, r, "reset", status, ResetPath, url.Values{"token": {secret}}, view{Token: secret, Username: l.Username,
			Message: message})
		return
	}
	if s.signIn(w, r, auth.Verified{UserID: userID}) {
		if auth.IsUsername(l.Username) {
			s.rememberDevice(w, strings.ToLower(l.Username))
		}
		http.Redirect(w, r, s.baseURL(r)+"/", http.StatusSeeOther)
	}
}

func (s *site) showConfirmation(w http.ResponseWriter, r *http.Request) {
	if l, secret, ok := s.link(w, r, forConfirmation); ok {
		s.show(w, r, "confirm", http.StatusOK, view{Token: secret, Username: l.Username, Email: l.Email}, "")
	}
}

// confirm confirms an e-mail address. It requires a submitted form, because virus scanners open
// links in mails.
func (s *site) confirm(w http.ResponseWriter, r *http.Request) {
	l, secret, ok := s.link(w, r, forConfirmation)
	if !ok {
		return
	}
	if err := s.Store.ConfirmEmail(r.Context(), secret); err != nil {
		s.fail(w, r, err)
		return
	}
	s.show(w, r, "sent", http.StatusOK,
		view{Message: language.Message{Text: fmt.Sprintf(texts(r).EmailConfirmed, l.Email, l.Username)}}, "")
}
