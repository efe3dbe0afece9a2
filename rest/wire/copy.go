package wire

import (
	"github.com/meshyard/meshyard/internal/structjson"
	"github.com/meshyard/meshyard/internal/urls"
)

// CopySchema is a make. REST calls makes copies.
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
	NeedsModeration  bool         `json:"needs_moderation"`
	CommentsDisabled bool         `json:"is_comments_disabled"`
	Creator          *UserSummary `json:"creator"`
	Thing            CopiedThing  `json:"thing"`
	Thumbnail        string       `json:"thumbnail"`
	PreviewImage     string       `json:"preview_image"`
	ImagesURL        string       `json:"images_url"`
	TypeName         string       `json:"type_name"`
	CategoryName     string       `json:"category_name"`
	CategoryURL      string       `json:"category_url"`

	Image *Picture `json:"image,omitempty"` // input only: cleared by Complete
}

// CopiedThing is the thing of a make, or an empty object if the thing was deleted.
type CopiedThing struct{ *ShortThingSchema }

// UnmarshalJSON reads a thing or null.
func (t *CopiedThing) UnmarshalJSON(b []byte) error { return structjson.Decode(b, &t.ShortThingSchema) }

// MarshalJSON writes the thing, or an empty object.
func (t CopiedThing) MarshalJSON() ([]byte, error) { return t.AppendJSON(nil) }

// AppendJSON appends the same encoding as MarshalJSON to b.
func (t CopiedThing) AppendJSON(b []byte) ([]byte, error) {
	if t.ShortThingSchema == nil {
		return append(b, "{}"...), nil
	}
	return structjson.Append(b, t.ShortThingSchema)
}

// Complete implements [Completer].
func (c *CopySchema) Complete(a urls.Builder) {
	c.URL = a.Base + "/copies/" + c.ID.String()
	c.PublicURL = a.Base + "/make:" + c.ID.String()
	c.ImagesURL = c.URL + "/images"
	c.Creator.Complete(a)
	c.Thumbnail = c.Image.thumbnail(a, "THING")
	c.PreviewImage = c.Image.preview(a)
	c.Details = "<div>" + c.DescriptionHTML + "</div>"
	c.DetailsParts = []any{}
	c.TypeName = "Make"
	if t := c.Thing.ShortThingSchema; t != nil {
		if t.Category != nil {
			c.CategoryName, c.CategoryURL = t.Category.Name, a.Base+"/categories/"+t.Category.Slug
		}
		t.Complete(a)
	}
	c.Image = nil
}
