package signin

import (
	"crypto/subtle"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/auth/oidc"
)

// flow is the state of a sign-in with the OpenID provider, kept in a signed cookie.
type flow struct {
	State, Nonce, Verifier, Next string
	Until                        time.Time
}

const (
	flowPurpose  = "oidc flow"
	flowLifetime = 10 * time.Minute
	maxNext      = 2_000 // browsers limit a cookie to 4096 bytes
)

func (s *site) askProvider(w http.ResponseWriter, r *http.Request) {
	f := flow{State: auth.NewSecret(), Nonce: auth.NewSecret(), Verifier: auth.NewSecret(), Next: r.URL.Query().
		Get("next"), Until: time.Now().Add(flowLifetime)}
	if len(f.Next) > maxNext {
		s.refuse(w, r, http.StatusBadRequest, texts(r).RequestTooLong)
		return
	}
	to, err := s.Provider.AuthorizeURL(r.Context(), f.State, f.Nonce, f.Verifier)
	if err != nil {
		s.providerFailed(w, r, err)
		return
	}
	text, _ := json.Marshal(f) // cannot fail for strings and a time
	s.setSigned(w, flowCookie, flowPurpose, text, flowLifetime)
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// flow returns the state of the sign-in from the cookie. ok is false if the cookie is missing,
// invalid or expired.
func (s *site) flow(r *http.Request) (f flow, ok bool) {
	ok = s.signed(r, flowCookie, flowPurpose, &f) && time.Now().Before(f.Until)
	return f, ok
}

func (s *site) handleCallback(w http.ResponseWriter, r *http.Request) {
	f, ok := s.flow(r)
	s.setCookie(w, flowCookie, "", -time.Second)
	q := r.URL.Query()
	if !ok || subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(f.State)) != 1 {
		s.refuse(w, r, http.StatusForbidden, texts(r).NotStartedHere)
		return
	}
	// The user or the provider refused the sign-in. The error message of the provider is logged and
	// not shown, because it is not trusted.
	if q.Get("code") == "" {
		s.Logger.WarnContext(r.Context(), "the OpenID provider rejected the sign-in", "error", shorten(q.Get("error")),
			"description", shorten(q.Get("error_description")))
		s.refuse(w, r, http.StatusForbidden, texts(r).ProviderRejected)
		return
	}
	id, err := s.Provider.Exchange(r.Context(), q.Get("code"), f.Nonce, f.Verifier)
	if err != nil {
		s.providerFailed(w, r, err)
		return
	}
	existing, err := s.Store.LinkableAccount(r.Context(), id)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if existing != "" {
		s.askToLink(w, r, unlinked{Identity: id, Username: existing, Next: f.Next})
		return
	}
	userID, err := s.Store.Identify(r.Context(), id)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if s.signIn(w, r, auth.Verified{UserID: userID}) {
		http.Redirect(w, r, s.onward(r, f.Next), http.StatusSeeOther)
	}
}

func (s *site) providerFailed(w http.ResponseWriter, r *http.Request, err error) {
	switch {
	case errors.Is(err, oidc.ErrRefused):
		s.Logger.WarnContext(r.Context(), "OpenID sign-in rejected", "error", err.Error())
		s.refuse(w, r, http.StatusForbidden, texts(r).ProviderRefused)
	case errors.Is(err, oidc.ErrNotAdmitted):
		s.Logger.InfoContext(r.Context(), "OpenID sign-in rejected", "error", err.Error())
		s.refuse(w, r, http.StatusForbidden, texts(r).NotAdmitted)
	default:
		s.Logger.ErrorContext(r.Context(), "OpenID sign-in failed", "error", err.Error())
		s.refuse(w, r, http.StatusBadGateway, texts(r).ProviderDown)
	}
}

// maxProviderError is the maximum length of a text of the provider in the log.
const maxProviderError = 300

func shorten(text string) string {
	if len(text) <= maxProviderError {
		return text
	}
	return strings.ToValidUTF8(text[:maxProviderError], "") + "…"
}
