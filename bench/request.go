package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"strconv"
	"strings"
)

// request is a request that all contenders receive.
type request struct {
	method, path, body string
	form               bool   // whether the body is a multipart form; otherwise it is JSON
	token              string // of the caller; "" for an anonymous one
	recording          int    // number of its recording, from 1; 0: it has none
}

// recordingHeader has the number of the recording that the bare contender repeats. Servers ignore
// it.
const recordingHeader = "Bench-Recording"

// boundary separates the parts of multipart forms.
const boundary = "the-boundary-of-the-parts"

func get(path string) request { return request{method: http.MethodGet, path: path} }

// post returns a request with a JSON body.
func post(path string, body any) request {
	text, _ := json.Marshal(body) // no error: maps, slices and texts
	return request{method: http.MethodPost, path: path, body: string(text)}
}

// postForm returns a request with a multipart form: the fields, and then a file.
func postForm(path string, fields [][2]string, part, name string, content []byte) request {
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	_ = w.SetBoundary(boundary) // writing to a buffer does not fail
	for _, f := range fields {
		_ = w.WriteField(f[0], f[1])
	}
	file, _ := w.CreateFormFile(part, name)
	_, _ = file.Write(content)
	_ = w.Close()
	return request{method: http.MethodPost, path: path, body: body.String(), form: true}
}

type object = map[string]any

// graphQL returns the request for a document, in the form in which the gallery sends it.
func graphQL(document string, variables object) request {
	return post("/graphql", object{"query": document, "variables": variables})
}

// by returns the request as the caller with a token sends it.
func (r request) by(token string) request {
	r.token = token
	return r
}

// String returns the request for error messages.
func (r request) String() string {
	return fmt.Sprintf("%s %s %.300s", r.method, r.path, r.body)
}

func (r request) contentType() string {
	if r.form {
		return "multipart/form-data; boundary=" + boundary
	}
	return "application/json"
}

// text returns the request in HTTP/1.1 format. It does not accept compression, which bare handlers
// do not support.
func (r request) text(host string) []byte {
	text := fmt.Appendf(nil, "%s %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: bench\r\nAccept: application/json\r\n", r.method,
		r.path, host)
	if r.token != "" {
		text = fmt.Appendf(text, "Authorization: Bearer %s\r\n", r.token)
	}
	if r.recording != 0 {
		text = fmt.Appendf(text, "%s: %d\r\n", recordingHeader, r.recording)
	}
	if r.body != "" {
		text = fmt.Appendf(text, "Content-Type: %s\r\nContent-Length: %d\r\n", r.contentType(), len(r.body))
	}
	return append(append(text, "\r\n"...), r.body...)
}

// response is a response that was read to its end.
type response struct {
	Status int
	Header http.Header
	Body   []byte
}

// withoutRedirects is an HTTP client that does not follow redirects, and asks for no compression.
var withoutRedirects = http.Client{
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	Transport:     &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true},
}

// send sends the request and reads the response. It returns an error unless the status is 200 or
// 302 and the body has no GraphQL errors.
func (r request) send(ctx context.Context, host string) (got response, err error) {
	sent, err := http.NewRequestWithContext(ctx, r.method, "http://"+host+r.path, strings.NewReader(r.body))
	if err != nil {
		return got, err
	}
	sent.Header.Set("Accept", "application/json")
	sent.Header.Set("Content-Type", r.contentType())
	if r.token != "" {
		sent.Header.Set("Authorization", "Bearer "+r.token)
	}
	if r.recording != 0 {
		sent.Header.Set(recordingHeader, strconv.Itoa(r.recording))
	}
	reply, err := withoutRedirects.Do(sent)
	if err != nil {
		return got, err
	}
	defer reply.Body.Close()
	got = response{Status: reply.StatusCode, Header: reply.Header}
	if got.Body, err = io.ReadAll(reply.Body); err != nil {
		return got, err
	}
	if got.Status != http.StatusOK && got.Status != http.StatusFound || bytes.HasPrefix(got.Body, []byte(`{"errors"`)) {
		return got, fmt.Errorf("%s: %s: %.500s", r, reply.Status, got.Body)
	}
	return got, nil
}

// into sends the request and decodes the JSON of the response.
func (r request) into(ctx context.Context, host string, v any) error {
	got, err := r.send(ctx, host)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(got.Body, v); err != nil {
		return fmt.Errorf("%s: %w: %.300s", r, err, got.Body)
	}
	return nil
}
