package servertest

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// AskWith sends a request with a cookie and headers.
func AskWith(t *testing.T, method, address, body string, cookie *http.Cookie,
	header ...string) (status int, text string, h http.Header) {
	t.Helper()
	r, err := http.NewRequest(method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if cookie != nil {
		r.AddCookie(cookie)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(content), response.Header
}

// WantOutage checks the status and the code and, with 503, the Retry-After header.
func WantOutage(t *testing.T, r *Response, status int, code string) {
	t.Helper()
	r.Want(t, status)
	if after := r.Header.Get("Retry-After"); status == http.StatusServiceUnavailable && after != "5" {
		t.Errorf("%s %s: Retry-After is %q, want 5", r.Request.Method, r.Request.URL.Path, after)
	}
	if r.Request.URL.Path != "/graphql" {
		return
	}
	var result Result
	if err := json.Unmarshal(r.Bytes, &result); err != nil || result.Code() != code {
		t.Errorf("POST /graphql: got %s, want %s", r.Bytes, code)
	}
}

// webPage is what browsers and search engines read from a page.
type webPage struct {
	Status int
	Title  string
	Meta   map[string]string // by name or property
	Links  map[string]string // by rel; the last one if there are several
	Config struct {
		Name, Logo, Accent, BaseURL, Welcome string
		User                                 *struct{ Username, Name, Role string }
		AnonymousRead, Registration          bool
		Legal                                []struct{ Title, Path string }
	}
	Model map[string]any // JSON-LD
}

// OpenPage opens a page, and checks that its Content-Security-Policy allows only the server's
// scripts.
func OpenPage(t *testing.T, get func(path string) *Response, path string) webPage {
	t.Helper()
	r := get(path)
	policy := r.Header.Get("Content-Security-Policy")
	_, nonce, _ := strings.Cut(policy, "script-src 'nonce-")
	nonce, _, _ = strings.Cut(nonce, "'")
	if strings.Contains(policy, "unsafe") || !strings.HasPrefix(policy, "default-src 'none'; ") || len(nonce) < 20 {
		t.Errorf("%s: policy %q", path, policy)
	}
	if got := r.Header.Get("Content-Type"); got != "text/html; charset=utf-8" {
		t.Errorf("%s: is %s", path, got)
	}
	document, err := html.Parse(strings.NewReader(string(r.Bytes)))
	if err != nil {
		t.Fatal(err)
	}
	page := webPage{Status: r.StatusCode, Meta: map[string]string{}, Links: map[string]string{}}
	for n := range document.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		a := map[string]string{}
		for _, attribute := range n.Attr {
			a[attribute.Key] = attribute.Val
			if strings.HasPrefix(attribute.Key, "on") || strings.HasPrefix(strings.ToLower(strings.TrimSpace(attribute.Val)),
				"javascript:") {
				t.Errorf("%s: <%s %s=%q> runs a script", path, n.Data, attribute.Key, attribute.Val)
			}
		}
		content := ""
		if n.FirstChild != nil {
			content = n.FirstChild.Data
		}
		switch n.Data {
		case "title":
			page.Title = content
		case "meta":
			page.Meta[a["name"]+a["property"]] = a["content"]
		case "link":
			page.Links[a["rel"]] = a["href"]
		case "script":
			if a["nonce"] != nonce {
				t.Errorf("%s: a script without the nonce: %s", path, content)
			}
			switch {
			case a["id"] == "config":
				err = json.Unmarshal([]byte(content), &page.Config)
			case a["id"] == "answer" && a["type"] == "application/json":
				err = json.Unmarshal([]byte(content), new(any))
			case a["type"] == "application/ld+json":
				err = json.Unmarshal([]byte(content), &page.Model)
			case content != "" || !strings.Contains(a["src"], "/assets/gallery/"):
				t.Errorf("%s: a script of its own: %s %s", path, a["src"], content)
			}
			if err != nil {
				t.Errorf("%s: %v in %s", path, err, content)
			}
		case "iframe", "object", "embed", "base":
			t.Errorf("%s: contains <%s>", path, n.Data)
		}
	}
	return page
}
