package signin_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/cmd/meshyard/server"
	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/models/catalogue"
)

// handlerAt opens a catalogue with a base URL and returns its handler, without a network
// connection.
func handlerAt(t *testing.T, settings config.Settings, base string) (http.Handler, *catalogue.Catalogue) {
	t.Helper()
	settings.BaseURL = base
	a, err := server.Open(context.Background(), settings, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	h, err := a.Handler(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return h, a.Store
}

func get(h http.Handler, path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
	return w
}

// post submits a form like a browser on a page of the server, behind a proxy with the public URL.
func post(h http.Handler, address string, form url.Values) *httptest.ResponseRecorder {
	u, _ := url.Parse(address)
	r := httptest.NewRequest("POST", "/"+u.Path[strings.LastIndex(u.Path, "/")+1:], strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", u.Scheme+"://"+u.Host)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}
