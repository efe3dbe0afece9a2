package wire

import (
	"encoding/json"
	"fmt"

	"github.com/meshyard/meshyard/internal/urls"
)

// CategorySchema is a category.
type CategorySchema struct {
	ID           ID                `json:"id"`
	Name         string            `json:"name"`
	URL          string            `json:"url"`
	Count        int               `json:"count"`
	Slug         string            `json:"slug"`
	ThingsURL    string            `json:"things_url"`
	Thumbnail    string            `json:"thumbnail"`
	PreviewImage string            `json:"preview_image"`
	Children     []*CategorySchema `json:"children,omitzero"` // if requested
}

// Complete implements [Completer].
func (c *CategorySchema) Complete(a urls.Builder) {
	c.URL = a.Base + "/categories/" + c.Slug
	c.ThingsURL = c.URL + "/things"
	c.Thumbnail, c.PreviewImage = a.Placeholder("THING"), a.Placeholder("THING")
	for _, child := range c.Children {
		child.Complete(a)
	}
}

// CollectionSchema is a collection of things.
type CollectionSchema struct {
	ID              ID           `json:"id"`
	Name            string       `json:"name"`
	Description     string       `json:"description"`
	DescriptionHTML string       `json:"description_html"`
	URL             string       `json:"url"`
	AbsoluteURL     string       `json:"absolute_url"`
	ThingsURL       string       `json:"things_url"`
	Thumbnail       string       `json:"thumbnail"`
	Thumbnail1      string       `json:"thumbnail_1"` // of the first things
	Thumbnail2      string       `json:"thumbnail_2"`
	Thumbnail3      string       `json:"thumbnail_3"`
	Thumbnail4      string       `json:"thumbnail_4"`
	PreviewImage    string       `json:"preview_image"`
	Creator         *UserSummary `json:"creator"`
	Count           int          `json:"count"`
	Added           Time         `json:"added"`
	Modified        Time         `json:"modified"`
	FeaturedOn      *string      `json:"featured_on"` // null: collections are not featured
	FeaturedThingID *ID          `json:"featured_thing_id"`
	IsEditable      bool         `json:"is_editable"`
	IsFeatured      bool         `json:"is_featured"`
	IsLiked         bool         `json:"is_liked"`
	IsWatched       bool         `json:"is_watched"`

	// Input only: cleared by Complete.
	Featured *featuredThing `json:"featured,omitempty"`
	Newest   *newestThings  `json:"newest,omitempty"`
}

// featuredThing is the thing that the owner chose to represent a collection.
type featuredThing struct {
	ID    ID          `json:"id"`
	Image *MediaImage `json:"image"`
}

// newestThings are the four things that were added to a collection last. The first represents a
// collection without a featured thing.
type newestThings struct {
	Nodes []struct {
		Image *MediaImage `json:"image"`
	} `json:"nodes"`
}

// image returns the image of the i-th thing, or nil if it has none or there is no such thing.
func (n *newestThings) image(i int) *MediaImage {
	if n == nil || i >= len(n.Nodes) {
		return nil
	}
	return n.Nodes[i].Image
}

// Complete implements [Completer].
func (c *CollectionSchema) Complete(a urls.Builder) {
	c.URL = a.Base + "/collections/" + c.ID.String()
	c.ThingsURL = c.URL + "/things"
	c.AbsoluteURL = a.Base + "/collection:" + c.ID.String()
	image := c.Newest.image(0)
	if c.Featured != nil {
		c.FeaturedThingID = &c.Featured.ID
		if c.Featured.Image != nil {
			image = c.Featured.Image
		}
	}
	c.Thumbnail, c.PreviewImage = image.thumbnail(a, "THING"), image.preview(a)
	for i, to := range []*string{&c.Thumbnail1, &c.Thumbnail2, &c.Thumbnail3, &c.Thumbnail4} {
		*to = c.Newest.image(i).thumbnail(a, "THING")
	}
	c.Creator.Complete(a)
	c.Featured, c.Newest = nil, nil
}

// SearchTagSchema is a tag in the response to a tag search.
type SearchTagSchema struct {
	Tag      string `json:"tag"`
	TagCount int    `json:"tag_count"`

	// Input only: cleared by Complete.
	Name  string `json:"name,omitempty"`
	Count int    `json:"count,omitempty"`
}

// Complete implements [Completer].
func (t *SearchTagSchema) Complete(urls.Builder) {
	t.TagCount = t.Count
	t.Name, t.Count = "", 0
}

// SearchSchema is a page of search hits.
type SearchSchema struct {
	Total int   `json:"total"`
	Hits  []Hit `json:"hits"`

	Info *PageEnd `json:"info,omitempty"` // input only: cleared by Extent
}

// PageEnd is the cursor at the end of a page, and whether another page follows.
type PageEnd struct {
	EndCursor   string `json:"endCursor"`
	HasNextPage bool   `json:"hasNextPage"`
}

// Hit is a search hit: a thing, a make, a user or a collection (see HitSchemas).
type Hit struct{ Completer }

// HitSchemas create the wire struct of a hit by its GraphQL type name.
var HitSchemas = map[string]func() Completer{
	"Thing":      func() Completer { return new(ThingHit) },
	"Make":       func() Completer { return new(MakeHit) },
	"User":       func() Completer { return new(UserSchema) },
	"Collection": func() Completer { return new(CollectionSchema) },
}

// ThingHit is a thing in the results of a search. Some clients decode it into the type that they
// use for complete things, and require these fields.
type ThingHit struct {
	ShortThingSchema
	IsFeatured bool `json:"is_featured"`
	IsAI       bool `json:"is_ai"`
	IsBanned   bool `json:"is_banned"` // false: a search finds no thing that was taken down
}

// CollectedThing is a thing in a collection. Some clients read these things as complete ones.
type CollectedThing struct {
	ThingHit
	License     License `json:"license"`
	AllowsDeriv bool    `json:"allows_derivatives"`
}

// Complete implements [Completer].
func (t *CollectedThing) Complete(a urls.Builder) {
	t.ThingHit.Complete(a)
	t.AllowsDeriv = t.License.allowsDerivatives()
}

// UnmarshalJSON reads a hit into the struct for its __typename.
func (h *Hit) UnmarshalJSON(b []byte) error {
	var of struct {
		Type string `json:"__typename"`
	}
	if err := json.Unmarshal(b, &of); err != nil {
		return err
	}
	schema := HitSchemas[of.Type]
	if schema == nil {
		return fmt.Errorf("search hit of unknown type %q", of.Type)
	}
	h.Completer = schema()
	return json.Unmarshal(b, h.Completer)
}

// MarshalJSON writes the wire struct of the hit.
func (h Hit) MarshalJSON() ([]byte, error) { return json.Marshal(h.Completer) }

// Extent returns the length of the whole list and the end of this page, and clears Info.
func (s *SearchSchema) Extent() Extent {
	known := Extent{Total: s.Total, Info: *s.Info}
	s.Info = nil
	return known
}

// Complete implements [Completer].
func (s *SearchSchema) Complete(a urls.Builder) {
	for _, h := range s.Hits {
		h.Complete(a)
	}
}
