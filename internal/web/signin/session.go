package signin

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/web/pages"
)

const (
	sessionCookie = "meshyard_session"
	flowCookie    = "meshyard_oidc"
	deviceCookie  = "meshyard_device"
)

// SessionHeader is the request header with which a page of this server authenticates a request by
// the browser session. Its value is the user that the page was made for, as a username or as
// UserPrefix and the ID, or AnyUser. It prevents cross-site request forgery: a page of another
// origin can only send the header after a CORS preflight request, and the server allows no
// credentials.
const SessionHeader = "Meshyard-Session"

// UserPrefix is the prefix of an ID as the value of SessionHeader. Unlike a username, an ID does
// not change. A username contains no colon.
const UserPrefix = "id:"

// AnyUser is the value of SessionHeader that accepts the session of every user. It is no username,
// because those contain more than digits.
const AnyUser = "1"

// Cookies reads and sets the cookies of a server.
type Cookies struct {
	base   string // the path of the base URL
	secure bool   // the base URL is https
}

// CookiesAt returns the Cookies of a server at a base URL.
func CookiesAt(baseURL string) Cookies {
	u, err := url.Parse(baseURL)
	return Cookies{base: pages.BasePath(baseURL), secure: err == nil && u.Scheme == "https"}
}

// Session returns the secret of the browser session, or "".
func (c Cookies) Session(r *http.Request) string { return c.cookie(r, sessionCookie) }

// cookieName returns the name of a cookie with the prefix __Host-, if possible. Browsers reject
// such a cookie if another host of the domain sets it.
func (c Cookies) cookieName(name string) string {
	if c.secure && c.base == "" {
		return "__Host-" + name
	}
	return name
}

// setCookie sets a cookie that scripts cannot read and that browsers do not send with cross-site
// requests, except when the user follows a link. With age 0 it is a session cookie; a negative age
// deletes it.
func (c Cookies) setCookie(w http.ResponseWriter, name, value string, age time.Duration) {
	http.SetCookie(w, &http.Cookie{
		Name: c.cookieName(name), Value: value, Path: c.base + "/", MaxAge: int(age.Seconds()), Secure: c.secure,
		HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
}

func (c Cookies) cookie(r *http.Request, name string) string {
	cookie, err := r.Cookie(c.cookieName(name))
	if err != nil {
		return ""
	}
	return cookie.Value
}

// setSigned sets a cookie to a JSON text with a signature for a purpose. Without the signature,
// another host of the same domain could set the cookie.
func (s *site) setSigned(w http.ResponseWriter, name, purpose string, text []byte, age time.Duration) {
	kept := base64.RawURLEncoding.EncodeToString(text)
	s.setCookie(w, name, kept+"."+s.Key.Sign(purpose, kept), age)
}

// signed decodes the JSON text of a cookie that setSigned has set. It returns false if there is no
// such cookie with a valid signature.
func (s *site) signed(r *http.Request, name, purpose string, value any) bool {
	kept, signature, _ := strings.Cut(s.cookie(r, name), ".")
	text, err := base64.RawURLEncoding.DecodeString(kept)
	return err == nil && s.Key.Verify(signature, purpose, kept) && json.Unmarshal(text, value) == nil
}

// session returns the signed-in user and the secret of the session. ok is false if no user is
// signed in. After an error it writes the response and responded is true.
func (s *site) session(w http.ResponseWriter, r *http.Request) (who auth.SignedIn, secret string, ok, responded bool) {
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

// signIn starts a session of a user in this browser and ends the previous one. If that fails, it
// writes the response and ok is false.
func (s *site) signIn(w http.ResponseWriter, r *http.Request, who auth.Verified) (ok bool) {
	secret, err := s.Store.SignIn(r.Context(), who, r.UserAgent())
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
	next := s.baseURL(r) + loginPath
	if given := r.FormValue("next"); given != "" {
		next = s.onward(r, given)
	}
	http.Redirect(w, r, next, http.StatusSeeOther)
}
