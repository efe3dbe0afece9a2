package oidc_test

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/meshyard/meshyard/internal/auth/oidc"
)

// TestEndlessConfiguration checks that a provider cannot make the server hold an endless
// configuration in memory, neither at the start nor at a sign-in.
func TestEndlessConfiguration(t *testing.T) {
	t.Parallel()
	const most = 64 << 20
	sent := make(chan int, 1)
	issuer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		n, part := 0, bytes.Repeat([]byte(" "), 1<<16)
		for n < most {
			if _, err := w.Write(part); err != nil {
				break
			}
			n += len(part)
		}
		sent <- n
	}))
	defer issuer.Close()
	p := &oidc.Provider{Issuer: issuer.URL, ClientID: "meshyard"}
	for name, load := range map[string]func() error{
		"check": func() error { return p.Check(t.Context()) },
		"sign-in": func() error {
			_, err := p.AuthorizeURL(t.Context(), "state", "nonce", "verifier")
			return err
		},
	} {
		if err := load(); !errors.Is(err, oidc.ErrUnavailable) {
			t.Errorf("%s: got %v, want ErrUnavailable", name, err)
		}
		if n := <-sent; n >= most {
			t.Errorf("%s: %d bytes of the configuration were read", name, n)
		}
	}
}
