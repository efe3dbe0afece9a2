package rest

import (
	"encoding/json"

	"github.com/meshyard/meshyard/internal/urls"
)

// CopySchema is a make on the wire, where makes are called copies.
type CopySchema struct {
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
	NeedsModeration  Flag         `json:"needs_moderation"`
	CommentsDisabled bool         `json:"is_comments_disabled"`
	Creator          *UserSummary `json:"creator"`
	Thing            copiedThing  `json:"thing"`
	Thumbnail        string       `json:"thumbnail"`
	PreviewImage     string       `json:"preview_image"`
	ImagesURL        string       `json:"images_url"`
	TypeName         string       `json:"type_name"`
	CategoryName     string       `json:"category_name"`
	CategoryURL      string       `json:"category_url"`

	Image *picture `json:"image,omitempty"` // read only: emptied before it is written
}

// copiedThing is the thing of a make, and an empty object where it was deleted.
type copiedThing struct{ *ShortThingSchema }

// UnmarshalJSON reads a thing, or null.
func (t *copiedThing) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, &t.ShortThingSchema) }

// MarshalJSON writes the thing, or an empty object.
func (t copiedThing) MarshalJSON() ([]byte, error) {
	if t.ShortThingSchema == nil {
		return []byte("{}"), nil
	}
	return json.Marshal(t.ShortThingSchema)
}

func (c *CopySchema) complete(a urls.Builder) {
	c.URL = a.Base + "/copies/" + c.ID.String()
	c.PublicURL = a.Base + "/make:" + c.ID.String()
	c.ImagesURL = c.URL + "/images"
	c.Creator.complete(a)
	c.Thumbnail = c.Image.thumbnail(a, "THING")
	c.PreviewImage = c.Image.preview(a, "THING")
	c.Details = "<div>" + c.DescriptionHTML + "</div>"
	c.DetailsParts = []any{}
	c.TypeName = "Make"
	if t := c.Thing.ShortThingSchema; t != nil {
		if t.Category != nil {
			c.CategoryName, c.CategoryURL = t.Category.Name, a.Base+"/categories/"+t.Category.Slug
		}
		t.complete(a)
	}
	c.Image = nil
}
