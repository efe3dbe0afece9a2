package signing

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Form is the permission to upload one file of at most Limit bytes until Expires.
type Form struct {
	FileID   int64
	Name     string // file name
	Redirect string // where the client is redirected after the upload
	Limit    int64
	Expires  time.Time
}

// Field is a form field.
type Field struct{ Name, Value string }

// policy is the document that the signature covers, modeled on the POST policies of Amazon S3 (API
// version 2006-03-01, "Creating a POST policy"): each condition is a field and its only value, or a
// range of lengths.
type policy struct {
	Expiration string `json:"expiration"`
	Conditions []any  `json:"conditions"`
}

const (
	keyPrefix   = "pending/"
	lengthRange = "content-length-range"
)

// Fields returns the nine fields of the form, in the order in which they are to be sent, including
// policy and signature.
func (k Key) Fields(form Form) ([]Field, error) {
	fields := []Field{
		{"AWSAccessKeyId", "meshyard"},
		{"bucket", "meshyard"},
		{"key", keyPrefix + strconv.FormatInt(form.FileID, 10)},
		{"acl", "private"},
		{"success_action_redirect", form.Redirect},
		{"Content-Type", "application/octet-stream"},
		{"Content-Disposition", "attachment; filename=" + strconv.QuoteToASCII(form.Name)},
	}
	p := policy{Expiration: form.Expires.UTC().Format(time.RFC3339)}
	for _, f := range fields {
		p.Conditions = append(p.Conditions, map[string]string{f.Name: f.Value})
	}
	p.Conditions = append(p.Conditions, []any{lengthRange, 1, form.Limit})
	document, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	encoded := base64.StdEncoding.EncodeToString(document)
	return slices.Insert(fields, 5, Field{"policy", encoded}, Field{"signature", k.Sign("form", encoded)}), nil
}

// CheckForm verifies the submitted fields and returns the Form that they were issued for. Each
// submitted field must have the signed value. Only key, policy and signature are required. The
// error describes the problem to the client.
func (k Key) CheckForm(fields map[string]string, now time.Time) (Form, error) {
	var form Form
	if fields["policy"] == "" || fields["signature"] == "" || fields["key"] == "" {
		return form, errors.New("the form must have the fields key, policy and signature before the file")
	}
	if !k.Verify(fields["signature"], "form", fields["policy"]) {
		return form, errors.New("signature: does not match the policy")
	}
	document, err := base64.StdEncoding.DecodeString(fields["policy"])
	if err != nil {
		return form, fmt.Errorf("the policy cannot be read: %w", err)
	}
	var p policy
	if err := json.Unmarshal(document, &p); err != nil {
		return form, fmt.Errorf("the policy cannot be read: %w", err)
	}
	if form.Expires, err = time.Parse(time.RFC3339, p.Expiration); err != nil {
		return form, fmt.Errorf("the policy cannot be read: %w", err)
	}
	if !now.Before(form.Expires) {
		return form, errors.New("the policy expired at " + p.Expiration)
	}
	signed := map[string]string{"policy": fields["policy"], "signature": fields["signature"]}
	for _, condition := range p.Conditions {
		switch c := condition.(type) {
		case map[string]any:
			for name, value := range c {
				signed[name], _ = value.(string)
			}
		case []any:
			if len(c) == 3 && c[0] == lengthRange {
				limit, _ := c[2].(float64)
				form.Limit = int64(limit)
			}
		}
	}
	for name, value := range fields {
		if want, known := signed[name]; known && want != value {
			return form, fmt.Errorf("%s: differs from the signed policy", name)
		}
	}
	form.Redirect = signed["success_action_redirect"]
	form.FileID, err = strconv.ParseInt(strings.TrimPrefix(signed["key"], keyPrefix), 10, 64)
	return form, err
}
