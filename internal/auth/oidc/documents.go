package oidc

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

const (
	// refreshEvery is the minimum time between two requests for the same document of the provider.
	// go-oidc fetches the provider's keys again for each token with an unknown signature, and anyone
	// can send such tokens.
	refreshEvery = 10 * time.Second

	maxDocument = 1 << 20
)

// client returns the HTTP client for the provider.
func (p *Provider) client() *http.Client {
	return &http.Client{Timeout: 10 * time.Second, Transport: &p.documents}
}

// documents is an HTTP transport that caches the public documents of the provider, its
// configuration and its keys, for refreshEvery. It caches failures too. Other requests are not
// cached.
type documents struct {
	mu    sync.Mutex
	known map[string]document
}

type document struct {
	response *http.Response
	body     []byte
	err      error
	at       time.Time
}

// RoundTrip sends a request to the provider, or returns the cached response.
func (d *documents) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodGet || r.Header.Get("Authorization") != "" {
		response, err := http.DefaultTransport.RoundTrip(r)
		if err == nil {
			response.Body = struct {
				io.Reader
				io.Closer
			}{io.LimitReader(response.Body, maxDocument), response.Body}
		}
		return response, err
	}
	d.mu.Lock() // one request at a time: the others wait for its response
	defer d.mu.Unlock()
	last, ok := d.known[r.URL.String()]
	if !ok || time.Since(last.at) >= refreshEvery {
		last = fetch(r)
		if r.Context().Err() != nil {
			return nil, r.Context().Err() // the caller's context ended, so do not cache the failure
		}
		if d.known == nil {
			d.known = make(map[string]document)
		}
		d.known[r.URL.String()] = last
	}
	if last.err != nil {
		return nil, last.err
	}
	response := *last.response
	response.Request, response.Header, response.Body = r, last.response.Header.Clone(),
		io.NopCloser(bytes.NewReader(last.body))
	return &response, nil
}

// failure returns the error of the last request for a document, or nil if it succeeded or is older
// than refreshEvery.
func (d *documents) failure(address string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	last := d.known[address]
	if time.Since(last.at) >= refreshEvery {
		return nil
	}
	return last.err
}

func fetch(r *http.Request) document {
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return document{err: err, at: time.Now()}
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxDocument+1))
	switch {
	case err != nil:
	case len(body) > maxDocument:
		err = fmt.Errorf("%s: the response must be at most %d bytes", r.URL.Redacted(), maxDocument)
	case response.StatusCode != http.StatusOK:
		err = fmt.Errorf("%s: the status is %s, want 200", r.URL.Redacted(), response.Status)
	}
	return document{response: response, body: body, err: err, at: time.Now()}
}
