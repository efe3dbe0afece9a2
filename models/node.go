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

// NodeID returns an opaque ID that is unique among the objects of all types.
func (r NodeRef) NodeID() string {
	return base64.RawURLEncoding.EncodeToString([]byte(r.Type + ":" + strconv.FormatInt(r.ID, 10)))
}

// ParseNodeID is the inverse of NodeID. For any other text it returns the zero NodeRef, which
// refers to no object.
func ParseNodeID(id string) NodeRef {
	text, err := base64.RawURLEncoding.DecodeString(id)
	name, digits, _ := strings.Cut(string(text), ":")
	n, numErr := strconv.ParseInt(digits, 10, 64)
	if r := (NodeRef{name, n}); err == nil && numErr == nil && r.NodeID() == id {
		return r
	}
	return NodeRef{}
}

// NodeID returns the node ID of the thing.
func (t *Thing) NodeID() string { return NodeRef{"Thing", t.ID}.NodeID() }

// NodeID returns the node ID of the make.
func (m *Make) NodeID() string { return NodeRef{"Make", m.ID}.NodeID() }

// NodeID returns the node ID of the comment.
func (c *Comment) NodeID() string { return NodeRef{"Comment", c.ID}.NodeID() }

// NodeID returns the node ID of the collection.
func (c *Collection) NodeID() string { return NodeRef{"Collection", c.ID}.NodeID() }

// NodeID returns the node ID of the user.
func (u *User) NodeID() string { return NodeRef{"User", u.ID}.NodeID() }

// NodeID returns the node ID of the file.
func (f *File) NodeID() string { return NodeRef{"File", f.ID}.NodeID() }

// NodeID returns the node ID of the category.
func (c *Category) NodeID() string { return NodeRef{"Category", c.ID}.NodeID() }
