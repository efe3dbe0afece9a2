package signin

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/meshyard/meshyard/internal/auth"
)

// Token describes an access token that works. The token itself is not known any more.
type Token struct {
	ID          int64
	Name        string
	Application string // that it was given to; empty: it is the user's own
	Scopes      auth.Scopes
	CreatedAt   time.Time
	ExpiresAt   *time.Time // nil: never
	LastUsedAt  *time.Time // nil: never
}

// NewToken describes a token to make.
type NewToken struct {
	Name      string
	Scopes    []auth.Scope
	ExpiresAt *time.Time // nil: never
}

// tokenPage is what the page of access tokens shows besides a view.
type tokenPage struct {
	List   []Token
	Secret string   // the token that was just made
	Made   NewToken // what it is, or what was asked for in vain
	Days   int
	Scopes auth.Scopes // that the user may give
}

// Gives reports whether the form has a scope checked.
func (p *tokenPage) Gives(scope auth.Scope) bool { return slices.Contains(p.Made.Scopes, scope) }

// Lifetimes are the days that a token can live; 0 is forever.
func (p *tokenPage) Lifetimes() []int { return []int{7, 30, 90, 365, 0} }

const defaultLifetime = 90 // days

// tokenFormPurpose is what the signature in the forms of the page is for.
const tokenFormPurpose = "token form"

func (s *site) showTokens(w http.ResponseWriter, r *http.Request) {
	who, secret, ok := s.signedIn(w, r, tokensPath)
	if !ok {
		return
	}
	s.listTokens(w, r, who, secret, http.StatusOK, "", tokenPage{Made: NewToken{Scopes: []auth.Scope{auth.Read, auth.Write}}, Days: defaultLifetime})
}

// signedIn returns the user of a page for users only, at a path. If nobody is signed in, it answers
// with the way to the sign-in, and ok is false.
func (s *site) signedIn(w http.ResponseWriter, r *http.Request, path string) (who auth.SignedIn, secret string, ok bool) {
	who, secret, ok, answered := s.session(w, r)
	if !ok && !answered {
		s.signInFirst(w, r, path)
	}
	return who, secret, ok
}

// tokenForm reads a form of the page. It answers if nobody is signed in, or if the form is not one
// that this session was shown, and ok is false.
func (s *site) tokenForm(w http.ResponseWriter, r *http.Request) (who auth.SignedIn, secret string, ok bool) {
	if err := r.ParseForm(); err != nil {
		s.refuse(w, r, http.StatusBadRequest, "The form could not be read.")
		return who, "", false
	}
	who, secret, ok = s.signedIn(w, r, tokensPath)
	if ok && !s.Key.Verify(r.PostForm.Get("token"), tokenFormPurpose, secret) {
		s.refuse(w, r, http.StatusForbidden, "This form is not the one that you were shown. Open the page again.")
		return who, "", false
	}
	return who, secret, ok
}

func (s *site) makeToken(w http.ResponseWriter, r *http.Request) {
	who, secret, ok := s.tokenForm(w, r)
	if !ok {
		return
	}
	days, err := strconv.Atoi(r.PostForm.Get("days"))
	if err != nil || days < 0 || days > 3650 {
		s.refuse(w, r, http.StatusBadRequest, "The form could not be read.")
		return
	}
	page := tokenPage{Made: NewToken{Name: r.PostForm.Get("name")}, Days: days}
	for _, scope := range r.PostForm["scope"] {
		page.Made.Scopes = append(page.Made.Scopes, auth.Scope(scope))
	}
	if days > 0 {
		at := time.Now().Add(time.Duration(days) * 24 * time.Hour)
		page.Made.ExpiresAt = &at
	}
	if strings.TrimSpace(page.Made.Name) == "" {
		s.listTokens(w, r, who, secret, http.StatusBadRequest, "Name: must not be blank.", page)
		return
	}
	page.Secret, err = s.Store.MakeToken(r.Context(), who.Caller, page.Made)
	if err != nil {
		status, message := s.Explain(r.Context(), err)
		s.listTokens(w, r, who, secret, status, message, page)
		return
	}
	s.listTokens(w, r, who, secret, http.StatusOK, "", page)
}

func (s *site) revokeToken(w http.ResponseWriter, r *http.Request) {
	who, _, ok := s.tokenForm(w, r)
	if !ok {
		return
	}
	// 0, and any other id that is not a token of the user, is not found
	id, _ := strconv.ParseInt(r.PostForm.Get("id"), 10, 64)
	if err := s.Store.RevokeToken(r.Context(), who.Caller, id); err != nil {
		s.fail(w, r, err)
		return
	}
	http.Redirect(w, r, s.BaseURL+tokensPath, http.StatusSeeOther)
}

// listTokens shows the page, with a message if something went wrong.
func (s *site) listTokens(w http.ResponseWriter, r *http.Request, who auth.SignedIn, secret string, status int, message string, page tokenPage) {
	list, err := s.Store.Tokens(r.Context(), who.Caller)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	page.List, page.Scopes = list, who.Scopes
	s.show(w, "tokens", status, view{
		Username: who.Username, SignedIn: true, Message: message, Token: s.Key.Sign(tokenFormPurpose, secret), Tokens: &page,
	}, "")
}
