package wire

import (
	"encoding/json"

	"github.com/meshyard/meshyard/internal/urls"
)

// CopySchema is a make. REST calls makes copies.
type CopySchema struct {
	copyFields
	Thing OrEmpty[FullThingSchema] `json:"thing"`
}

// MakeHit is a make in the results of a search. Its thing is short, like the hits of a search for
// things.
type MakeHit struct {
	copyFields
	Thing OrEmpty[ShortThingSchema] `json:"thing"`
}

// copyFields are the fields of a make without its thing.
type copyFields struct {
	ID               ID           `json:"id"`
	URL              string       `json:"url"`
	PublicURL        string       `json:"public_url"`
	Name             string       `json:"name"`
	Added            Time         `json:"added"`
	LikeCount        int          `json:"like_count"`
	CommentCount     int          `json:"comment_count"`
	RootCommentCount int          `json:"root_comment_count"`
	ViewCount        int          `json:"view_count"`
	Description      string       `json:"description"`
	DescriptionHTML  string       `json:"description_html"`
	Details          string       `json:"details"`
	DetailsParts     []any        `json:"details_parts"`
	IsLiked          bool         `json:"is_liked"`
	IsWatched        bool         `json:"is_watched"`
	NeedsModeration  bool         `json:"needs_moderation"`
	CommentsDisabled bool         `json:"is_comments_disabled"`
	Creator          *UserSummary `json:"creator"`
	Thumbnail        string       `json:"thumbnail"`
	PreviewImage     string       `json:"preview_image"`
	ImagesURL        string       `json:"images_url"`
	TypeName         string       `json:"type_name"`
	CategoryName     string       `json:"category_name"`
	CategoryURL      string       `json:"category_url"`

	// Input only: cleared by Complete.
	Image       *MediaImage  `json:"image,omitempty"`
	Categorized *categorized `json:"categorized,omitempty"`
}

// categorized is the category of the thing of a make.
type categorized struct {
	Category *struct {
		Name string `json:"name"`
		Slug string `json:"slug"`
	} `json:"category"`
}

// OrEmpty is a thing, or an empty object if the thing was deleted. Clients that are generated from
// the published interface do not accept null.
type OrEmpty[T any] struct{ Thing *T }

// UnmarshalJSON reads a thing or null.
func (t *OrEmpty[T]) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, &t.Thing) }

// MarshalJSON writes the thing, or an empty object.
func (t OrEmpty[T]) MarshalJSON() ([]byte, error) {
	if t.Thing == nil {
		return []byte("{}"), nil
	}
	return json.Marshal(t.Thing)
}

// Complete implements [Completer].
func (c *CopySchema) Complete(a urls.Builder) {
	c.complete(a)
	if c.Thing.Thing != nil {
		c.Thing.Thing.Complete(a)
	}
}

// Complete implements [Completer].
func (c *MakeHit) Complete(a urls.Builder) {
	c.complete(a)
	if c.Thing.Thing != nil {
		c.Thing.Thing.Complete(a)
	}
}

func (c *copyFields) complete(a urls.Builder) {
	c.URL = a.Base + "/copies/" + c.ID.String()
	c.PublicURL = a.Base + "/make:" + c.ID.String()
	c.ImagesURL = c.URL + "/images"
	c.Creator.Complete(a)
	c.Thumbnail = c.Image.thumbnail(a, "THING")
	c.PreviewImage = c.Image.preview(a)
	c.Details = "<div>" + c.DescriptionHTML + "</div>"
	c.DetailsParts = []any{}
	c.TypeName = "Make"
	if of := c.Categorized; of != nil && of.Category != nil {
		c.CategoryName, c.CategoryURL = of.Category.Name, a.Base+"/categories/"+of.Category.Slug
	}
	c.Image, c.Categorized = nil, nil
}
