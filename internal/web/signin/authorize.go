package signin

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/auth/oauth"
	"github.com/meshyard/meshyard/internal/web/language"
)

// authorizationRequest is a validated OAuth authorization request (RFC 6749, sections 4.1.1 and
// 4.2.1).
type authorizationRequest struct {
	Application *oauth.Application
	// the parameters as sent, to repeat the request after signing in and to include them in the form
	Given     url.Values
	Redirect  string // the redirect URI for the response
	OutOfBand bool   // the response is shown on a page, and the user copies it
	Implicit  bool   // the response contains a token instead of a code (implicit grant)
	Scopes    auth.Scopes
	State     string
	Challenge string
}

// requestParameters lists the parameters of an authorization request.
var requestParameters = []string{"client_id", "redirect_uri", "response_type", "scope", "state", "code_challenge",
	"code_challenge_method"}

// Place returns the origin or the scheme of the redirect URI, to be shown on the page.
func (q *authorizationRequest) Place() string { return oauth.Origin(q.Redirect) }

// formsTo returns the source that the directive form-action of the content security policy must
// allow, because browsers also apply it to the redirect after a form. A policy cannot contain IPv6
// addresses; for those it allows all http: URLs.
func (q *authorizationRequest) formsTo() string {
	if q.OutOfBand {
		return ""
	}
	if origin := q.Place(); !strings.Contains(origin, "[") {
		return " " + origin
	}
	return " http:"
}

// Fields returns the hidden fields of the consent form: the parameters of the request.
func (q *authorizationRequest) Fields() [][2]string {
	var fields [][2]string
	for _, name := range requestParameters {
		if q.Given.Has(name) {
			fields = append(fields, [2]string{name, q.Given.Get(name)})
		}
	}
	return fields
}

// read parses and validates an authorization request. If the application or its redirect URI is not
// valid, it shows the error to the user; it reports other errors to the application (section
// 4.1.2.1). In both cases ok is false.
func (s *site) read(w http.ResponseWriter, r *http.Request, given url.Values) (q *authorizationRequest, ok bool) {
	q = &authorizationRequest{Given: url.Values{}}
	twice := ""
	for _, name := range requestParameters {
		if len(given[name]) > 0 {
			q.Given.Set(name, given.Get(name))
		}
		if len(given[name]) > 1 {
			twice = name
		}
	}
	if twice == "client_id" || twice == "redirect_uri" {
		s.refuseRequest(w, r, twice+" is given twice")
		return nil, false
	}
	a, err := s.Store.Application(r.Context(), given.Get("client_id"))
	if err != nil {
		if status, _ := s.Explain(r.Context(), err); status >= http.StatusInternalServerError {
			s.refuse(w, r, http.StatusInternalServerError, texts(r).Internal)
			return nil, false
		}
		s.refuse(w, r, http.StatusBadRequest, texts(r).UnknownApplication)
		return nil, false
	}
	q.Application, q.Redirect = a, given.Get("redirect_uri")
	switch {
	case q.Redirect == "" && len(a.Redirects) == 1:
		q.Redirect = a.Redirects[0]
	case !a.AllowsRedirect(q.Redirect):
		s.refuse(w, r, http.StatusBadRequest, texts(r).UnknownRedirect)
		return nil, false
	}
	q.OutOfBand = q.Redirect == oauth.OutOfBand
	q.State, q.Implicit = given.Get("state"), given.Get("response_type") == "token"
	if code, description := q.check(given, twice); code != "" {
		s.respond(w, r, q, [2]string{"error", code}, [2]string{"error_description", description})
		return nil, false
	}
	return q, true
}

// refuseRequest shows the error of an authorization request to the user. description is in English,
// because it is for the developer of the application.
func (s *site) refuseRequest(w http.ResponseWriter, r *http.Request, description string) {
	s.show(w, r, "refused", http.StatusBadRequest,
		view{Message: language.Message{Text: texts(r).RequestInvalid, Detail: description + "."}}, "")
}

// check validates the rest of an authorization request. It returns an error code of section 4.1.2.1
// with a description, or "" if the request is valid. twice is the name of a repeated parameter, or
// "".
func (q *authorizationRequest) check(given url.Values, twice string) (code, description string) {
	scopes, err := oauth.ParseScopes(given.Get("scope"))
	method, challenge := given.Get("code_challenge_method"), given.Get("code_challenge")
	switch {
	case twice != "":
		return "invalid_request", twice + " is given twice"
	case len(q.State) > maxState:
		return "invalid_request", fmt.Sprintf("state: must be at most %d bytes (got %d)", maxState, len(q.State))
	case q.Implicit && q.OutOfBand:
		return "unsupported_response_type", "response_type: must be code, because only a code can be shown on a page"
	case q.Implicit && !q.Application.Implicit:
		return "unauthorized_client", "response_type: must be code, because this application must not use the implicit grant"
	// legacy applications omit response_type
	case given.Get("response_type") != "code" && given.Get("response_type") != "" && !q.Implicit:
		return "unsupported_response_type", "response_type: must be code"
	case err != nil:
		return "invalid_scope", "scope: must be read, write or both"
	case challenge == "" && method != "":
		return "invalid_request", "code_challenge: must be given"
	case challenge != "" && method != "S256":
		return "invalid_request", "code_challenge_method: must be S256"
	case challenge != "" && !oauth.IsChallenge(challenge):
		return "invalid_request", "code_challenge is not valid for S256"
	case challenge == "" && q.Application.Public && !q.Implicit:
		return "invalid_request", "code_challenge: must be given, because this application must use PKCE"
	}
	q.Scopes, q.Challenge = scopes, challenge
	return "", ""
}

const maxState = 2_000

// respond redirects the browser to the application with the given response parameters and the state
// of the request. It adds the issuer, which prevents mix-up attacks (RFC 9207), except for the
// implicit grant, whose legacy applications do not know it.
func (s *site) respond(w http.ResponseWriter, r *http.Request, q *authorizationRequest, parameters ...[2]string) {
	if q.OutOfBand {
		s.showResponse(w, r, q, parameters)
		return
	}
	parameters = append(parameters, [2]string{"state", q.State})
	if !q.Implicit {
		parameters = append(parameters, [2]string{"iss", s.baseURL(r)})
	}
	// 303, so that the browser does not repeat the form at the redirect URI: RFC 9700 section 4.12.
	http.Redirect(w, r, oauth.ResponseURI(q.Redirect, q.Implicit, parameters...), http.StatusSeeOther)
}

// showResponse shows the response on a page, for a program that has no redirect URI.
func (s *site) showResponse(w http.ResponseWriter, r *http.Request, q *authorizationRequest, parameters [][2]string) {
	given := make(map[string]string, len(parameters))
	for _, p := range parameters {
		given[p[0]] = p[1]
	}
	switch {
	case given["code"] != "":
		s.show(w, r, "code", http.StatusOK, view{Request: q, Code: given["code"]}, "")
	case given["error"] == "access_denied":
		s.show(w, r, "refused", http.StatusOK,
			view{Message: language.Message{Text: fmt.Sprintf(texts(r).Denied, q.Application.Name)}}, "")
	default:
		s.refuseRequest(w, r, given["error_description"])
	}
}

// authorize shows the consent page: what an application requests, for the user to allow or deny.
func (s *site) authorize(w http.ResponseWriter, r *http.Request) {
	q, ok := s.read(w, r, r.URL.Query())
	if !ok {
		return
	}
	who, secret, ok, responded := s.session(w, r)
	switch {
	case responded:
	case !ok:
		s.signInFirst(w, r, authorizePath+"?"+q.Given.Encode())
	default:
		v := view{Username: who.Username, SignedIn: true, Request: q, Token: s.decisionToken(secret, q), Next: authorizePath +
			"?" + q.Given.Encode()}
		s.show(w, r, "consent", http.StatusOK, v, q.formsTo())
	}
}

// decisionToken returns a CSRF token for the consent form. It is only valid for this session and
// for exactly the request that was shown.
func (s *site) decisionToken(secret string, q *authorizationRequest) string {
	return s.Key.Sign("oauth decision", secret, q.Given.Encode())
}

// decide handles the submitted consent form.
func (s *site) decide(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		s.refuse(w, r, http.StatusBadRequest, texts(r).FormUnreadable)
		return
	}
	q, ok := s.read(w, r, r.PostForm)
	if !ok {
		return
	}
	who, secret, ok, responded := s.session(w, r)
	switch {
	case responded:
		return
	case !ok:
		s.signInFirst(w, r, authorizePath+"?"+q.Given.Encode())
		return
	case !s.Key.Verify(r.PostForm.Get("token"), "oauth decision", secret, q.Given.Encode()):
		s.refuse(w, r, http.StatusForbidden, texts(r).DecisionExpired)
		return
	case r.PostForm.Get("decision") != "allow":
		s.respond(w, r, q, [2]string{"error", "access_denied"}, [2]string{"error_description", "the user denied access"})
		return
	}
	g := oauth.Grant{Application: q.Application, UserID: who.UserID, Redirect: q.Redirect, Scopes: q.Scopes,
		Challenge: q.Challenge}
	if q.Implicit {
		token, err := s.Store.AuthorizeImplicitly(r.Context(), g)
		if err != nil {
			s.fail(w, r, err)
			return
		}
		s.respond(w, r, q, [2]string{"access_token", token.Text}, [2]string{"token_type", "Bearer"})
		return
	}
	code, err := s.Store.Authorize(r.Context(), g)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.respond(w, r, q, [2]string{"code", code})
}

// describe returns the server metadata of RFC 8414.
func (s *site) describe(w http.ResponseWriter, r *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{
		"issuer": s.baseURL(r), "authorization_endpoint": s.baseURL(r) + authorizePath, "token_endpoint": s.baseURL(r) +
			tokenPath,
		"response_types_supported": []string{"code", "token"}, "grant_types_supported": []string{"authorization_code",
			"refresh_token", "client_credentials", "implicit"},
		"token_endpoint_auth_methods_supported":          []string{"client_secret_basic", "client_secret_post", "none"},
		"code_challenge_methods_supported":               []string{"S256"},
		"scopes_supported":                               strings.Fields(auth.Scopes{auth.Read, auth.Write}.String()),
		"authorization_response_iss_parameter_supported": true,
	})
}
