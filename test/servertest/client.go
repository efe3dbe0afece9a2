package servertest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/apierror"
)

// Client calls a server like an API client. It follows no redirects.
type Client struct {
	URL   string
	Token string
	Key   string // of an unlisted thing, which is added to the URL of each request; may be empty

	t testing.TB
}

// For returns the same client for another test, such as one input of a fuzz test.
func (c *Client) For(t testing.TB) *Client { return &Client{c.URL, c.Token, c.Key, t} }

// Response is a response, read to its end.
type Response struct {
	*http.Response
	Bytes []byte
}

var transport = &http.Client{CheckRedirect: func(*http.Request,
	[]*http.Request) error {
	return http.ErrUseLastResponse
}}

// Send sends a request and reads the response. It adds the client's token unless the request has an
// Authorization header. It fails the test if a REST response does not match the OpenAPI
// description.
func (c *Client) Send(r *http.Request) *Response {
	c.t.Helper()
	if c.Token != "" && r.Header.Get("Authorization") == "" {
		r.Header.Set("Authorization", "Bearer "+c.Token)
	}
	response, err := transport.Do(r)
	if err != nil {
		c.t.Fatalf("%s %s: %v", r.Method, r.URL, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		c.t.Fatalf("%s %s: read: %v", r.Method, r.URL, err)
	}
	read := &Response{response, body}
	checkResponse(c.t, r, read)
	return read
}

// Request returns a request for a path or an absolute URL. A body that is not a reader, a string or
// bytes is sent as JSON.
func (c *Client) Request(method, path string, body any) *http.Request {
	c.t.Helper()
	var reader io.Reader
	switch b := body.(type) {
	case nil:
	case io.Reader:
		reader = b
	case string:
		reader = strings.NewReader(b)
	case []byte:
		reader = bytes.NewReader(b)
	default:
		text, err := json.Marshal(b)
		if err != nil {
			c.t.Fatal(err)
		}
		reader = bytes.NewReader(text)
	}
	if strings.HasPrefix(path, "/") {
		path = c.URL + path
	}
	r, err := http.NewRequest(method, path, reader)
	if err != nil {
		c.t.Fatal(err)
	}
	if c.Key != "" {
		query := r.URL.Query()
		query.Set("key", c.Key)
		r.URL.RawQuery = query.Encode()
	}
	return r
}

// Do sends a request with a body.
func (c *Client) Do(method, path string, body any) *Response {
	c.t.Helper()
	return c.Send(c.Request(method, path, body))
}

// Get requests a path.
func (c *Client) Get(path string) *Response {
	c.t.Helper()
	return c.Do(http.MethodGet, path, nil)
}

// Want fails the test unless the response has the status, and decodes it into each of into.
func (r *Response) Want(t testing.TB, status int, into ...any) *Response {
	t.Helper()
	if r.StatusCode != status {
		t.Fatalf("%s %s: got %d, want %d: %s", r.Request.Method, r.Request.URL.Path, r.StatusCode, status, r.Bytes)
	}
	for _, v := range into {
		if err := json.Unmarshal(r.Bytes, v); err != nil {
			t.Fatalf("%s %s: %v: %s", r.Request.Method, r.Request.URL.Path, err, r.Bytes)
		}
	}
	return r
}

// Form returns a multipart body and its content type. The body contains the fields in the given
// order, and then the file.
func Form(fields [][2]string, part, name string, file []byte) (body []byte, contentType string) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, f := range fields {
		_ = w.WriteField(f[0], f[1])
	}
	if part != "" {
		p, _ := w.CreateFormFile(part, name)
		_, _ = p.Write(file)
	}
	_ = w.Close()
	return b.Bytes(), w.FormDataContentType()
}

// PostForm submits a multipart form.
func (c *Client) PostForm(path string, fields [][2]string, part, name string, file []byte) *Response {
	c.t.Helper()
	body, contentType := Form(fields, part, name, file)
	r := c.Request(http.MethodPost, path, body)
	r.Header.Set("Content-Type", contentType)
	return c.Send(r)
}

// Upload uploads a file by REST and returns its id.
func (c *Client) Upload(name string, file []byte) int64 {
	c.t.Helper()
	var up struct{ ID int64 }
	c.PostForm("/files/0/uploadFile", nil, "file", name, file).Want(c.t, http.StatusOK, &up)
	return up.ID
}

// Thing creates a draft by REST and returns its id.
func (c *Client) Thing(name string) int64 {
	c.t.Helper()
	var thing struct{ ID int64 }
	c.Do(http.MethodPost, "/things/", map[string]any{"name": name, "license": "cc", "category": "Tools",
		"description": "Made for a test."}).
		Want(c.t, http.StatusOK, &thing)
	return thing.ID
}

// Finalize finalizes uploads to a target by REST.
func (c *Client) Finalize(targetType string, targetID int64, ids ...int64) *Response {
	c.t.Helper()
	return c.Do(http.MethodPost, "/files/0/FinalizeFiles", FinalizeBody(targetType, targetID, ids...))
}

// FinalizeBody returns the request body of FinalizeFiles.
func FinalizeBody(targetType string, targetID int64, ids ...int64) map[string]any {
	uploads := make([]map[string]any, len(ids))
	for i, id := range ids {
		uploads[i] = map[string]any{"id": id, "rank": 10 * (i + 1)}
	}
	return map[string]any{"pending_uploads": uploads, "target_id": targetID, "target_type": targetType}
}

// Publish publishes a thing by REST.
func (c *Client) Publish(id int64) *Response {
	c.t.Helper()
	return c.Do(http.MethodPost, fmt.Sprintf("/things/%d/publish", id), nil)
}

// Result is a GraphQL response.
type Result struct {
	Data   json.RawMessage
	Errors []struct {
		Message    string
		Path       []any
		Locations  []struct{ Line, Column int }
		Extensions struct {
			Code   string
			Field  string
			Limit  int64
			Fields []apierror.FieldError
		}
	}
}

// Code returns the code of the first error, or "" if there is none.
func (r *Result) Code() string {
	if len(r.Errors) == 0 {
		return ""
	}
	return r.Errors[0].Extensions.Code
}

// GraphQL runs a document with one operation.
func (c *Client) GraphQL(document string, variables map[string]any) *Result {
	c.t.Helper()
	return c.Operation(document, "", variables)
}

// Operation runs one operation of a document.
func (c *Client) Operation(document, name string, variables map[string]any) *Result {
	c.t.Helper()
	r := c.Request(http.MethodPost, "/graphql", map[string]any{"query": document, "operationName": name,
		"variables": variables})
	r.Header.Set("Content-Type", "application/json")
	return c.result(c.Send(r))
}

// Query runs a document that must succeed and decodes its data into v.
func (c *Client) Query(document string, variables map[string]any, v any) {
	c.t.Helper()
	result := c.GraphQL(document, variables)
	if len(result.Errors) > 0 {
		c.t.Fatalf("%s\nvariables %v: %+v", document, variables, result.Errors)
	}
	if err := json.Unmarshal(result.Data, v); err != nil {
		c.t.Fatalf("%s: %v: %s", document, err, result.Data)
	}
}

// GraphQLUpload runs a document with a file in the variable at path, as a GraphQL multipart
// request.
func (c *Client) GraphQLUpload(document string, variables map[string]any, path, name string, file []byte) *Result {
	c.t.Helper()
	return c.result(c.SendGraphQLUpload(document, variables, path, name, file))
}

// SendGraphQLUpload is GraphQLUpload for tests of the status and the header of the response.
func (c *Client) SendGraphQLUpload(document string, variables map[string]any, path, name string,
	file []byte) *Response {
	c.t.Helper()
	operations, err := json.Marshal(map[string]any{"query": document, "variables": variables})
	if err != nil {
		c.t.Fatal(err)
	}
	fields := [][2]string{{"operations", string(operations)}, {"map", `{"0":["variables.` + path + `"]}`}}
	body, contentType := Form(fields, "0", name, file)
	r := c.Request(http.MethodPost, "/graphql", body)
	r.Header.Set("Content-Type", contentType)
	return c.Send(r)
}

func (c *Client) result(response *Response) *Result {
	c.t.Helper()
	result := new(Result)
	if err := json.Unmarshal(response.Bytes, result); err != nil {
		c.t.Fatalf("POST /graphql: %d, not JSON: %.300s", response.StatusCode, response.Bytes)
	}
	return result
}

// ID formats an id as GraphQL does.
func ID(id int64) string { return strconv.FormatInt(id, 10) }
