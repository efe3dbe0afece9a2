package signin

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/clientip"
	"github.com/meshyard/meshyard/internal/web/language"
)

// unlinked is an identity whose user may have an account already, kept in a signed cookie until the
// user has entered the password of the account or chosen to create another one.
type unlinked struct {
	Identity auth.Identity
	Username string // of the account
	Next     string
	Until    time.Time
}

const (
	linkPath     = "/login/oidc/link"
	linkCookie   = "meshyard_link"
	linkPurpose  = "oidc link"
	linkLifetime = 10 * time.Minute
)

// askToLink redirects the browser to the page on which the user links an identity to an account.
func (s *site) askToLink(w http.ResponseWriter, r *http.Request, u unlinked) {
	u.Until = time.Now().Add(linkLifetime)
	if len(u.Next) > maxNext/2 {
		u.Next = "" // browsers limit a cookie to 4096 bytes
	}
	text, _ := json.Marshal(u) // cannot fail for strings, booleans and times
	s.setSigned(w, linkCookie, linkPurpose, text, linkLifetime)
	http.Redirect(w, r, s.baseURL(r)+linkPath, http.StatusSeeOther)
}

// unlinked returns the identity in the cookie. If there is none, it writes the response and ok is
// false.
func (s *site) unlinked(w http.ResponseWriter, r *http.Request) (u unlinked, ok bool) {
	if !s.signed(r, linkCookie, linkPurpose, &u) || time.Now().After(u.Until) {
		s.refuse(w, r, http.StatusForbidden, texts(r).NotStartedHere)
		return u, false
	}
	return u, true
}

func (s *site) showLink(w http.ResponseWriter, r *http.Request) {
	if u, ok := s.unlinked(w, r); ok {
		s.show(w, r, "link", http.StatusOK, view{Username: u.Username, Action: linkPath}, "")
	}
}

// linkAccount links the identity to the account whose password was entered, or creates another one
// if the user chose that, and signs the user in. Wrong passwords count as sign-in attempts.
func (s *site) linkAccount(w http.ResponseWriter, r *http.Request) {
	u, ok := s.unlinked(w, r)
	if !ok {
		return
	}
	if err := r.ParseForm(); err != nil {
		s.refuse(w, r, http.StatusBadRequest, texts(r).FormUnreadable)
		return
	}
	if r.PostForm.Get("choice") == "new" {
		userID, err := s.Store.Identify(r.Context(), u.Identity)
		if err != nil {
			s.fail(w, r, err)
			return
		}
		s.signInLinked(w, r, auth.Verified{UserID: userID}, u)
		return
	}
	account, network := strings.ToLower(u.Username), clientip.Network(r)
	if wait, ok := s.attempts.take(r.Context(), account, network, s.device(r, account)); !ok {
		s.tooMany(w, r, wait)
		return
	}
	who, err := s.Store.CheckPassword(r.Context(), account, r.PostForm.Get("password"))
	if err != nil {
		if status, _ := s.Explain(r.Context(), err); status < http.StatusInternalServerError {
			wrong := language.Message{Text: texts(r).WrongPassword, Field: "password"}
			s.show(w, r, "link", http.StatusForbidden, view{Username: u.Username, Action: linkPath, Message: wrong}, "")
			return
		}
		s.fail(w, r, err)
		return
	}
	s.attempts.succeeded(r.Context(), account, network, s.device(r, account))
	if err := s.Store.LinkIdentity(r.Context(), who, u.Identity); err != nil {
		s.fail(w, r, err)
		return
	}
	s.signInLinked(w, r, who, u)
}

func (s *site) signInLinked(w http.ResponseWriter, r *http.Request, who auth.Verified, u unlinked) {
	s.setCookie(w, linkCookie, "", -time.Second)
	if s.signIn(w, r, who) {
		http.Redirect(w, r, s.onward(r, u.Next), http.StatusSeeOther)
	}
}
