package servertest

import (
	"strings"
	"testing"
)

// UploadForm is the upload form of a staged upload, as a client receives it.
type UploadForm struct {
	Action string            `json:"action"`
	Fields map[string]string `json:"fields"`
}

var FormFields = []string{"AWSAccessKeyId", "bucket", "key", "acl", "success_action_redirect", "policy", "signature",
	"Content-Type", "Content-Disposition"}

func Stage(t *testing.T, c *Client, path, name string) UploadForm {
	t.Helper()
	var f UploadForm
	c.Do("POST", path, Object{"filename": name}).Want(t, 200, &f)
	for _, field := range FormFields {
		if f.Fields[field] == "" {
			t.Errorf("the form has no %s: %v", field, f.Fields)
		}
	}
	if len(f.Fields) != len(FormFields) || f.Action != c.URL+"/upload_file_storage" {
		t.Errorf("form %+v", f)
	}
	return f
}

// Post submits a form as clients do, without a token and with the fields in random order.
func (f UploadForm) Post(c *Client, file []byte, leave ...string) *Response {
	var fields [][2]string
	for name, value := range f.Fields {
		if !strings.Contains(strings.Join(leave, " "), name) {
			fields = append(fields, [2]string{name, value})
		}
	}
	nobody := *c
	nobody.Token = ""
	return nobody.PostForm(f.Action, fields, "file", "x", file)
}

// PostForm requests an upload form at a path, posts a file to it, and finalizes the upload, as
// existing clients do.
func PostForm(t *testing.T, c *Client, path, name string, file []byte) *Response {
	t.Helper()
	var form struct {
		Action string
		Fields map[string]string
	}
	c.Do("POST", path, Object{"filename": name}).Want(t, 200, &form)
	fields := make([][2]string, 0, len(form.Fields))
	for field, value := range form.Fields {
		fields = append(fields, [2]string{field, value})
	}
	nobody := c.For(t)
	nobody.Token = ""
	stored := nobody.PostForm(form.Action, fields, "file", name, file).Want(t, 200)
	return c.Do("POST", stored.Header.Get("Location"), nil)
}
