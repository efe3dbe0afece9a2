package webpage

import (
	"bytes"
	"context"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/meshyard/meshyard/internal/web/pages"
)

const (
	sitemapPath = "/sitemap.xml"
	robotsPath  = "/robots.txt"
)

// maxURLs is the maximum number of URLs in a sitemap (https://www.sitemaps.org/protocol.html).
const maxURLs = 50_000

// Sitemap returns the public pages for search engines, in parts of limited size.
type Sitemap interface {
	// Parts returns the parts, each with at least one and at most size objects. The ids of objects
	// determine their parts, so an object always stays in the same part.
	Parts(ctx context.Context, size int) ([]SitemapPart, error)
	// Part returns the pages of a part.
	Part(ctx context.Context, size int, part SitemapPart) ([]SitemapPage, error)
}

// SitemapPart identifies a part of a sitemap.
type SitemapPart struct {
	Kind   string // things or users
	Number int64
	Count  int // number of its objects when Parts returned it
}

// SitemapPage is a page in a sitemap.
type SitemapPage struct {
	Path       string // below the base URL, escaped
	ModifiedAt *time.Time
}

type sitemapURL struct {
	Location string `xml:"loc"`
	Modified string `xml:"lastmod,omitempty"`
}

type urlSet struct {
	XMLName xml.Name     `xml:"http://www.sitemaps.org/schemas/sitemap/0.9 urlset"`
	URLs    []sitemapURL `xml:"url"`
}

type sitemapIndex struct {
	XMLName  xml.Name     `xml:"http://www.sitemaps.org/schemas/sitemap/0.9 sitemapindex"`
	Sitemaps []sitemapURL `xml:"sitemap"`
}

// serveSitemap serves the sitemap. If there are too many URLs for one sitemap, it is an index with
// one sitemap for each part. A server that requires signing in has no sitemap.
func (o Options) serveSitemap(w http.ResponseWriter, r *http.Request) {
	if !o.AnonymousRead {
		o.Fail(w, r, ErrNotFound)
		return
	}
	document, err := o.sitemap(r.Context(), r.URL.Query().Get("part"))
	if err != nil {
		o.Fail(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/xml; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(document)
}

func (o Options) sitemap(ctx context.Context, part string) ([]byte, error) {
	select {
	case o.building <- struct{}{}:
		defer func() { <-o.building }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if part != "" {
		kind, number, _ := strings.Cut(part, "-")
		n, err := strconv.ParseInt(number, 10, 32)
		if err != nil || kind != "things" && kind != "users" && kind != "pages" {
			return nil, ErrNotFound
		}
		return o.urlSet(ctx, []SitemapPart{{Kind: kind, Number: n}})
	}
	parts, err := o.Sitemap.Parts(ctx, o.urlsPerSitemap)
	if err != nil {
		return nil, err
	}
	total := 0
	for _, p := range parts {
		total += p.Count
	}
	parts = append([]SitemapPart{{Kind: "pages"}}, parts...)
	if total+maxFixedPages <= o.urlsPerSitemap {
		return o.urlSet(ctx, parts)
	}
	index := sitemapIndex{}
	for _, p := range parts {
		query := url.Values{"part": {fmt.Sprintf("%s-%d", p.Kind, p.Number)}}
		index.Sitemaps = append(index.Sitemaps, sitemapURL{Location: o.BaseURL + sitemapPath + "?" + query.Encode()})
	}
	return encodeXML(index)
}

// maxFixedPages is an upper bound of the number of pages other than those of things and users.
const maxFixedPages = 500

// urlSet returns a sitemap with the URLs of the given parts.
func (o Options) urlSet(ctx context.Context, parts []SitemapPart) ([]byte, error) {
	set := urlSet{}
	for _, p := range parts {
		var found []SitemapPage
		var err error
		if p.Kind == "pages" {
			found, err = o.fixedPages(ctx)
		} else {
			found, err = o.Sitemap.Part(ctx, o.urlsPerSitemap, p)
		}
		if err != nil {
			return nil, err
		}
		for _, page := range found {
			entry := sitemapURL{Location: o.BaseURL + page.Path}
			if page.ModifiedAt != nil {
				entry.Modified = page.ModifiedAt.UTC().Format(time.RFC3339)
			}
			set.URLs = append(set.URLs, entry)
		}
	}
	if len(set.URLs) == 0 {
		return nil, ErrNotFound // a sitemap must have at least one URL
	}
	return encodeXML(set)
}

// fixedPages returns the home page and the pages of the categories. The operator's pages below
// /legal are not among them: like all pages without metadata they ask search engines not to index
// them, because an imprint contains the address of a person.
func (o Options) fixedPages(ctx context.Context) ([]SitemapPage, error) {
	of, err := o.run(ctx, "categories", nil)
	if err != nil {
		return nil, err
	}
	found := []SitemapPage{{Path: "/"}}
	for _, root := range of.Categories {
		for _, c := range append([]categoryLink{root}, root.Children...) {
			found = append(found, SitemapPage{Path: "/category/" + url.PathEscape(c.Slug)})
		}
	}
	return found, nil
}

func encodeXML(document any) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(xml.Header)
	if err := xml.NewEncoder(&b).Encode(document); err != nil {
		return nil, fmt.Errorf("sitemap: %w", err)
	}
	return b.Bytes(), nil
}

// serveRobots serves robots.txt. It excludes searches with filters, pages for signing in, and the
// API. Pages that require a sign-in are excluded by a meta tag in the page.
func (o Options) serveRobots(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "public, max-age=3600")
	if !o.AnonymousRead {
		_, _ = w.Write([]byte("User-agent: *\nDisallow: /\n"))
		return
	}
	base := pages.BasePath(o.BaseURL)
	var b strings.Builder
	b.WriteString("User-agent: *\n")
	// The longest matching rule applies. So searches by words alone are allowed, and searches with
	// other parameters are not.
	b.WriteString("Allow: " + base + "/explore?q=\n")
	for _, path := range []string{"/explore?", "/explore?q=*&", "/feed.xml?", "/login/", "/signin?", "/api/",
		"/download:"} {
		b.WriteString("Disallow: " + base + path + "\n")
	}
	b.WriteString("\nSitemap: " + o.BaseURL + sitemapPath + "\n")
	_, _ = w.Write([]byte(b.String()))
}
