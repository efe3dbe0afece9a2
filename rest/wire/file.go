package wire

import (
	"encoding/json"

	"github.com/meshyard/meshyard/internal/filesize"
	"github.com/meshyard/meshyard/internal/image/thumbnail"
	"github.com/meshyard/meshyard/internal/urls"
)

// FileSchema is a file.
type FileSchema struct {
	ID            ID            `json:"id"`
	Name          string        `json:"name"`
	Size          int64         `json:"size"`
	URL           string        `json:"url"`
	PublicURL     string        `json:"public_url"`
	DownloadURL   string        `json:"download_url"`
	ThreejsURL    string        `json:"threejs_url"`
	Thumbnail     string        `json:"thumbnail"`
	DefaultImage  *ImageSummary `json:"default_image"`
	Date          FileTime      `json:"date"`
	FormattedSize string        `json:"formatted_size"`
	MetaData      []any         `json:"meta_data"`
	DownloadCount int64         `json:"download_count"`
	DirectURL     *string       `json:"direct_url"`
	Hash          Hash          `json:"hash"`
	Rank          int           `json:"rank"`

	// Input only: cleared by Complete.
	Kind      string      `json:"kind,omitempty"`
	Rendering *rendering  `json:"rendering,omitempty"`
	Image     *MediaImage `json:"image,omitempty"`
}

// Complete implements [Completer].
func (f *FileSchema) Complete(a urls.Builder) {
	f.URL = a.Base + "/files/" + f.ID.String()
	f.DownloadURL = f.URL + "/download"
	f.MetaData = []any{}
	f.FormattedSize = filesize.Format(f.Size)
	switch {
	case f.Rendering != nil:
		f.Thumbnail = urls.Sized(f.Rendering.URL, thumbnailSize)
	default:
		f.Thumbnail = f.Image.thumbnail(a, f.Kind)
	}
	if f.Image != nil {
		f.DefaultImage = f.Image.Summary()
	}
	f.Kind, f.Rendering, f.Image = "", nil, nil
}

// rendering is the URL of a rendering in one of its sizes.
type rendering struct {
	URL string `json:"url"`
}

// MediaImage is an image, as the fragment Picture of the stored documents selects it.
type MediaImage struct {
	ID        ID         `json:"id"`
	Name      string     `json:"name"`
	URL       string     `json:"original"`
	Rendering *rendering `json:"rendering"`
	Added     Time       `json:"added"`
}

const (
	thumbnailSize = "thumb_large"
	previewSize   = "preview_large"
	featuredSize  = "preview_featured"
)

// in returns the URL of the image in a size, or of the original if it has no scaled sizes yet.
func (p *MediaImage) in(size string) string {
	if p.Rendering == nil {
		return p.URL
	}
	return urls.Sized(p.Rendering.URL, size)
}

// AllSizes returns every size of the image, in the documented order.
func (p *MediaImage) AllSizes() []ImageSize {
	all := make([]ImageSize, len(thumbnail.Sizes))
	for i, size := range thumbnail.Sizes {
		all[i] = ImageSize{size.Kind, size.Name, p.in(size.String())}
	}
	return all
}

// Summary returns the image in its REST form. Its URL needs no token.
func (p *MediaImage) Summary() *ImageSummary {
	return &ImageSummary{ID: p.ID, URL: p.URL, Name: p.Name, Sizes: p.AllSizes(), Added: p.Added}
}

// thumbnail returns the URL of the thumbnail, or of the placeholder for the kind if p is nil.
func (p *MediaImage) thumbnail(a urls.Builder, kind string) string {
	return p.shown(a, kind, thumbnailSize)
}

// preview returns the URL of the preview of a thing, or of the placeholder if p is nil.
func (p *MediaImage) preview(a urls.Builder) string { return p.shown(a, "THING", previewSize) }

func (p *MediaImage) shown(a urls.Builder, kind, size string) string {
	if p == nil {
		return a.Placeholder(kind)
	}
	return p.in(size)
}

// ImageSummary is an image.
type ImageSummary struct {
	ID    ID          `json:"id"`
	URL   string      `json:"url"`
	Name  string      `json:"name"`
	Sizes []ImageSize `json:"sizes"`
	Added Time        `json:"added"`
}

// ImageSize is one size of an image.
type ImageSize struct {
	Type string `json:"type"`
	Size string `json:"size"`
	URL  string `json:"url"`
}

// ImageSchema is an image in a list of images.
type ImageSchema struct {
	ID    ID          `json:"id"`
	URL   string      `json:"url"`
	Name  string      `json:"name"`
	Sizes []ImageSize `json:"sizes"`
}

// IDSchema is the response to an upload.
type IDSchema struct {
	ID ID `json:"id"`
}

// FormSchema is an upload form: the URL to post it to and its fields.
type FormSchema struct {
	Action string     `json:"action"`
	Fields FormFields `json:"fields"`
}

// FormFields are a list in GraphQL and an object in REST.
type FormFields struct {
	AWSAccessKeyID     string `json:"AWSAccessKeyId"`
	Bucket             string `json:"bucket"`
	Key                string `json:"key"`
	ACL                string `json:"acl"`
	Redirect           string `json:"success_action_redirect"`
	Policy             string `json:"policy"`
	Signature          string `json:"signature"`
	ContentType        string `json:"Content-Type"`
	ContentDisposition string `json:"Content-Disposition"`
}

// UnmarshalJSON reads the list of fields.
func (f *FormFields) UnmarshalJSON(b []byte) error {
	var list []struct{ Name, Value string }
	if err := json.Unmarshal(b, &list); err != nil {
		return err
	}
	fields := make(map[string]string, len(list))
	for _, field := range list {
		fields[field.Name] = field.Value
	}
	object, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	type plain FormFields // without this method
	return json.Unmarshal(object, (*plain)(f))
}
