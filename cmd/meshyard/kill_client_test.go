package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"time"
)

// client calls a server until the server is killed. It follows no redirects. It returns errors
// instead of failing the test, because here a missing server is not a failure.
type client struct {
	url  string
	http *http.Client
}

func newClient(url string) *client {
	return &client{url, &http.Client{
		Transport:     &http.Transport{MaxIdleConnsPerHost: 32},
		Timeout:       time.Minute,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// response is a response whose status has arrived. Its body may be truncated.
type response struct {
	status int
	header http.Header
	body   []byte
	cut    error // the error that truncated the body
	closed bool  // the server closes the connection after this response
}

// send sends a request as a user, or without a token if u is nil. It returns an error if no status
// arrived.
func (c *client) send(u *user, method, path, contentType string, body io.Reader) (*response, error) {
	r, err := http.NewRequest(method, c.url+path, body)
	if err != nil {
		return nil, err
	}
	if u != nil {
		r.Header.Set("Authorization", "Bearer "+u.token)
	}
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	got, err := c.http.Do(r)
	if err != nil {
		return nil, err
	}
	defer got.Body.Close()
	a := &response{status: got.StatusCode, header: got.Header, closed: got.Close}
	a.body, a.cut = io.ReadAll(got.Body)
	return a, nil
}

// try requests a path that may not exist, and decodes a 200 response. On 404 it returns no error.
func (c *client) try(u *user, path string, into any) (status int, err error) {
	a, err := c.send(u, http.MethodGet, path, "", nil)
	switch {
	case err != nil:
		return 0, err
	case a.status == http.StatusNotFound:
		return a.status, nil
	case a.status != http.StatusOK || a.cut != nil:
		return a.status, fmt.Errorf("GET %s: got %d %.300s, %v, want 200", path, a.status, a.body, a.cut)
	}
	if err := json.Unmarshal(a.body, into); err != nil {
		return a.status, fmt.Errorf("GET %s: %w: %.300s", path, err, a.body)
	}
	return a.status, nil
}

// json requests a path, which must exist, and decodes the response.
func (c *client) json(u *user, path string, into any) error {
	status, err := c.try(u, path, into)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("GET %s: got %d, want 200", path, status)
	}
	return err
}

// thing creates a draft.
func (c *client) thing(u *user, name string) (int64, error) {
	body, err := json.Marshal(map[string]any{"name": name, "license": "cc", "category": "Tools",
		"description": "To be killed."})
	if err != nil {
		return 0, err
	}
	a, err := c.send(u, http.MethodPost, "/things/", "application/json", bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	var thing struct{ ID int64 }
	if err := json.Unmarshal(a.body, &thing); err != nil || a.status != http.StatusOK || thing.ID == 0 {
		return 0, fmt.Errorf("POST /things: got %d %.300s, want 200 and an id", a.status, a.body)
	}
	return thing.ID, nil
}

// history returns the number of entries in the user's download history.
func (c *client) history(u *user) (int, error) {
	body, err := json.Marshal(map[string]any{"query": `{ me { downloads(first: 1) { totalCount } } }`})
	if err != nil {
		return 0, err
	}
	a, err := c.send(u, http.MethodPost, "/graphql", "application/json", bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	var result struct {
		Data struct {
			Me *struct{ Downloads struct{ TotalCount int } }
		}
	}
	if err := json.Unmarshal(a.body, &result); err != nil || result.Data.Me == nil {
		return 0, fmt.Errorf("download history of %s: got %d %.300s, want a count", u.name, a.status, a.body)
	}
	return result.Data.Me.Downloads.TotalCount, nil
}

// multipartBody returns a form with the fields followed by a file, whose bytes are read while they
// are sent.
func multipartBody(fields map[string]string, name string, file io.Reader) (body io.Reader, contentType string) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for field, value := range fields {
		_ = w.WriteField(field, value) // writing to memory cannot fail
	}
	_, _ = w.CreateFormFile("file", name)
	head := bytes.Clone(b.Bytes())
	b.Reset()
	_ = w.Close()
	return io.MultiReader(bytes.NewReader(head), file, &b), w.FormDataContentType()
}

// signatureOf returns the signature in a signed URL.
func signatureOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Query().Get("signature")
}
