package signin

import (
	"bytes"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/meshyard/meshyard/internal/auth/oauth"
)

// issueToken is the token endpoint. It exchanges an authorization code, a refresh token or the
// credentials of an application for an access token (RFC 6749, sections 4.1.3, 6 and 4.4.2). Legacy
// applications send the parameters in the query, urlencoded or multipart, and expect a form-encoded
// response, so the response is JSON only if the request accepts JSON.
func (s *site) issueToken(w http.ResponseWriter, r *http.Request) {
	given, ok := parameters(w, r)
	if !ok {
		return
	}
	if name := repeated(given); name != "" {
		refuseToken(w, http.StatusBadRequest, "invalid_request", name+" is given twice")
		return
	}
	a, ok := s.client(w, r, given)
	if !ok {
		return
	}
	var token *oauth.Token
	var err error
	switch given.Get("grant_type") {
	case "authorization_code", "": // legacy applications omit grant_type
		token, err = s.Store.Redeem(r.Context(), a, oauth.TrimParameters(given.Get("code")), given.Get("redirect_uri"),
			given.Get("code_verifier"))
	case "refresh_token":
		token, err = s.Store.Refresh(r.Context(), a, given.Get("refresh_token"))
	case "client_credentials":
		switch scope := given.Get("scope"); {
		case a.Public:
			refuseToken(w, http.StatusBadRequest, "unauthorized_client",
				"grant_type: must not be client_credentials, because a public client has no secret")
			return
		case scope != "" && scope != "read":
			refuseToken(w, http.StatusBadRequest, "invalid_scope", "scope: must be read for an application's own token")
			return
		}
		token, err = s.Store.IssueOwn(r.Context(), a)
	default:
		refuseToken(w, http.StatusBadRequest, "unsupported_grant_type",
			"grant_type: must be authorization_code, refresh_token or client_credentials")
		return
	}
	if err != nil {
		s.failToken(w, r, err, http.StatusBadRequest, "invalid_grant")
		return
	}
	writeToken(w, r, token)
}

// repeated returns the name of a parameter that is given with different values, or "". RFC 6749
// (section 3.2) forbids repetition, but repetition of the same value is harmless.
func repeated(given url.Values) string {
	for name, values := range given {
		for _, v := range values[1:] {
			if v != values[0] {
				return name
			}
		}
	}
	return ""
}

// client returns the application whose credentials are in the parameters or in the Authorization
// header. If they are not valid, it writes the response and ok is false.
func (s *site) client(w http.ResponseWriter, r *http.Request, given url.Values) (a *oauth.Application, ok bool) {
	id, secret := given.Get("client_id"), given.Get("client_secret")
	user, password, basic := r.BasicAuth()
	// Some HTTP libraries send the header in addition to the secret, perhaps with other credentials.
	basic = basic && secret == ""
	if basic {
		user, err := url.QueryUnescape(user)
		password, err2 := url.QueryUnescape(password)
		if err != nil || err2 != nil || id != "" && id != user {
			refuseToken(w, http.StatusBadRequest, "invalid_request",
				"Authorization: must be the escaped client_id and client_secret")
			return nil, false
		}
		id, secret = user, password
	}
	a, err := s.Store.AuthenticateApplication(r.Context(), id, secret)
	if err != nil {
		if basic {
			w.Header().Set("WWW-Authenticate", `Basic realm="applications"`)
		}
		s.failToken(w, r, err, http.StatusUnauthorized, "invalid_client")
		return nil, false
	}
	return a, true
}

// writeToken responds with a new token, in JSON or form-encoded.
func writeToken(w http.ResponseWriter, r *http.Request, token *oauth.Token) {
	if !wantsJSON(r) {
		w.Header().Set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
		// no value contains characters that need escaping
		text := "access_token=" + token.Text + "&token_type=Bearer"
		if token.Refresh != "" {
			text += "&expires_in=" + strconv.Itoa(expiresIn(token)) + "&refresh_token=" + token.Refresh
		}
		_, _ = w.Write([]byte(text))
		return
	}
	response := map[string]any{"access_token": token.Text, "token_type": "Bearer", "scope": token.Scopes.String()}
	if token.ExpiresAt != nil {
		response["expires_in"] = expiresIn(token)
	}
	if token.Refresh != "" {
		response["refresh_token"] = token.Refresh
	}
	writeJSON(w, http.StatusOK, response)
}

// expiresIn returns the remaining lifetime of a token in seconds.
func expiresIn(token *oauth.Token) int { return int(time.Until(*token.ExpiresAt).Seconds()) }

// tokenInfo returns the user and the application of a token.
func (s *site) tokenInfo(w http.ResponseWriter, r *http.Request) {
	given, ok := parameters(w, r)
	if !ok {
		return
	}
	clientID, userID, err := s.Store.TokenInfo(r.Context(), oauth.TrimParameters(given.Get("access_token")))
	if err != nil {
		w.Header().Set("WWW-Authenticate", "Bearer")
		s.failToken(w, r, err, http.StatusUnauthorized, "invalid_token")
		return
	}
	response := map[string]string{"audience": clientID, "user_id": ""}
	if userID != 0 {
		response["user_id"] = strconv.FormatInt(userID, 10)
	}
	writeJSON(w, http.StatusOK, response)
}

// parameters returns the parameters in the query and in the body, which is multipart, urlencoded or
// JSON. If they are not valid, it writes the response and ok is false.
func parameters(w http.ResponseWriter, r *http.Request) (given url.Values, ok bool) {
	given, err := url.ParseQuery(r.URL.RawQuery)
	switch mediaType, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); {
	case err != nil:
	case mediaType == "multipart/form-data":
		err = r.ParseMultipartForm(maxForm)
		given = r.Form
	default:
		err = addBody(given, r.Body)
	}
	if err != nil {
		refuseToken(w, http.StatusBadRequest, "invalid_request", "body: must be a form or a JSON object of strings")
		return nil, false
	}
	return given, true
}

// addBody adds the parameters of a body, which is empty, null, a JSON object or urlencoded. Its
// content decides, because many HTTP libraries send a text with another Content-Type or with none.
// Each value of the object is a string, a number or null; null members are ignored.
func addBody(parameters url.Values, body io.Reader) error {
	text, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")))
	if len(text) == 0 || string(text) == "null" {
		return nil
	}
	if strings.IndexByte(`{["`, text[0]) < 0 {
		form, err := url.ParseQuery(string(text))
		for name, values := range form {
			parameters[name] = append(parameters[name], values...)
		}
		return err
	}
	var members map[string]*scalar
	if err := json.Unmarshal(text, &members); err != nil {
		return err
	}
	for name, value := range members {
		if value != nil {
			parameters.Add(name, string(*value))
		}
	}
	return nil
}

// scalar is a JSON string, or the literal of a JSON number.
type scalar string

// UnmarshalJSON reads a string or a number.
func (s *scalar) UnmarshalJSON(text []byte) error {
	if text[0] == '"' {
		return json.Unmarshal(text, (*string)(s))
	}
	var number json.Number
	err := json.Unmarshal(text, &number)
	*s = scalar(number)
	return err
}

// wantsJSON reports whether the request accepts application/json explicitly, not only by a
// wildcard, and does not accept text/plain, too. Some HTTP libraries accept both if a legacy
// program, which expects the form-encoded text, does not say anything.
func wantsJSON(r *http.Request) bool {
	accepted := make(map[string]bool)
	for _, accept := range r.Header.Values("Accept") {
		for one := range strings.SplitSeq(accept, ",") {
			mediaType, params, err := mime.ParseMediaType(one)
			if q, bad := strconv.ParseFloat(params["q"], 64); err == nil && (bad != nil || q > 0) {
				accepted[mediaType] = true
			}
		}
	}
	return accepted["application/json"] && !accepted["text/plain"]
}

// failToken responds with the given status and code, and the message of err. If err is an internal
// error, it responds with 500 and server_error.
func (s *site) failToken(w http.ResponseWriter, r *http.Request, err error, status int, code string) {
	if is, public := s.Explain(r.Context(), err); is < http.StatusInternalServerError {
		refuseToken(w, status, code, public.Message)
		return
	}
	refuseToken(w, http.StatusInternalServerError, "server_error", "internal error; the log of the server has the details")
}

// refuseToken writes an error response (RFC 6749, section 5.2). Legacy applications read the code
// from the header X-Error.
func refuseToken(w http.ResponseWriter, status int, code, description string) {
	w.Header().Set("X-Error", code)
	writeJSON(w, status, map[string]string{"error": code, "error_description": description})
}

func writeJSON(w http.ResponseWriter, status int, response any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Pragma", "no-cache") // RFC 6749 section 5.1
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(response) // an error means that the client has disconnected
}
