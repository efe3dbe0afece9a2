package wire

import (
	"cmp"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/meshyard/meshyard/internal/urls"
)

// ThingSchema is a thing. Fields that this server does not store have their empty value.
type ThingSchema struct {
	ID               ID                `json:"id"`
	Name             string            `json:"name"`
	Thumbnail        string            `json:"thumbnail"`
	URL              string            `json:"url"`
	PublicURL        string            `json:"public_url"`
	Creator          *UserSummary      `json:"creator"`
	Added            Time              `json:"added"`
	Modified         Time              `json:"modified"`
	IsPublished      Flag              `json:"is_published"`
	IsPrivate        Flag              `json:"is_private"`
	SourceURL        string            `json:"source_url"`
	IsWIP            Flag              `json:"is_wip"`
	IsPurchased      Flag              `json:"is_purchased"`
	NeedsModeration  Flag              `json:"needs_moderation"`
	IsDecoy          Flag              `json:"is_decoy"`
	IsPrintable      Flag              `json:"is_printable"` // whether it has a model
	IsWinner         Flag              `json:"is_winner"`
	IsEduApproved    Flag              `json:"is_edu_approved"`
	IsFeatured       bool              `json:"is_featured"`
	IsNSFW           bool              `json:"is_nsfw"`
	IsAI             bool              `json:"is_ai"`
	IsLiked          bool              `json:"is_liked"`
	IsCollected      bool              `json:"is_collected"`
	IsWatched        bool              `json:"is_watched"`
	LikeCount        int               `json:"like_count"`
	CollectCount     int               `json:"collect_count"`
	CommentCount     int               `json:"comment_count"`
	FileCount        int               `json:"file_count"`
	DefaultImage     *ImageSummary     `json:"default_image"`
	Description      string            `json:"description"`
	Instructions     string            `json:"instructions"`
	DescriptionHTML  string            `json:"description_html"`
	InstructionsHTML string            `json:"instructions_html"`
	Details          string            `json:"details"`
	DetailsParts     Parts             `json:"details_parts"`
	EduDetails       string            `json:"edu_details"`
	EduDetailsParts  []any             `json:"edu_details_parts"`
	Education        education         `json:"education"`
	License          License           `json:"license"`
	AllowsDeriv      bool              `json:"allows_derivatives"`
	FilesURL         string            `json:"files_url"`
	ImagesURL        string            `json:"images_url"`
	LikesURL         string            `json:"likes_url"`
	AncestorsURL     string            `json:"ancestors_url"`
	DerivativesURL   string            `json:"derivatives_url"`
	TagsURL          string            `json:"tags_url"`
	CategoriesURL    string            `json:"categories_url"`
	ZipData          zipData           `json:"zip_data"`
	Tags             []*Tag            `json:"tags"`
	Ancestors        []*AncestorSchema `json:"ancestors"`
	IsDerivative     bool              `json:"is_derivative"`
	CanComment       bool              `json:"can_comment"`
	IsBanned         bool              `json:"is_banned"`
	CommentsDisabled bool              `json:"is_comments_disabled"`
	Moderation       string            `json:"moderation"`
	TypeName         string            `json:"type_name"`
	AppID            *int              `json:"app_id"`
	DownloadCount    int64             `json:"download_count"`
	ViewCount        int               `json:"view_count"`
	RemixCount       int               `json:"remix_count"`
	MakeCount        int               `json:"make_count"`
	AppCount         int               `json:"app_count"`
	RootCommentCount int               `json:"root_comment_count"`

	// Input only: cleared by Complete.
	Share        string        `json:"share,omitempty"`
	Takedown     *takedown     `json:"takedown,omitempty"`
	Image        *MediaImage   `json:"image,omitempty"`
	ZipImages    []zipEntry    `json:"zip_images,omitempty"`
	ZipFiles     []zipEntry    `json:"zip_files,omitempty"`
	AncestorList *ancestorList `json:"ancestor_list,omitempty"`
}

// takedown is the decision of a moderator to hide a thing. Its creator and moderators see it.
type takedown struct {
	Reason string `json:"reason"`
}

type education struct {
	Grades   []any `json:"grades"`
	Subjects []any `json:"subjects"`
}

type zipData struct {
	Files  []zipEntry `json:"files"`
	Images []zipEntry `json:"images"`
}

type zipEntry struct {
	Name string `json:"name"`
	URL  string `json:"url"`
}

// withNames adds the names of the entries to their URLs, because some clients take them from there.
func withNames(entries []zipEntry) []zipEntry {
	for i, entry := range entries {
		entries[i].URL = urls.Named(entry.URL, entry.Name)
	}
	return entries
}

// PackageSchema has the URL of the ZIP archive of a thing.
type PackageSchema struct {
	PublicURL string `json:"public_url"`

	Share string `json:"share,omitempty"` // input only: cleared by Complete
}

// Complete implements [Completer].
func (p *PackageSchema) Complete(urls.Builder) {
	page, key, isUnlisted := strings.Cut(p.Share, "?")
	p.PublicURL, p.Share = page+"/zip", ""
	if isUnlisted {
		p.PublicURL += "?" + key
	}
}

type ancestorList struct {
	Nodes []*AncestorSchema `json:"nodes"`
}

// AncestorSchema is one of the things that a thing was remixed from.
type AncestorSchema struct {
	ID           ID           `json:"id"`
	Name         string       `json:"name"`
	URL          string       `json:"url"`
	PublicURL    string       `json:"public_url"`
	CreatedAt    Time         `json:"created_at"`
	Thumbnail    string       `json:"thumbnail"`
	PreviewImage string       `json:"preview_image"`
	Creator      *UserSummary `json:"creator"`

	Image *MediaImage `json:"image,omitempty"` // input only: cleared by Complete
}

// Complete implements [Completer].
func (t *AncestorSchema) Complete(a urls.Builder) {
	t.URL = a.Base + "/things/" + t.ID.String()
	t.PublicURL = a.Base + "/thing:" + t.ID.String()
	t.Creator.Complete(a)
	t.Thumbnail = t.Image.thumbnail(a, "THING")
	t.PreviewImage = t.Image.preview(a)
	t.Image = nil
}

// Tag is a tag.
type Tag struct {
	Name        string `json:"name"`
	URL         string `json:"url"`
	Count       int    `json:"count"`
	ThingsURL   string `json:"things_url"`
	AbsoluteURL string `json:"absolute_url"`
	Tag         string `json:"tag"`
}

// Complete implements [Completer].
func (t *Tag) Complete(a urls.Builder) {
	t.ThingsURL = a.Base + "/tags/" + url.PathEscape(t.Tag) + "/things"
	t.URL = strings.TrimSuffix(t.ThingsURL, "/things") // part of the same string
	t.AbsoluteURL = "/tag:" + tagEscapes.Replace(t.Name)
}

// tagEscapes escapes the characters of a tag that end a path or one of its segments. Others are not
// escaped, because existing clients show the path.
var tagEscapes = strings.NewReplacer(" ", "_", "%", "%25", "/", "%2F", "?", "%3F", "#", "%23")

// Complete implements [Completer].
func (t *ThingSchema) Complete(a urls.Builder) {
	t.URL = a.Base + "/things/" + t.ID.String()
	t.PublicURL, t.Share = cmp.Or(t.Share, a.ThingPage(int64(t.ID))), ""
	t.FilesURL, t.ImagesURL, t.LikesURL = t.URL+"/files", t.URL+"/images", t.URL+"/likes"
	t.AncestorsURL, t.DerivativesURL = t.URL+"/ancestors", t.URL+"/derivatives"
	t.TagsURL, t.CategoriesURL = t.URL+"/tags", t.URL+"/categories"
	t.Creator.Complete(a)
	for _, tag := range t.Tags {
		tag.Complete(a)
	}
	t.ZipData = zipData{Files: withNames(t.ZipFiles), Images: withNames(t.ZipImages)}
	t.Thumbnail = t.Image.thumbnail(a, "THING")
	if t.Image != nil {
		t.DefaultImage = t.Image.Summary()
	}
	t.Ancestors = []*AncestorSchema{}
	if t.AncestorList != nil {
		t.Ancestors = t.AncestorList.Nodes
	}
	for _, ancestor := range t.Ancestors {
		ancestor.Complete(a)
	}
	t.Image, t.ZipImages, t.ZipFiles, t.AncestorList = nil, nil, nil, nil
	t.DetailsParts = t.DetailsParts.described(t.DescriptionHTML, t.InstructionsHTML)
	t.Details = "<div>" + t.DescriptionHTML + t.InstructionsHTML + "</div>"
	t.Education = education{[]any{}, []any{}}
	t.EduDetailsParts = []any{}
	if t.Takedown != nil {
		t.IsBanned, t.NeedsModeration, t.Moderation = true, 1, t.Takedown.Reason
		t.Takedown = nil
	}
	t.AllowsDeriv = t.License.allowsDerivatives()
	t.CanComment = t.IsPublished == 1
	t.TypeName = "Thing"
}

// ShortThingSchema is a thing in a list.
type ShortThingSchema struct {
	ID            ID           `json:"id"`
	Name          string       `json:"name"`
	URL           string       `json:"url"`
	PublicURL     string       `json:"public_url"`
	CreatedAt     Time         `json:"created_at"`
	Thumbnail     string       `json:"thumbnail"`
	PreviewImage  string       `json:"preview_image"`
	Creator       *UserSummary `json:"creator"`
	IsPrivate     Flag         `json:"is_private"`
	IsPurchased   Flag         `json:"is_purchased"`
	IsPublished   Flag         `json:"is_published"`
	IsPrintable   Flag         `json:"is_printable"` // a thing needs a model to be published
	IsWinner      Flag         `json:"is_winner"`
	IsEduApproved Flag         `json:"is_edu_approved"`
	LikeCount     int          `json:"like_count"`
	CollectCount  int          `json:"collect_count"`
	MakeCount     int          `json:"make_count"`
	CommentCount  int          `json:"comment_count"`
	Tags          []*Tag       `json:"tags"`
	IsNSFW        *bool        `json:"is_nsfw"`
	Rank          *int         `json:"rank"`

	// Input only: cleared by Complete.
	Share string      `json:"share,omitempty"`
	Image *MediaImage `json:"image,omitempty"`
}

// Complete implements [Completer].
func (t *ShortThingSchema) Complete(a urls.Builder) {
	t.URL = a.Base + "/things/" + t.ID.String()
	t.PublicURL, t.Share = cmp.Or(t.Share, a.ThingPage(int64(t.ID))), ""
	t.Creator.Complete(a)
	for _, tag := range t.Tags {
		tag.Complete(a)
	}
	t.Thumbnail = t.Image.thumbnail(a, "THING")
	t.PreviewImage = t.Image.preview(a)
	t.Image = nil
	t.IsPrintable = t.IsPublished
}

// FullThingSchema is a thing in a list of complete things. It also has the fields of
// ShortThingSchema, because some clients expect one type in these lists and some the other.
type FullThingSchema struct {
	ThingSchema
	CreatedAt    Time   `json:"created_at"`
	PreviewImage string `json:"preview_image"`
	Rank         *int   `json:"rank"`
}

// Complete implements [Completer].
func (t *FullThingSchema) Complete(a urls.Builder) {
	t.CreatedAt, t.PreviewImage = t.Added, t.Image.preview(a)
	t.ThingSchema.Complete(a)
}

// FeaturedSchema is a thing in the list of featured things, where the flags are booleans.
type FeaturedSchema struct {
	ShortThingSchema
	IsPrivate   bool            `json:"is_private"`
	IsPurchased bool            `json:"is_purchased"`
	IsPublished bool            `json:"is_published"`
	Rank        int             `json:"rank"` // not null, unlike that of ShortThingSchema
	Spotlight   spotlightImages `json:"spotlight_images"`
}

type spotlightImages struct {
	Large string `json:"large"`
	Small string `json:"small"`
}

// UnmarshalJSON reads a short thing.
func (t *FeaturedSchema) UnmarshalJSON(b []byte) error {
	return json.Unmarshal(b, &t.ShortThingSchema)
}

// Complete implements [Completer].
func (t *FeaturedSchema) Complete(a urls.Builder) {
	featured := t.Image.shown(a, "THING", featuredSize)
	t.ShortThingSchema.Complete(a)
	t.IsPublished = t.ShortThingSchema.IsPublished == 1
	t.Spotlight = spotlightImages{Large: featured, Small: t.PreviewImage}
}
