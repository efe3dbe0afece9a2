package signin

import (
	"net/http"
	"time"

	"github.com/meshyard/meshyard/internal/auth"
)

const (
	sessionCookie = "meshyard_session"
	flowCookie    = "meshyard_oidc"
	deviceCookie  = "meshyard_device"
)

// cookieName makes browsers refuse a cookie of that name from anybody but this host, where they
// can.
func (s *site) cookieName(name string) string {
	if s.secure && s.base == "" {
		return "__Host-" + name
	}
	return name
}

// setCookie gives the browser a cookie that no script reads and no other site sends along, but for
// links that people follow. An age of 0 ends with the browser.
func (s *site) setCookie(w http.ResponseWriter, name, value string, age time.Duration) {
	http.SetCookie(w, &http.Cookie{
		Name: s.cookieName(name), Value: value, Path: s.base + "/", MaxAge: int(age.Seconds()), Secure: s.secure, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
}

func (s *site) cookie(r *http.Request, name string) string {
	c, err := r.Cookie(s.cookieName(name))
	if err != nil {
		return ""
	}
	return c.Value
}

// session tells who is signed in; ok is false where nobody is, or where it cannot be told, which is
// answered.
func (s *site) session(w http.ResponseWriter, r *http.Request) (who auth.SignedIn, secret string, ok, answered bool) {
	if secret = s.cookie(r, sessionCookie); secret == "" {
		return who, "", false, false
	}
	who, ok, err := s.Store.Session(r.Context(), secret)
	if err != nil {
		s.fail(w, r, err)
		return who, "", false, true
	}
	return who, secret, ok, false
}

// signIn starts a session of a user in this browser and ends the one that was there before. ok is
// false if that failed and was answered.
func (s *site) signIn(w http.ResponseWriter, r *http.Request, userID int64) (ok bool) {
	secret, err := s.Store.SignIn(r.Context(), userID)
	if err == nil {
		if before := s.cookie(r, sessionCookie); before != "" {
			err = s.Store.SignOut(r.Context(), before)
		}
	}
	if err != nil {
		s.fail(w, r, err)
		return false
	}
	s.setCookie(w, sessionCookie, secret, 0)
	return true
}

func (s *site) signOut(w http.ResponseWriter, r *http.Request) {
	if secret := s.cookie(r, sessionCookie); secret != "" {
		if err := s.Store.SignOut(r.Context(), secret); err != nil {
			s.fail(w, r, err)
			return
		}
	}
	s.setCookie(w, sessionCookie, "", -time.Second)
	next := s.onward(r.FormValue("next"))
	http.Redirect(w, r, next, http.StatusSeeOther)
}
