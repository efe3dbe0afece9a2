// Package wire contains the structs of the REST API. Each struct decodes the result of a stored
// GraphQL document and encodes the JSON that legacy clients expect.
//
// Everything that only the old format needs is in this package: names of fields, numbers for flags,
// formats of dates, names of licenses, and constant values. Names and types follow the published
// interface, which package published contains, so they do not change.
package wire

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"github.com/meshyard/meshyard/internal/urls"
)

// Completer is a wire struct that sets the fields which GraphQL does not return, such as URLs and
// constants, after it was decoded.
type Completer interface{ Complete(a urls.Builder) }

// Extent is the length of a list and the position where one page of it ends.
type Extent struct {
	Total int
	Info  PageEnd
}

// ID is a string in GraphQL and an integer in REST.
type ID int64

// UnmarshalJSON reads a decimal string.
func (id *ID) UnmarshalJSON(b []byte) error {
	n, err := strconv.ParseInt(string(bytes.Trim(b, `"`)), 10, 64)
	*id = ID(n)
	return err
}

func (id ID) String() string { return strconv.FormatInt(int64(id), 10) }

// Flag is a boolean or a publication state in GraphQL, and 0 or 1 in REST.
type Flag int

// UnmarshalJSON reads true, or "PUBLISHED", as 1 and anything else as 0.
func (f *Flag) UnmarshalJSON(b []byte) error {
	*f = 0
	if s := string(b); s == "true" || s == `"PUBLISHED"` {
		*f = 1
	}
	return nil
}

// flag returns 1 for true and 0 for false.
func flag(is bool) Flag {
	if is {
		return 1
	}
	return 0
}

// TargetID is the type and the ID of the target of a comment.
type TargetID struct {
	Type string `json:"__typename"`
	ID   ID     `json:"id"`
}

// Time is RFC 3339 in GraphQL. In REST it has no fractional seconds and a numeric offset, because
// clients parse it with fixed patterns.
type Time struct{ time.Time }

// MarshalJSON writes the form 2015-04-09T12:55:22+00:00.
func (t Time) MarshalJSON() ([]byte, error) {
	b := t.UTC().AppendFormat([]byte{'"'}, time.RFC3339) // faster than other layouts
	return append(b[:len(b)-len("Z")], `+00:00"`...), nil
}

// FileTime is the date format that only FileSchema uses.
type FileTime struct{ time.Time }

// MarshalJSON writes the form 2015-04-09 12:55:22.
func (t FileTime) MarshalJSON() ([]byte, error) {
	return t.UTC().AppendFormat(nil, `"`+time.DateTime+`"`), nil
}

// Hash is hexadecimal in GraphQL and base64 in REST.
type Hash string

// UnmarshalJSON reads a hexadecimal string.
func (h *Hash) UnmarshalJSON(b []byte) error {
	raw, err := hex.DecodeString(strings.Trim(string(b), `"`))
	*h = Hash(base64.StdEncoding.EncodeToString(raw))
	return err
}

// OKSchema is the response to a successful action.
type OKSchema struct{}

// MarshalJSON writes {"ok":"ok"}.
func (OKSchema) MarshalJSON() ([]byte, error) { return []byte(`{"ok":"ok"}`), nil }

// UnmarshalJSON ignores its input.
func (*OKSchema) UnmarshalJSON([]byte) error { return nil }

// ErrorSchema is the body of every error. Some clients compare Error with the text of the HTTP
// status, so the explanation is in Message.
type ErrorSchema struct {
	Error   string   `json:"error"`
	Code    int      `json:"code"`
	Type    string   `json:"type"`
	Message string   `json:"message"`
	Errors  []string `json:"errors,omitempty"`
}
