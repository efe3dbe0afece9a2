package sender

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/meshyard/meshyard/internal/webhook"
)

func message(url string) webhook.Message {
	return webhook.Message{ID: "msg_1", URL: url, Secrets: []string{webhook.NewSecret()}, Body: []byte("{}")}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	public, private := New(time.Second, false, "test"), New(time.Second, true, "test")
	for address, want := range map[string]struct{ public, private bool }{
		"https://example.org/hook?a=b":     {true, true},
		"https://example.org:8443":         {true, true},
		"https://93.184.215.14/":           {true, true},
		"http://example.org/":              {false, true},
		"https://127.0.0.1/":               {false, true},
		"https://[::1]/":                   {false, true},
		"https://[::ffff:10.0.0.1]/":       {false, true},
		"https://169.254.169.254/latest":   {false, true},
		"https://100.64.0.1/":              {false, true},
		"https://user:secret@example.org/": {false, false},
		"https://example.org/#fragment":    {false, false},
		"https:///hook":                    {false, false},
		"https:opaque":                     {false, false},
		"ftp://example.org/":               {false, false},
		"file:///etc/passwd":               {false, false},
		"/hook":                            {false, false},
		"":                                 {false, false},
	} {
		if err := public.Check(address); (err == nil) != want.public {
			t.Errorf("%.60s: %v, want accepted: %v", address, err, want.public)
		}
		if err := private.Check(address); (err == nil) != want.private {
			t.Errorf("%.60s, private addresses allowed: %v, want accepted: %v", address, err, want.private)
		}
	}
}

func TestSend(t *testing.T) {
	t.Parallel()
	hang := make(chan struct{})
	var redirected atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/ok":
			w.WriteHeader(http.StatusNoContent)
		case "/endless":
			for r.Context().Err() == nil {
				if _, err := io.WriteString(w, strings.Repeat("x", 1<<10)); err != nil {
					return
				}
			}
		case "/hang":
			<-hang
		case "/redirect":
			http.Redirect(w, r, "/target", http.StatusTemporaryRedirect)
		case "/busy":
			w.Header().Set("Retry-After", "120")
			w.WriteHeader(http.StatusServiceUnavailable)
		case "/negative":
			w.Header().Set("Retry-After", "-120")
			w.WriteHeader(http.StatusServiceUnavailable)
		case "/drop":
			panic(http.ErrAbortHandler)
		case "/target":
			redirected.Add(1)
		}
	}))
	defer server.Close()
	defer close(hang)
	patient, impatient := New(time.Minute, true, "test"), New(200*time.Millisecond, true, "test")
	for path, want := range map[string]webhook.Result{
		"/ok":       {Status: 204},
		"/endless":  {Status: 200},
		"/hang":     {Error: "the receiver did not respond within 200ms"},
		"/redirect": {Status: 307, Error: "the receiver redirects (307), and redirects are not followed"},
		"/busy":     {Status: 503, Error: "the receiver responded with 503", RetryAfter: 2 * time.Minute},
		"/negative": {Status: 503, Error: "the receiver responded with 503"},
		"/drop":     {Error: "the connection to the receiver failed"},
	} {
		s := patient
		if path == "/hang" {
			s = impatient
		}
		if got := s.Send(t.Context(), message(server.URL+path)); got != want {
			t.Errorf("%s: got %+v, want %+v", path, got, want)
		}
	}
	if redirected.Load() > 0 {
		t.Error("a redirect was followed")
	}
}

// TestPrivateAddresses checks that names of private addresses are refused when they are dialed.
func TestPrivateAddresses(t *testing.T) {
	t.Parallel()
	var requests atomic.Int64
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests.Add(1) }))
	defer server.Close()
	_, port, _ := strings.Cut(strings.TrimPrefix(server.URL, "https://"), ":")
	s := New(5*time.Second, false, "test")
	got := s.Send(t.Context(), message("https://localhost:"+port+"/"))
	if want := (webhook.Result{Error: "the host has no address of the public internet"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if requests.Load() > 0 {
		t.Error("the private address was reached")
	}
}

// TestRegisteredURLIsCheckedAgain checks that a URL that was registered when the settings allowed
// it is refused before it is dialed.
func TestRegisteredURLIsCheckedAgain(t *testing.T) {
	t.Parallel()
	got := New(5*time.Second, false, "test").Send(t.Context(), message("http://localhost:1/"))
	if want := (webhook.Result{Error: `must begin with https:// (got "http://localhost:1/")`}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
