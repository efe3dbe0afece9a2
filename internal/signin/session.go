package signin

import (
	"net/http"
	"net/url"
	"time"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/pages"
)

const (
	sessionCookie = "meshyard_session"
	flowCookie    = "meshyard_oidc"
	deviceCookie  = "meshyard_device"
)

// SessionHeader is the header with which a page of this server asks for the session of the browser
// to count. A page of another origin cannot send it: the browser asks first (CORS), and the server
// allows no credentials.
const SessionHeader = "Meshyard-Session"

// Cookies reads and writes the cookies of a server at a base URL.
type Cookies struct {
	base   string // the path of the base URL, before each path of the server
	secure bool   // browsers reach the server by https
}

// CookiesAt returns the Cookies of a server at a base URL.
func CookiesAt(baseURL string) Cookies {
	u, err := url.Parse(baseURL)
	return Cookies{base: pages.BasePath(baseURL), secure: err == nil && u.Scheme == "https"}
}

// Session returns the secret of the session that a browser holds, or "".
func (c Cookies) Session(r *http.Request) string { return c.cookie(r, sessionCookie) }

// cookieName makes browsers refuse a cookie of that name from other hosts, where they
// can.
func (c Cookies) cookieName(name string) string {
	if c.secure && c.base == "" {
		return "__Host-" + name
	}
	return name
}

// setCookie sets a cookie that no script reads and no other site sends along, except for
// links that people follow. An age of 0 ends with the browser.
func (c Cookies) setCookie(w http.ResponseWriter, name, value string, age time.Duration) {
	http.SetCookie(w, &http.Cookie{
		Name: c.cookieName(name), Value: value, Path: c.base + "/", MaxAge: int(age.Seconds()), Secure: c.secure, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
}

func (c Cookies) cookie(r *http.Request, name string) string {
	cookie, err := r.Cookie(c.cookieName(name))
	if err != nil {
		return ""
	}
	return cookie.Value
}

// session returns the user who is signed in; ok is false if there is none, or after an error, which
// is answered.
func (s *site) session(w http.ResponseWriter, r *http.Request) (who auth.SignedIn, secret string, ok, answered bool) {
	if secret = s.Session(r); secret == "" {
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
	secret, err := s.Store.SignIn(r.Context(), userID, r.UserAgent())
	if err == nil {
		if before := s.Session(r); before != "" {
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
	if secret := s.Session(r); secret != "" {
		if err := s.Store.SignOut(r.Context(), secret); err != nil {
			s.fail(w, r, err)
			return
		}
	}
	s.setCookie(w, sessionCookie, "", -time.Second)
	next := s.onward(r.FormValue("next"))
	http.Redirect(w, r, next, http.StatusSeeOther)
}
