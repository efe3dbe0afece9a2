package webpage

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const feedPath = "/feed.xml"

// atomFeed is an Atom feed (RFC 4287) with the elements that are used here.
type atomFeed struct {
	XMLName xml.Name    `xml:"http://www.w3.org/2005/Atom feed"`
	Base    string      `xml:"xml:base,attr"`
	ID      string      `xml:"id"`
	Title   string      `xml:"title"`
	Updated time.Time   `xml:"updated"`
	Icon    string      `xml:"icon,omitempty"`
	Links   []atomLink  `xml:"link"`
	Entries []atomEntry `xml:"entry"`
}

type atomLink struct {
	Rel  string `xml:"rel,attr"`
	Type string `xml:"type,attr,omitempty"`
	Href string `xml:"href,attr"`
}

type atomEntry struct {
	ID         string         `xml:"id"`
	Title      string         `xml:"title"`
	Published  *time.Time     `xml:"published"`
	Updated    time.Time      `xml:"updated"`
	Author     atomPerson     `xml:"author"`
	Uploader   *atomPerson    `xml:"contributor"` // nil: the author
	Links      []atomLink     `xml:"link"`
	Categories []atomCategory `xml:"category"`
	Content    atomContent    `xml:"content"`
}

type atomPerson struct {
	Name string `xml:"name"`
	URI  string `xml:"uri,omitempty"`
}

type atomCategory struct {
	Term  string `xml:"term,attr"`
	Label string `xml:"label,attr"`
}

type atomContent struct {
	Type string `xml:"type,attr"`
	HTML string `xml:",chardata"`
}

// feedOf returns the operation for a feed, its variables, and the query parameter that selects the
// feed. Only the first known parameter of a request is used. operation is "" if there is no such
// feed.
func (o Options) feedOf(query url.Values) (operation string, variables map[string]any, parameter string) {
	switch {
	case query.Get("user") != "":
		if o.Reserved(query.Get("user")) {
			return "", nil, ""
		}
		return "feedOfUser", map[string]any{"name": query.Get("user")}, "user"
	case query.Get("tag") != "":
		return "feedOfTag", map[string]any{"name": query.Get("tag")}, "tag"
	case query.Get("category") != "":
		return "feedOfCategory", map[string]any{"slug": query.Get("category")}, "category"
	case query.Get("q") != "":
		return "feedOfSearch", map[string]any{"query": firstLetters(query.Get("q"), maxQuery)}, "q"
	}
	return "feed", nil, "-"
}

// serveFeed serves an Atom feed of the newest things: of all things, or of those of a user, a tag,
// a category or a search. It ignores the browser session: a feed is the same for everyone.
func (o Options) serveFeed(w http.ResponseWriter, r *http.Request) {
	operation, variables, parameter := o.feedOf(r.URL.Query())
	if operation == "" {
		o.Fail(w, r, ErrNotFound)
		return
	}
	of, err := o.run(r.Context(), operation, variables)
	if err != nil {
		o.Fail(w, r, err)
		return
	}
	feed := o.feed(of, r.URL.Query().Get(parameter), parameter)
	var b bytes.Buffer
	b.WriteString(xml.Header)
	if err := xml.NewEncoder(&b).Encode(feed); err != nil {
		o.Fail(w, r, fmt.Errorf("feed: %w", err))
		return
	}
	sum := sha256.Sum256(b.Bytes())
	h := w.Header()
	h.Set("Content-Type", "application/atom+xml; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("ETag", `"`+base64.RawURLEncoding.EncodeToString(sum[:18])+`"`)
	h.Set("Cache-Control", "no-cache")
	if HasToken(r) { // the caller may have seen hidden things; Vary does not include tokens in URLs
		h.Set("Cache-Control", "private, no-cache")
	}
	h.Add("Vary", "Authorization")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(b.Bytes()))
}

// feed returns the feed for the result of an operation. value is that of the query parameter.
func (o Options) feed(of pageData, value, parameter string) *atomFeed {
	self, page, title := o.BaseURL+feedPath, o.BaseURL+"/", o.Site.Name
	if value != "" {
		self += "?" + url.Values{parameter: {value}}.Encode()
	}
	switch {
	case parameter == "q":
		page, title = o.BaseURL+"/explore?"+url.Values{"q": {value}}.Encode(), "Search: "+value+" · "+title
	case of.Page != nil && parameter == "user":
		page, title = o.BaseURL+"/"+of.Page.Username, "Things by "+of.Page.DisplayName()+" · "+title
	case of.Page != nil && parameter == "tag":
		page, title = o.BaseURL+"/tag:"+url.PathEscape(of.Page.Slug), of.Page.Name+" · "+title
	case of.Page != nil:
		page, title = o.BaseURL+"/category/"+url.PathEscape(of.Page.Slug), of.Page.Name+" · "+title
	}
	feed := &atomFeed{
		Base: o.BaseURL + "/", ID: self, Title: title, Updated: time.Unix(0, 0).UTC(),
		Links: []atomLink{{"self", "application/atom+xml", self}, {"alternate", "text/html", page}},
	}
	if o.Site.Logo != nil {
		feed.Icon = o.BaseURL + o.Site.LogoPath()
	}
	list := of.List
	if of.Page != nil && of.Page.List != nil {
		list = of.Page.List
	}
	for i := range list.Nodes {
		entry := o.entry(&list.Nodes[i])
		feed.Entries = append(feed.Entries, entry)
		if entry.Updated.After(feed.Updated) {
			feed.Updated = entry.Updated
		}
	}
	return feed
}

// entry returns the feed entry of a thing.
func (o Options) entry(n *node) atomEntry {
	address := o.BaseURL + "/thing:" + n.ID
	e := atomEntry{
		ID: address, Title: n.Name, Published: n.PublishedAt, Author: atomPerson{n.Creator.DisplayName(), o.BaseURL + "/" +
			n.Creator.Username},
		Links: []atomLink{{"alternate", "text/html", address}}, Content: atomContent{"html", n.DescriptionHTML},
	}
	if n.UpdatedAt != nil {
		e.Updated = n.UpdatedAt.UTC()
	}
	if from := n.Origin; from != nil {
		if from.Creator != "" {
			e.Uploader, e.Author = new(e.Author), atomPerson{from.Creator, from.CreatorURL}
		}
		if from.URL != "" {
			e.Links = append(e.Links, atomLink{Rel: "via", Href: from.URL})
		}
	}
	if source := n.Image.Source(); source != "" {
		e.Content.HTML = fmt.Sprintf(`<p><a href="%s"><img src="%s" alt="%s"></a></p>`, html.EscapeString(address),
			html.EscapeString(source), html.EscapeString(n.Name)) + e.Content.HTML
	}
	for _, t := range n.Tags {
		e.Categories = append(e.Categories, atomCategory{t.Slug, strings.TrimSpace(t.Name)})
	}
	return e
}
