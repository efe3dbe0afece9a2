package servertest

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"testing"

	"github.com/meshyard/meshyard/models/account"
)

const Redirect = "https://app.example/cb"

const Password = "correct horse battery"

// OAuthClient is an application that calls the server, while a user uses a browser.
type OAuthClient struct {
	*testing.T
	S          *Server
	ID, Secret string
	Verifier   string
}

func NewOAuthClient(t *testing.T, s *Server, n account.NewApplication) *OAuthClient {
	t.Helper()
	if n.Name == "" {
		n.Name = "Slicer & <Co>"
	}
	if n.RedirectURIs == nil {
		n.RedirectURIs = []string{Redirect}
	}
	secret, a, err := s.Store.Account.Admin().RegisterApplication(context.Background(), n)
	if err != nil {
		t.Fatal(err)
	}
	return &OAuthClient{t, s, a.ClientID, secret, rand.Text() + rand.Text()}
}

func (c *OAuthClient) challenge() string {
	sum := sha256.Sum256([]byte(c.Verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// Question returns a URL of the authorization endpoint. more contains names and values of
// parameters that replace the default ones; an empty value removes a parameter.
func (c *OAuthClient) Question(more ...string) string {
	q := url.Values{
		"client_id": {c.ID}, "redirect_uri": {Redirect}, "response_type": {"code"}, "state": {"a&b =#c"}, "scope": {"read"},
		"code_challenge": {c.challenge()}, "code_challenge_method": {"S256"},
	}
	for i := 0; i < len(more); i += 2 {
		q.Set(more[i], more[i+1])
		if more[i+1] == "" {
			q.Del(more[i])
		}
	}
	return "/login/oauth/authorize?" + q.Encode()
}

// Decide submits a user's decision on the consent page, and returns the URL that the browser is
// redirected to.
func (c *OAuthClient) Decide(b *Browser, question, decision string) *url.URL {
	c.Helper()
	page := b.Get(question).Want(c.T, 200)
	form := page.Fields()
	form.Set("decision", decision)
	response := b.Post("/login/oauth/authorize", form).Want(c.T, http.StatusSeeOther)
	to, err := url.Parse(response.Header.Get("Location"))
	if err != nil {
		c.Fatal(err)
	}
	return to
}

// Exchange posts parameters to the token endpoint.
func (c *OAuthClient) Exchange(accept string, parameters url.Values) *Response {
	c.Helper()
	r := c.S.Client("").Request("POST", "/login/oauth/access_token", parameters.Encode())
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if accept != "" {
		r.Header.Set("Accept", accept)
	}
	return c.S.Client("").Send(r)
}

func (c *OAuthClient) Grant(code string, more ...string) url.Values {
	v := url.Values{"grant_type": {"authorization_code"}, "client_id": {c.ID}, "client_secret": {c.Secret}, "code": {code},
		"redirect_uri": {Redirect}, "code_verifier": {c.Verifier}}
	for i := 0; i < len(more); i += 2 {
		v.Set(more[i], more[i+1])
		if more[i+1] == "" {
			v.Del(more[i])
		}
	}
	return v
}

// Refused checks that a response is an error in the format of RFC 6749.
func (c *OAuthClient) Refused(what string, r *Response, status int, code string) {
	c.Helper()
	var said struct {
		Error       string
		Description string `json:"error_description"`
	}
	if err := json.Unmarshal(r.Bytes, &said); err != nil || r.StatusCode != status || said.Error != code ||
		said.Description == "" || r.Header.Get("X-Error") != code {
		c.Errorf("%s: %d %s, want %d %s", what, r.StatusCode, r.Bytes, status, code)
	}
}

// SignedIn creates a user with a password, and returns a browser in which the user is signed in and
// a client with a token.
func SignedIn(t *testing.T, s *Server, name string) (*Browser, *Client) {
	t.Helper()
	u := s.User(name)
	s.Password(name, Password)
	b := s.Browser()
	b.SignIn(name, Password).Want(t, http.StatusSeeOther)
	return b, u
}

// Refresh exchanges a refresh token for new tokens.
func (c *OAuthClient) Refresh(token string) *Response {
	c.Helper()
	return c.Exchange("application/json", url.Values{"grant_type": {"refresh_token"}, "client_id": {c.ID},
		"client_secret": {c.Secret}, "refresh_token": {token}})
}
