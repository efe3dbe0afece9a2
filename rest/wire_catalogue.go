package rest

import (
	"encoding/json"
	"fmt"

	"github.com/meshyard/meshyard/internal/urls"
)

// CategorySchema is a shelf on the wire.
type CategorySchema struct {
	ID        ID                `json:"id"`
	Name      string            `json:"name"`
	URL       string            `json:"url"`
	Count     int               `json:"count"`
	Slug      string            `json:"slug"`
	ThingsURL string            `json:"things_url"`
	Children  []*CategorySchema `json:"children,omitzero"` // where they are asked for
}

func (c *CategorySchema) complete(a urls.Builder) {
	c.URL = a.Base + "/categories/" + c.Slug
	c.ThingsURL = c.URL + "/things"
	for _, child := range c.Children {
		child.complete(a)
	}
}

// CollectionSchema is things that somebody put together.
type CollectionSchema struct {
	ID          ID           `json:"id"`
	Name        string       `json:"name"`
	Description string       `json:"description"`
	URL         string       `json:"url"`
	ThingsURL   string       `json:"things_url"`
	Thumbnail   string       `json:"thumbnail"`
	Creator     *UserSummary `json:"creator"`
	Count       int          `json:"count"`
	Added       Time         `json:"added"`
	Modified    Time         `json:"modified"`
}

func (c *CollectionSchema) complete(a urls.Builder) {
	c.URL = a.Base + "/collections/" + c.ID.String()
	c.ThingsURL = c.URL + "/things"
	c.Thumbnail = a.Picture("THING")
	c.Creator.complete(a)
}

// SearchTagSchema is a tag as a search for tags answers it.
type SearchTagSchema struct {
	Tag      string `json:"tag"`
	TagCount int    `json:"tag_count"`

	// Read only: emptied before they are written.
	Name  string `json:"name,omitempty"`
	Count int    `json:"count,omitempty"`
}

func (t *SearchTagSchema) complete(urls.Builder) {
	t.TagCount = t.Count
	t.Name, t.Count = "", 0
}

// SearchSchema is a page of what a search found.
type SearchSchema struct {
	Total int   `json:"total"`
	Hits  []hit `json:"hits"`

	Info *pageEnd `json:"info,omitempty"` // read only: emptied before it is written
}

type pageEnd struct {
	EndCursor   string `json:"endCursor"`
	HasNextPage bool   `json:"hasNextPage"`
}

// hit is a thing, a copy, a user or a collection: one of the hitSchemas.
type hit struct{ completed }

// hitSchemas makes the wire struct of a hit by its type in GraphQL.
var hitSchemas = map[string]func() completed{
	"Thing":      func() completed { return new(ShortThingSchema) },
	"Make":       func() completed { return new(CopySchema) },
	"User":       func() completed { return new(UserSummary) },
	"Collection": func() completed { return new(CollectionSchema) },
}

// UnmarshalJSON reads a hit of any type.
func (h *hit) UnmarshalJSON(b []byte) error {
	var of struct {
		Type string `json:"__typename"`
	}
	if err := json.Unmarshal(b, &of); err != nil {
		return err
	}
	schema := hitSchemas[of.Type]
	if schema == nil {
		return fmt.Errorf("a hit of type %q", of.Type)
	}
	h.completed = schema()
	return json.Unmarshal(b, h.completed)
}

// MarshalJSON writes the hit.
func (h hit) MarshalJSON() ([]byte, error) { return json.Marshal(h.completed) }

// extent takes out what is known of the list.
func (s *SearchSchema) extent() extent {
	known := extent{Total: s.Total, Info: *s.Info}
	s.Info = nil
	return known
}

func (s *SearchSchema) complete(a urls.Builder) {
	for _, h := range s.Hits {
		h.complete(a)
	}
}
