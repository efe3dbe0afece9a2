package webpage

import (
	"fmt"
	"html/template"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/meshyard/meshyard/internal/web/language"
)

// pageData is the data of the response to an operation.
type pageData struct {
	Page       *node
	List       *list
	Featured   *list
	Categories []categoryLink
}

type categoryLink struct {
	Name, Slug string
	Children   []categoryLink
}

// node has the fields of all objects that the operations return.
type node struct {
	Kind                                               string // __typename; only for entries of lists
	ID, Name, State, Visibility, Slug                  string
	License                                            struct{ ID, Name, URL string }
	Origin                                             *struct{ Creator, CreatorURL, URL, Site string }
	Username, FirstName, LastName, Location, AvatarURL string
	ShareURL                                           string
	DescriptionHTML, InstructionsHTML, BioHTML         string
	Description, Instructions                          string // in Markdown
	Category                                           *struct{ Name string }
	IsNSFW                                             bool
	LikeCount, MakeCount, DownloadCount                int64
	PublishedAt, UpdatedAt                             *time.Time
	Creator                                            *person
	Thing                                              *struct{ ID, Name, State string }
	Image                                              *image
	Tags                                               []struct{ Name, Slug string }
	Files                                              []file
	List                                               *list
}

type person struct{ Username, FirstName, LastName string }

// DisplayName returns the display name of a user, or the username if there is none.
func (p person) DisplayName() string {
	if name := strings.TrimSpace(p.FirstName + " " + p.LastName); name != "" {
		return name
	}
	return p.Username
}

type list struct {
	PageInfo struct{ HasNextPage bool }
	Nodes    []node
}

type image struct {
	URL          string
	Large, Small *rendition // nil until the image has been scaled
}

// rendition is an image in one size.
type rendition struct {
	URL           string
	Width, Height int
}

// Source returns the URL of the image, or "" if there is none.
func (p *image) Source() string {
	switch {
	case p == nil:
		return ""
	case p.Large != nil:
		return p.Large.URL
	}
	return p.URL
}

// Sources returns the value of the attribute srcset, from whose sizes the browser chooses.
func (p *image) Sources() string {
	if p.Large == nil || p.Small == nil {
		return ""
	}
	return fmt.Sprintf("%s %dw, %s %dw", p.Small.URL, p.Small.Width, p.Large.URL, p.Large.Width)
}

type file struct {
	ID, Name, Path, Kind, ContentType, PublicURL, SHA256 string
	IsAvailable                                          bool
	Size                                                 int64
}

// DisplayName returns the name of an object in lists and titles.
func (n *node) DisplayName() string {
	if n.Name == "" && n.Username != "" {
		return person{n.Username, n.FirstName, n.LastName}.DisplayName()
	}
	return n.Name
}

// Path returns the canonical path of an entry of a list.
func (n *node) Path() string {
	switch n.Kind {
	case "Thing":
		return "/thing:" + n.ID
	case "Make":
		return "/make:" + n.ID
	case "Collection":
		return "/collection:" + n.ID
	}
	return "/" + url.PathEscape(n.Username)
}

// Key returns the query with the key of an unlisted thing, or "".
func (n *node) Key() template.URL {
	if _, query, ok := strings.Cut(n.ShareURL, "?"); ok {
		return template.URL("?" + query)
	}
	return ""
}

// isPublic reports whether the object is in public lists. The page of any other object has no
// metadata for search engines and previews of links.
func (n *node) isPublic() bool {
	if n.Thing != nil && n.Thing.State != "PUBLISHED" {
		return false
	}
	return (n.State == "" || n.State == "PUBLISHED") && (n.Visibility == "" || n.Visibility == "PUBLIC")
}

// view is the data of the template.
type view struct {
	Kind        kind
	Lang        *language.Texts
	Scheme      string           // color scheme that the visitor chose; "" for that of the system
	Title       string           // of the page, without the name of the site
	Message     language.Message // reason of a problem
	Description string
	Path        string // canonical, escaped; "" if the page has none
	Base        string // the path of the base URL, the prefix of each path
	BaseURL     string
	Nonce       string
	Site        *Site
	Theme       *Theme
	Config      clientConfig
	Styles      template.CSS
	Script      string
	Icon        string   // shown if the operator configured no logo
	Preview     *preview // nil: the page has no metadata
	Feed        string   // the path of the Atom feed of the page; "" if there is none
	FeedTitle   string
	Query       string // the words of a search
	License     string // the name of the license
	Legal       template.HTML

	Of         *node
	List       *list
	Featured   *list // nil except on the home page
	Categories []categoryLink
	Response   *embeddedResponse // nil: the client requests the data
	// Previous and Next are the queries of the neighboring pages of a list; "" if there is none.
	Previous, Next template.URL
}

// clientConfig is the configuration in the page that the client reads.
type clientConfig struct {
	Name          string         `json:"name"`
	Logo          string         `json:"logo"`
	Accent        string         `json:"accent"`
	BaseURL       string         `json:"baseURL"`
	User          *User          `json:"user"`
	AnonymousRead bool           `json:"anonymousRead"`
	Registration  bool           `json:"registration"`
	UploadLimit   int64          `json:"uploadLimit"`
	Locale        string         `json:"locale"` // the language of the page
	Languages     []languageName `json:"languages"`
	Welcome       template.HTML  `json:"welcome"`
	Legal         []link         `json:"legal"`
}

// T returns the texts of the page.
func (v *view) T() *language.Gallery { return &v.Lang.Gallery }

// languageName is a language that a visitor can choose.
type languageName struct {
	Code string `json:"code"`
	Name string `json:"name"`
}

// HasScript reports whether the client runs on the page and replaces its content.
func (v *view) HasScript() bool { return v.Kind != legalPage && v.Kind != problemPage }

// IsAbridged reports whether the client shows more on the page than the HTML of the server has.
func (v *view) IsAbridged() bool {
	return slices.Contains([]kind{explorePage, thingPage, makePage, collectionPage, tagPage, categoryPage, userPage},
		v.Kind)
}

// card is an entry of a list as the template shows it.
type card struct {
	*node
	Base string
	By   string // precedes the name of the creator
	// IsAtTop reports whether the image is likely to be visible without scrolling, and IsFirst whether
	// it is the first image of the page.
	IsAtTop, IsFirst bool
}

// cardsAtTop is the number of cards that a phone shows without scrolling.
const cardsAtTop = 4

// Cards returns the entries of a list.
func (v *view) Cards(l *list) []card {
	hasTop := v.Featured == nil || len(v.Featured.Nodes) == 0 || l == v.Featured
	cards := make([]card, len(l.Nodes))
	for i := range l.Nodes {
		cards[i] = card{node: &l.Nodes[i], Base: v.Base, By: v.T().By, IsAtTop: hasTop && i < cardsAtTop, IsFirst: hasTop &&
			i == 0}
	}
	return cards
}

type link struct {
	Title string `json:"title"`
	Path  string `json:"path"`
}

// Tabs returns the lists on the page of a user.
func (v *view) Tabs() []link {
	t := v.T()
	return []link{{t.Things, "designs"}, {t.Makes, "makes"}, {t.Collections, "collections"}, {t.Likes, "likes"},
		{t.Followers, "followers"}, {t.Following, "following"}}
}

// translate replaces the names of categories with those in the language of the visitor.
func (v *view) translate(categories []categoryLink) {
	for i := range categories {
		c := &categories[i]
		c.Name = v.Lang.Category(c.Slug, c.Name)
		v.translate(c.Children)
	}
}

// describe sets the fields of the view that are derived from the data of a page.
func (o Options) describe(v *view, p page, of pageData) {
	v.Of, v.List, v.Featured, v.Categories = of.Page, of.List, of.Featured, of.Categories
	if v.Of == nil {
		v.Of = new(node)
	}
	if of.Page != nil && of.Page.List != nil {
		v.List = of.Page.List
	}
	n, t := v.Of, v.T()
	v.translate(v.Categories)
	if p.kind == categoryPage {
		n.Name = v.Lang.Category(n.Slug, n.Name)
	}
	v.Title = n.DisplayName()
	switch p.kind {
	case homePage:
		v.Title, v.Description, v.Path = "", firstText(string(o.Site.Welcome(v.Lang.Code))), "/"
		v.Feed, v.FeedTitle = "/feed.xml", t.Newest
		if v.Description == "" {
			v.Description = t.Site
		}
	case explorePage:
		v.Title, v.Description, v.Path = t.Explore, t.All, "/explore"
		if v.Query != "" {
			v.Title = fmt.Sprintf(t.SearchTitle, v.Query)
			v.Description = fmt.Sprintf(t.SearchText, v.Query)
			v.Path += "?" + url.Values{"q": {v.Query}}.Encode()
			v.Feed, v.FeedTitle = "/feed.xml?"+url.Values{"q": {v.Query}}.Encode(), v.Title
		}
	case thingPage:
		v.Path, v.License = "/thing:"+n.ID, n.License.Name
		v.Description = fmt.Sprintf(t.ThingBy, n.Name, n.Creator.DisplayName(), v.License)
		if text := firstText(n.DescriptionHTML); text != "" {
			v.Description = text
		}
	case makePage:
		v.Path, v.Title = "/make:"+n.ID, fmt.Sprintf(t.MakeTitle, n.Name, n.Creator.Username)
		v.Description = fmt.Sprintf(t.MakeBy, n.Creator.DisplayName())
		if text := firstText(n.DescriptionHTML); text != "" {
			v.Description = text
		}
	case userPage:
		v.Path = "/" + url.PathEscape(n.Username)
		if p.tab != "" && p.tab != "designs" {
			v.Path += "/" + p.tab
			for _, one := range v.Tabs() {
				if one.Path == p.tab {
					v.Title += ": " + one.Title
				}
			}
		}
		v.FeedTitle = fmt.Sprintf(t.ThingsBy, n.DisplayName())
		v.Description = v.FeedTitle
		if text := firstText(n.BioHTML); text != "" {
			v.Description = text
		}
		v.Feed = "/feed.xml?" + url.Values{"user": {n.Username}}.Encode()
	case tagPage:
		v.Path, v.Description = "/tag:"+url.PathEscape(n.Slug), fmt.Sprintf(t.WithTag, n.Name)
		v.Feed, v.FeedTitle = "/feed.xml?"+url.Values{"tag": {n.Slug}}.Encode(), v.Description
	case categoryPage:
		v.Path, v.Description = "/category/"+url.PathEscape(n.Slug), fmt.Sprintf(t.InCategory, n.Name)
		v.Feed, v.FeedTitle = "/feed.xml?"+url.Values{"category": {n.Slug}}.Encode(), v.Description
	case collectionPage:
		v.Path = "/collection:" + n.ID
		v.Description = fmt.Sprintf(t.Selected, n.Creator.DisplayName())
		if text := firstText(n.DescriptionHTML); text != "" {
			v.Description = text
		}
	}
	if n.isPublic() && o.AnonymousRead {
		v.Preview = o.preview(v, p)
	}
}
