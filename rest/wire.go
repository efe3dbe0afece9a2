package rest

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// The types of the wire's fields: each reads what GraphQL answers and writes what old clients expect.

// ID is a string in GraphQL and an integer on the wire.
type ID int64

// UnmarshalJSON reads a decimal string.
func (id *ID) UnmarshalJSON(b []byte) error {
	n, err := strconv.ParseInt(strings.Trim(string(b), `"`), 10, 64)
	*id = ID(n)
	return err
}

func (id ID) String() string { return strconv.FormatInt(int64(id), 10) }

// Flag is a boolean in GraphQL, or the state of publication, and 0 or 1 on the wire.
type Flag int

// UnmarshalJSON reads true, or "PUBLISHED", as 1 and anything else as 0.
func (f *Flag) UnmarshalJSON(b []byte) error {
	*f = 0
	if s := string(b); s == "true" || s == `"PUBLISHED"` {
		*f = 1
	}
	return nil
}

// TargetID is what a comment is on: its type and id in GraphQL, kept for what is made of it.
type TargetID struct {
	Type string `json:"__typename"`
	ID   ID     `json:"id"`
}

// Time is RFC 3339 in GraphQL and has no fractions and a numeric offset on the wire: fixed patterns read it.
type Time struct{ time.Time }

// MarshalJSON writes 2015-04-09T12:55:22+00:00.
func (t Time) MarshalJSON() ([]byte, error) {
	return json.Marshal(t.UTC().Format("2006-01-02T15:04:05-07:00"))
}

// FileTime is Time as FileSchema alone writes it.
type FileTime struct{ time.Time }

// MarshalJSON writes 2015-04-09 12:55:22.
func (t FileTime) MarshalJSON() ([]byte, error) {
	return json.Marshal(t.UTC().Format(time.DateTime))
}

// Hash is hex in GraphQL and base64 on the wire.
type Hash string

// UnmarshalJSON reads hex.
func (h *Hash) UnmarshalJSON(b []byte) error {
	raw, err := hex.DecodeString(strings.Trim(string(b), `"`))
	*h = Hash(base64.StdEncoding.EncodeToString(raw))
	return err
}

// OKSchema is what an action that succeeded answers.
type OKSchema struct{}

// MarshalJSON writes {"ok":"ok"}.
func (OKSchema) MarshalJSON() ([]byte, error) { return []byte(`{"ok":"ok"}`), nil }

// UnmarshalJSON reads nothing.
func (*OKSchema) UnmarshalJSON([]byte) error { return nil }
