package servertest

import (
	"context"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// Browser calls a server like a user's browser: it stores cookies and sends the Origin header with
// forms. It follows redirects only in Follow.
type Browser struct {
	URL       string
	UserAgent string // default: Go's own
	Accept    string // default: none
	Languages string // Accept-Language; default: none

	t      testing.TB
	client *http.Client
}

// Browser returns a new browser in which no user is signed in.
func (s *Server) Browser() *Browser {
	jar, _ := cookiejar.New(nil) // cannot fail without options
	return &Browser{URL: s.URL, t: s.t, client: &http.Client{Jar: jar, CheckRedirect: transport.CheckRedirect}}
}

// Password sets the password of a user.
func (s *Server) Password(name, password string) {
	s.t.Helper()
	if err := s.Store.Account.Admin().SetPassword(context.Background(), name, password); err != nil {
		s.t.Fatal(err)
	}
}

// Get requests a path or an absolute URL.
func (b *Browser) Get(address string) *Response {
	b.t.Helper()
	return b.send(http.MethodGet, address, nil, "")
}

// Post submits a form on a page of the server.
func (b *Browser) Post(address string, form url.Values) *Response {
	b.t.Helper()
	return b.send(http.MethodPost, address, form, "same-origin")
}

// PostFrom submits a form on a page of another site.
func (b *Browser) PostFrom(site, address string, form url.Values) *Response {
	b.t.Helper()
	return b.send(http.MethodPost, address, form, site)
}

// SignIn signs in by password and returns the last response.
func (b *Browser) SignIn(name, password string) *Response {
	b.t.Helper()
	return b.Post("/login", url.Values{"username": {name}, "password": {password}})
}

// Follow follows the redirect of a response.
func (b *Browser) Follow(r *Response) *Response {
	b.t.Helper()
	to := r.Header.Get("Location")
	if to == "" {
		b.t.Fatalf("%s %s: %d is not a redirect: %s", r.Request.Method, r.Request.URL.Path, r.StatusCode, r.Bytes)
	}
	return b.Get(to)
}

func (b *Browser) send(method, address string, form url.Values, site string) *Response {
	b.t.Helper()
	if strings.HasPrefix(address, "/") {
		address = b.URL + address
	}
	r, err := http.NewRequest(method, address, strings.NewReader(form.Encode()))
	if err != nil {
		b.t.Fatal(err)
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", site)
		r.Header.Set("Origin", b.URL)
		if site != "same-origin" {
			r.Header.Set("Origin", "https://elsewhere.example")
		}
	}
	if b.UserAgent != "" {
		r.Header.Set("User-Agent", b.UserAgent)
	}
	if b.Accept != "" {
		r.Header.Set("Accept", b.Accept)
	}
	if b.Languages != "" {
		r.Header.Set("Accept-Language", b.Languages)
	}
	response, err := b.client.Do(r)
	if err != nil {
		b.t.Fatalf("%s %s: %v", method, address, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return &Response{response, body}
}

var hidden = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)">`)

// Fields returns the hidden fields of the first form of a page.
func (r *Response) Fields() url.Values {
	fields := url.Values{}
	first, _, _ := strings.Cut(string(r.Bytes), "</form>")
	for _, m := range hidden.FindAllStringSubmatch(first, -1) {
		fields.Add(m[1], html.UnescapeString(m[2]))
	}
	return fields
}

// Cookies returns the cookies that the browser would send to a URL.
func (b *Browser) Cookies(to *url.URL) []*http.Cookie { return b.client.Jar.Cookies(to) }
