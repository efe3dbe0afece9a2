package server_test

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"testing"

	"github.com/meshyard/meshyard/cmd/meshyard/server/servertest"
	"github.com/meshyard/meshyard/models"
)

const (
	redirect = "https://app.example/cb"
	pass     = "correct horse battery"
)

// client is an application that calls the server, while a user uses a browser.
type client struct {
	*testing.T
	s          *servertest.Server
	id, secret string
	verifier   string
}

func newClient(t *testing.T, s *servertest.Server, n models.NewApplication) *client {
	t.Helper()
	if n.Name == "" {
		n.Name = "Slicer & <Co>"
	}
	if n.RedirectURIs == nil {
		n.RedirectURIs = []string{redirect}
	}
	secret, a, err := s.Store.Admin().RegisterApplication(context.Background(), n)
	if err != nil {
		t.Fatal(err)
	}
	return &client{t, s, a.ClientID, secret, rand.Text() + rand.Text()}
}

func (c *client) challenge() string {
	sum := sha256.Sum256([]byte(c.verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// question returns a URL of the authorization endpoint. more contains names and values of
// parameters that replace the default ones; an empty value removes a parameter.
func (c *client) question(more ...string) string {
	q := url.Values{
		"client_id": {c.id}, "redirect_uri": {redirect}, "response_type": {"code"}, "state": {"a&b =#c"}, "scope": {"read"}, "code_challenge": {c.challenge()}, "code_challenge_method": {"S256"},
	}
	for i := 0; i < len(more); i += 2 {
		q.Set(more[i], more[i+1])
		if more[i+1] == "" {
			q.Del(more[i])
		}
	}
	return "/login/oauth/authorize?" + q.Encode()
}

// decide submits a user's decision on the consent page, and returns the URL that the browser is
// redirected to.
func (c *client) decide(b *servertest.Browser, question, decision string) *url.URL {
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

// exchange posts parameters to the token endpoint.
func (c *client) exchange(accept string, parameters url.Values) *servertest.Response {
	c.Helper()
	r := c.s.Client("").Request("POST", "/login/oauth/access_token", parameters.Encode())
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if accept != "" {
		r.Header.Set("Accept", accept)
	}
	return c.s.Client("").Send(r)
}

func (c *client) grant(code string, more ...string) url.Values {
	v := url.Values{"grant_type": {"authorization_code"}, "client_id": {c.id}, "client_secret": {c.secret}, "code": {code}, "redirect_uri": {redirect}, "code_verifier": {c.verifier}}
	for i := 0; i < len(more); i += 2 {
		v.Set(more[i], more[i+1])
		if more[i+1] == "" {
			v.Del(more[i])
		}
	}
	return v
}

// refused checks that a response is an error in the format of RFC 6749.
func (c *client) refused(what string, r *servertest.Response, status int, code string) {
	c.Helper()
	var said struct {
		Error       string
		Description string `json:"error_description"`
	}
	if err := json.Unmarshal(r.Bytes, &said); err != nil || r.StatusCode != status || said.Error != code || said.Description == "" || r.Header.Get("X-Error") != code {
		c.Errorf("%s: %d %s, want %d %s", what, r.StatusCode, r.Bytes, status, code)
	}
}

// signedIn creates a user with a password, and returns a browser in which the user is signed in and
// a client with a token.
func signedIn(t *testing.T, s *servertest.Server, name string) (*servertest.Browser, *servertest.Client) {
	t.Helper()
	u := s.User(name)
	s.Password(name, pass)
	b := s.Browser()
	b.SignIn(name, pass).Want(t, http.StatusSeeOther)
	return b, u
}
