package signin

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/clientip"
	"github.com/meshyard/meshyard/internal/web/language"
)

func (s *site) showSignIn(w http.ResponseWriter, r *http.Request) {
	who, _, ok, responded := s.session(w, r)
	if responded {
		return
	}
	next := r.URL.Query().Get("next")
	if ok && next != "" {
		http.Redirect(w, r, s.onward(r, next), http.StatusSeeOther)
		return
	}
	v, status := view{SignedIn: ok, Username: who.Username, Next: next}, http.StatusOK
	if !ok {
		status = s.correct(w, r, loginPath, &v)
		if message := s.unknownHost(r); message != "" {
			v.Message.Text = message
		}
	}
	s.show(w, r, "sign-in", status, v, "")
}

func (s *site) signInByPassword(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		s.refuse(w, r, http.StatusBadRequest, texts(r).FormUnreadable)
		return
	}
	name, next := strings.TrimSpace(r.PostForm.Get("username")), r.PostForm.Get("next")
	again := view{Next: next}
	if auth.IsUsername(name) {
		again.Username = name
	}
	// Attempts are counted, and accounts looked up, by the name in lower case. A text that is not a
	// valid username is counted as "" and matches no account.
	account := ""
	if auth.IsUsername(name) {
		account = strings.ToLower(name)
	}
	network, device := clientip.Network(r), s.device(r, account)
	if wait, ok := s.attempts.take(r.Context(), account, network, device); !ok {
		w.Header().Set("Retry-After", strconv.Itoa(int(wait.Seconds())))
		again.Message.Text = tooManyAttempts(r, wait)
		s.show(w, r, "sign-in", http.StatusTooManyRequests, again, "")
		return
	}
	who, err := s.Store.CheckPassword(r.Context(), account, r.PostForm.Get("password"))
	if err != nil {
		if status, _ := s.Explain(r.Context(), err); status < http.StatusInternalServerError {
			again.Message = language.Message{Text: texts(r).WrongPassword, Field: "password"}
			s.showAgain(w, r, "sign-in", http.StatusForbidden, loginPath, url.Values{"next": {next}}, again)
			return
		}
		s.fail(w, r, err)
		return
	}
	s.attempts.succeeded(r.Context(), account, network, device)
	if s.signIn(w, r, who) {
		s.rememberDevice(w, account)
		http.Redirect(w, r, s.onward(r, next), http.StatusSeeOther)
	}
}

// deviceLifetime is how long a browser is remembered after its user has signed in.
const deviceLifetime = 365 * 24 * time.Hour

const devicePurpose = "known device"

// rememberDevice sets a signed cookie that records that the account has signed in with this browser
// by password. The cookie does not sign anyone in. It only gives the browser its own limit of
// attempts; see attempts.
func (s *site) rememberDevice(w http.ResponseWriter, account string) {
	id := auth.NewSecret() + "." + strconv.FormatInt(time.Now().Add(deviceLifetime).Unix(), 10)
	s.setCookie(w, deviceCookie, id+"."+s.Key.Sign(devicePurpose, account, id), deviceLifetime)
}

// device returns the ID of the browser from its cookie if the account has signed in with it before,
// and otherwise "".
func (s *site) device(r *http.Request, account string) string {
	value := s.cookie(r, deviceCookie)
	dot := strings.LastIndexByte(value, '.')
	if account == "" || dot < 0 {
		return ""
	}
	id, signature := value[:dot], value[dot+1:]
	_, until, _ := strings.Cut(id, ".")
	expires, err := strconv.ParseInt(until, 10, 64)
	if err != nil || time.Now().Unix() >= expires || !s.Key.Verify(signature, devicePurpose, account, id) {
		return ""
	}
	return id
}
