package signin

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/web/language"
)

// Token describes a valid access token. The text of the token is not stored.
type Token struct {
	ID          int64
	Name        string
	Application string // the application that it was issued to; empty: the user created it
	Scopes      auth.Scopes
	CreatedAt   time.Time
	ExpiresAt   *time.Time // nil: does not expire
	LastUsedAt  *time.Time // nil: never used
}

// NewToken is the input for creating an access token.
type NewToken struct {
	Name      string
	Scopes    []auth.Scope
	ExpiresAt *time.Time // nil: does not expire
}

// tokenPage is the additional data of the page of access tokens.
type tokenPage struct {
	List   []Token
	Secret string   // the text of a new token; empty: none was created
	Made   NewToken // the new token, or the content of the form
	Days   int
	Scopes auth.Scopes // the scopes that the user may choose from
}

// Gives reports whether a scope is checked in the form.
func (p *tokenPage) Gives(scope auth.Scope) bool { return slices.Contains(p.Made.Scopes, scope) }

// Lifetimes returns the offered lifetimes of a token in days; 0 means that it does not expire.
func (p *tokenPage) Lifetimes() []int { return []int{7, 30, 90, 365, 0} }

const defaultLifetime = 90 // days

// tokenFormPurpose is the purpose of the signatures (CSRF tokens) in the forms of the page.
const tokenFormPurpose = "token form"

func (s *site) showTokens(w http.ResponseWriter, r *http.Request) {
	who, secret, ok := s.signedIn(w, r, tokensPath)
	if !ok {
		return
	}
	s.listTokens(w, r, who, secret, http.StatusOK, language.Message{},
		tokenPage{Made: NewToken{Scopes: []auth.Scope{auth.Read, auth.Write}}, Days: defaultLifetime})
}

// signedIn returns the signed-in user and the secret of the session, for a page that requires a
// sign-in. If no user is signed in, it redirects to the sign-in page and from there back to path,
// and ok is false.
func (s *site) signedIn(w http.ResponseWriter, r *http.Request,
	path string) (who auth.SignedIn, secret string, ok bool) {
	who, secret, ok, responded := s.session(w, r)
	if !ok && !responded {
		s.signInFirst(w, r, path)
	}
	return who, secret, ok
}

// sessionForm parses a submitted form of the page at path. If the visitor is not signed in, or the
// form was not issued to this session for the purpose, it writes the response and ok is false.
func (s *site) sessionForm(w http.ResponseWriter, r *http.Request, path,
	purpose string) (who auth.SignedIn, secret string, ok bool) {
	if err := r.ParseForm(); err != nil {
		s.refuse(w, r, http.StatusBadRequest, texts(r).FormUnreadable)
		return who, "", false
	}
	who, secret, ok = s.signedIn(w, r, path)
	if ok && !s.Key.Verify(r.PostForm.Get("token"), purpose, secret) {
		s.refuse(w, r, http.StatusForbidden, texts(r).FormExpired)
		return who, "", false
	}
	return who, secret, ok
}

func (s *site) createToken(w http.ResponseWriter, r *http.Request) {
	who, secret, ok := s.sessionForm(w, r, tokensPath, tokenFormPurpose)
	if !ok {
		return
	}
	days, err := strconv.Atoi(r.PostForm.Get("days"))
	if err != nil || days < 0 || days > 3650 {
		s.refuse(w, r, http.StatusBadRequest, texts(r).FormUnreadable)
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
		s.listTokens(w, r, who, secret, http.StatusBadRequest, language.Message{Text: texts(r).NameBlank,
			Field: "name"}, page)
		return
	}
	page.Secret, err = s.Store.CreateToken(r.Context(), who.Caller, page.Made)
	if err != nil {
		status, message := s.explain(r, err)
		s.listTokens(w, r, who, secret, status, message, page)
		return
	}
	s.listTokens(w, r, who, secret, http.StatusOK, language.Message{}, page)
}

func (s *site) revokeToken(w http.ResponseWriter, r *http.Request) {
	who, _, ok := s.sessionForm(w, r, tokensPath, tokenFormPurpose)
	if !ok {
		return
	}
	// An invalid id becomes 0, which is not found, like any id that is not a token of the user.
	id, _ := strconv.ParseInt(r.PostForm.Get("id"), 10, 64)
	if err := s.Store.RevokeToken(r.Context(), who.Caller, id); err != nil {
		s.fail(w, r, err)
		return
	}
	http.Redirect(w, r, s.baseURL(r)+tokensPath, http.StatusSeeOther)
}

// listTokens shows the page, with an error message if it is not empty.
func (s *site) listTokens(w http.ResponseWriter, r *http.Request, who auth.SignedIn, secret string, status int,
	message language.Message, page tokenPage) {
	list, err := s.Store.Tokens(r.Context(), who.Caller)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	page.List, page.Scopes = list, who.Scopes
	s.show(w, r, "tokens", status, view{
		Username: who.Username, SignedIn: true, Message: message, Token: s.Key.Sign(tokenFormPurpose, secret), Tokens: &page,
	}, "")
}
