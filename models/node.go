package models

import (
	"encoding/base64"
	"strconv"
	"strings"
)

// NodeRef refers to an object of any type.
type NodeRef struct {
	Type string // such as Thing
	ID   int64
}

// NodeID returns an opaque id that is unique among the objects of all types.
func (r NodeRef) NodeID() string {
	return base64.RawURLEncoding.EncodeToString([]byte(r.Type + ":" + strconv.FormatInt(r.ID, 10)))
}

// ParseNodeID reverses NodeID. Any other text is the zero NodeRef, which refers to no object.
func ParseNodeID(id string) NodeRef {
	text, err := base64.RawURLEncoding.DecodeString(id)
	name, digits, _ := strings.Cut(string(text), ":")
	n, numErr := strconv.ParseInt(digits, 10, 64)
	if r := (NodeRef{name, n}); err == nil && numErr == nil && r.NodeID() == id {
		return r
	}
	return NodeRef{}
}

// NodeID returns the id of the thing among all objects.
func (t *Thing) NodeID() string { return NodeRef{"Thing", t.ID}.NodeID() }

// NodeID returns the id of the make among all objects.
func (m *Make) NodeID() string { return NodeRef{"Make", m.ID}.NodeID() }

// NodeID returns the id of the comment among all objects.
func (c *Comment) NodeID() string { return NodeRef{"Comment", c.ID}.NodeID() }

// NodeID returns the id of the collection among all objects.
func (c *Collection) NodeID() string { return NodeRef{"Collection", c.ID}.NodeID() }

// NodeID returns the id of the user among all objects.
func (u *User) NodeID() string { return NodeRef{"User", u.ID}.NodeID() }

// NodeID returns the id of the file among all objects.
func (f *File) NodeID() string { return NodeRef{"File", f.ID}.NodeID() }

// NodeID returns the id of the category among all objects.
func (c *Category) NodeID() string { return NodeRef{"Category", c.ID}.NodeID() }

// NodeID returns the id of the notification among all objects.
func (n *Notification) NodeID() string { return NodeRef{"Notification", n.ID}.NodeID() }
