package webpage

import (
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/html"
)

// preview is the metadata of a page for search engines, and for programs that show previews of
// links.
type preview struct {
	Type      string // the OpenGraph type
	Image     *image
	Index     bool // whether search engines may list the page
	Published *time.Time
	Author    string // URL of the creator
	Username  string
	Model     *model3D // JSON-LD; nil except for the page of a thing
}

// model3D is a thing in the vocabulary of https://schema.org/3DModel.
type model3D struct {
	Context     string        `json:"@context"`
	Type        string        `json:"@type"`
	ID          string        `json:"@id"`
	URL         string        `json:"url"`
	Name        string        `json:"name"`
	Description string        `json:"description"`
	Image       string        `json:"image,omitempty"`
	Author      ldPerson      `json:"author"`
	Contributor *ldPerson     `json:"contributor,omitempty"` // who uploaded it, unless the author
	BasedOn     string        `json:"isBasedOn,omitempty"`
	Published   *time.Time    `json:"datePublished,omitempty"`
	Modified    *time.Time    `json:"dateModified,omitempty"`
	License     string        `json:"license,omitempty"`
	Keywords    string        `json:"keywords,omitempty"`
	Friendly    bool          `json:"isFamilyFriendly"`
	Encoding    []ldMedia     `json:"encoding,omitempty"`
	Statistics  []ldStatistic `json:"interactionStatistic"`
}

type ldPerson struct {
	Type string `json:"@type"`
	Name string `json:"name"`
	URL  string `json:"url,omitempty"`
}

type ldMedia struct {
	Type   string `json:"@type"`
	Name   string `json:"name"`
	URL    string `json:"contentUrl"`
	Format string `json:"encodingFormat,omitempty"`
	Size   string `json:"contentSize"`
}

type ldStatistic struct {
	Type        string `json:"@type"`
	Interaction string `json:"interactionType"`
	Count       int64  `json:"userInteractionCount"`
}

// preview returns the metadata of a public page.
func (o Options) preview(v *view, p page) *preview {
	n := v.Of
	m := &preview{Type: "website", Image: n.Image, Index: true}
	switch p.kind {
	case explorePage:
		// A search without results has no content. robots.txt excludes searches with filters.
		m.Index = v.List != nil && len(v.List.Nodes) > 0
	case userPage:
		m.Type, m.Username = "profile", n.Username
		if n.AvatarURL != "" {
			m.Image = &image{URL: n.AvatarURL}
		}
	case thingPage:
		m.Type, m.Published, m.Author = "article", n.PublishedAt, o.BaseURL+"/"+n.Creator.Username
		m.Model = o.model(v)
	}
	return m
}

// model returns the JSON-LD of a thing.
func (o Options) model(v *view) *model3D {
	n := v.Of
	address := o.BaseURL + v.Path
	m := &model3D{
		Context: "https://schema.org", Type: "3DModel", ID: address, URL: address, Name: n.Name, Description: v.Description,
		Image:     n.Image.Source(),
		Author:    ldPerson{"Person", n.Creator.DisplayName(), o.BaseURL + "/" + n.Creator.Username},
		Published: n.PublishedAt, Modified: n.UpdatedAt, License: n.License.URL, Friendly: !n.IsNSFW,
		Statistics: []ldStatistic{
			{"InteractionCounter", "https://schema.org/LikeAction", n.LikeCount},
			{"InteractionCounter", "https://schema.org/DownloadAction", n.DownloadCount},
		},
	}
	if from := n.Origin; from != nil {
		m.BasedOn = from.URL
		if from.Creator != "" {
			m.Contributor, m.Author = new(m.Author), ldPerson{"Person", from.Creator, from.CreatorURL}
		}
	}
	names := make([]string, len(n.Tags))
	for i, t := range n.Tags {
		names[i] = t.Name
	}
	m.Keywords = strings.Join(names, ", ")
	for _, f := range n.Files {
		if f.Kind == "MODEL" && len(m.Encoding) < maxEncodings {
			m.Encoding = append(m.Encoding, ldMedia{"MediaObject", f.Name, f.PublicURL, f.ContentType,
				strconv.FormatInt(f.Size, 10)})
		}
	}
	return m
}

// maxEncodings is the maximum number of files of a thing in its metadata.
const maxEncodings = 20

// maxDescription is the maximum length of a description in metadata, in characters.
const maxDescription = 200

// inline lists the inline elements, which do not separate words.
var inline = map[string]bool{"a": true, "b": true, "code": true, "del": true, "em": true, "i": true, "span": true,
	"strong": true, "sub": true, "sup": true}

// firstText returns the beginning of the text of an HTML fragment on one line. It reads only as
// much of the HTML as it needs.
func firstText(source string) string {
	var b strings.Builder
	z := html.NewTokenizer(strings.NewReader(source))
	for length := 0; length <= maxDescription; {
		switch z.Next() {
		case html.ErrorToken:
			return shorten(b.String())
		case html.TextToken:
			text := string(z.Text())
			length += len([]rune(strings.TrimSpace(text)))
			b.WriteString(text)
		default:
			if name, _ := z.TagName(); !inline[string(name)] {
				b.WriteByte(' ')
			}
		}
	}
	return shorten(b.String())
}

// shorten collapses white space, and truncates a text after a word.
func shorten(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	letters := []rune(text)
	if len(letters) <= maxDescription {
		return text
	}
	cut := string(letters[:maxDescription-1])
	if at := strings.LastIndexByte(cut, ' '); at > maxDescription/2 {
		cut = cut[:at]
	}
	return cut + "…"
}
