package signin

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/meshyard/meshyard/internal/clientip"
	"github.com/meshyard/meshyard/internal/ratelimit"
)

// attempts bounds how often passwords are tried: for an account from an address, for an account from anywhere, and from an address for any account. It counts
// alike whether or not there is such an account.
type attempts struct{ pair, account, address *ratelimit.Limiter }

// In a ratelimit.Window.
const (
	perPair    = 10
	perAccount = 50
	perAddress = 100
)

func newAttempts() attempts {
	return attempts{ratelimit.New(perPair), ratelimit.New(perAccount), ratelimit.New(perAddress)}
}

// take counts an attempt; wait is how long to wait where it is one too many.
func (a attempts) take(account, address string) (wait time.Duration, ok bool) {
	now := time.Now()
	for _, of := range []struct {
		limiter *ratelimit.Limiter
		key     string
	}{{a.address, address}, {a.pair, pairOf(account, address)}, {a.account, strings.ToLower(account)}} {
		if wait, ok = of.limiter.Allow(of.key, now); !ok {
			return wait, false
		}
	}
	return 0, true
}

// succeeded lets somebody who knows the password sign in as often as he likes.
func (a attempts) succeeded(account, address string) { a.pair.Forgive(pairOf(account, address)) }

func pairOf(account, address string) string { return strings.ToLower(account) + " " + address }

func (s *site) showSignIn(w http.ResponseWriter, r *http.Request) {
	who, _, ok, answered := s.session(w, r)
	if answered {
		return
	}
	next := r.URL.Query().Get("next")
	if ok && next != "" {
		http.Redirect(w, r, s.onward(next), http.StatusSeeOther)
		return
	}
	s.show(w, "sign-in", http.StatusOK, view{SignedIn: ok, Username: who.Username, Next: next}, "")
}

func (s *site) signInByPassword(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		s.refuse(w, r, http.StatusBadRequest, "The form could not be read.")
		return
	}
	name, next := strings.TrimSpace(r.PostForm.Get("username")), r.PostForm.Get("next")
	if len(name) > 200 {
		name = name[:200]
	}
	again := func(status int, message string) {
		s.show(w, "sign-in", status, view{Username: strings.ToValidUTF8(name, ""), Next: next, Message: message}, "")
	}
	if wait, ok := s.attempts.take(name, clientip.Network(r)); !ok {
		w.Header().Set("Retry-After", strconv.Itoa(int(wait.Seconds())))
		again(http.StatusTooManyRequests, fmt.Sprintf("Too many attempts. Wait %s and try again.", wait))
		return
	}
	userID, err := s.Store.CheckPassword(r.Context(), name, r.PostForm.Get("password"))
	if err != nil {
		if status, _ := s.Explain(r.Context(), err); status < http.StatusInternalServerError {
			again(http.StatusForbidden, "The name or the password is wrong.")
			return
		}
		s.refuse(w, r, http.StatusInternalServerError, "Something went wrong on the server.")
		return
	}
	s.attempts.succeeded(name, clientip.Network(r))
	s.signIn(w, r, userID, next)
}
