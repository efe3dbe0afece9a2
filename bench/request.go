package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// request is a request that both sides of a comparison receive.
type request struct{ method, path, body string }

// String returns the request for error messages.
func (r request) String() string { return strings.TrimSpace(r.method + " " + r.path + " " + r.body) }

// text returns the request in HTTP/1.1 format. It does not accept compression, which B does not
// support.
func (r request) text(host, token string) []byte {
	text := fmt.Appendf(nil, "%s %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: bench\r\nAccept: application/json\r\nAuthorization: Bearer %s\r\n", r.method, r.path, host, token)
	if r.body != "" {
		text = fmt.Appendf(text, "Content-Type: application/json\r\nContent-Length: %d\r\n", len(r.body))
	}
	return append(append(text, "\r\n"...), r.body...)
}

// withoutRedirects is an HTTP client that does not follow redirects.
var withoutRedirects = http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// send sends the request. It returns the compared headers (Total-Count, Link, and Location without
// the signature) and the body without trailing white space. It returns an error unless the status
// is 200 or 302 and the body has no GraphQL errors.
func (r request) send(ctx context.Context, host, token string) (headers string, body []byte, err error) {
	sent, err := http.NewRequestWithContext(ctx, r.method, "http://"+host+r.path, strings.NewReader(r.body))
	if err != nil {
		return "", nil, err
	}
	sent.Header.Set("Authorization", "Bearer "+token)
	sent.Header.Set("Content-Type", "application/json")
	response, err := withoutRedirects.Do(sent)
	if err != nil {
		return "", nil, err
	}
	defer response.Body.Close()
	if body, err = io.ReadAll(response.Body); err != nil {
		return "", nil, err
	}
	if response.StatusCode != http.StatusOK && response.StatusCode != http.StatusFound || bytes.HasPrefix(body, []byte(`{"errors"`)) {
		return "", nil, fmt.Errorf("%s: %s: %.300s", r, response.Status, body)
	}
	location, _, _ := strings.Cut(response.Header.Get("Location"), "?")
	return response.Header.Get("Total-Count") + " " + response.Header.Get("Link") + " " + location, bytes.TrimSpace(body), nil
}

// sameResponses checks that two processes do the same work: the compared headers and the bodies of
// their responses must be equal.
func sameResponses(ctx context.Context, a, b *process, token string, requests []request) error {
	for _, r := range requests {
		listA, bodyA, err := r.send(ctx, a.address, token)
		if err != nil {
			return err
		}
		listB, bodyB, err := r.send(ctx, b.address, token)
		if err != nil {
			return err
		}
		if listA != listB || !bytes.Equal(bodyA, bodyB) {
			return fmt.Errorf("%s: the responses differ:\nA %s\n%s\nB %s\n%s", r, listA, bodyA, listB, bodyB)
		}
	}
	return nil
}
