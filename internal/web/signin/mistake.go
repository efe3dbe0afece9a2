package signin

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/meshyard/meshyard/internal/web/language"
)

// mistake describes a form that was rejected, so that the page with the form can show it again. It
// is kept in a signed cookie.
type mistake struct {
	Path            string // of the page with the form
	Status          int
	Message         language.Message
	Username, Email string
	Until           time.Time
}

const (
	mistakeCookie   = "meshyard_mistake"
	mistakePurpose  = "mistake in a form"
	mistakeLifetime = time.Minute
	maxMistake      = 2_500 // browsers limit a cookie to 4096 bytes
)

// showAgain responds to a form that was rejected. It redirects a browser to the page with the form,
// which then shows the message and what was entered, except the password. So the history of the
// browser contains no response to a form, and its button Back does not ask to send the form again.
// A program gets the page directly.
func (s *site) showAgain(w http.ResponseWriter, r *http.Request, name string, status int, path string, query url.Values,
	v view) {
	m := mistake{Path: path, Status: status, Message: v.Message, Username: v.Username, Email: v.Email, Until: time.Now().
		Add(mistakeLifetime)}
	text, _ := json.Marshal(m) // cannot fail for strings, a number and a time
	if !strings.Contains(r.Header.Get("Accept"), "text/html") || len(text) > maxMistake {
		s.show(w, r, name, status, v, "")
		return
	}
	for key, values := range query {
		if values[0] == "" {
			delete(query, key)
		}
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	s.setSigned(w, mistakeCookie, mistakePurpose, text, mistakeLifetime)
	http.Redirect(w, r, s.baseURL(r)+path, http.StatusSeeOther)
}

// correct fills the view of a form with the mistake in the previous request, if there was one on
// this page, and returns the status of the response. It shows each mistake once.
func (s *site) correct(w http.ResponseWriter, r *http.Request, path string, v *view) (status int) {
	var m mistake
	if !s.signed(r, mistakeCookie, mistakePurpose, &m) || m.Path != path {
		return http.StatusOK
	}
	s.setCookie(w, mistakeCookie, "", -time.Second)
	if time.Now().After(m.Until) {
		return http.StatusOK
	}
	v.Message, v.Username = m.Message, m.Username
	if !v.Fixed {
		v.Email = m.Email
	}
	return m.Status
}
