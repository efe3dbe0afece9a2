package importer

import (
	"cmp"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/meshyard/meshyard/internal/layout"
	"github.com/meshyard/meshyard/internal/license"
	"github.com/meshyard/meshyard/models"
)

// maxURL is the maximum number of characters of a URL in an origin.
const maxURL = 2_000

// OriginOf returns where a thing that was found in a folder or an archive comes from, or nil if its
// files say nothing about that. It leaves out URLs that are not those of web pages.
func OriginOf(t layout.Thing) *models.NewOrigin {
	page := webURL(t.URL)
	if page == "" {
		for _, link := range t.Links {
			page = cmp.Or(page, webURL(link))
		}
	}
	return Origin(t.Creator, t.CreatorURL, page, t.Site)
}

// Origin returns the input for an origin, or nil if nothing is known. It shortens names to the
// maximum length, and leaves out URLs that are not those of web pages.
func Origin(creator, creatorURL, page, site string) *models.NewOrigin {
	creator, creatorURL, page, site = line(creator), webURL(creatorURL), webURL(page), line(site)
	if creator == "" && creatorURL == "" && page == "" && site == "" {
		return nil
	}
	return &models.NewOrigin{Creator: &creator, CreatorURL: &creatorURL, URL: &page, Site: &site}
}

// line returns a text as one line of at most models.MaxName characters.
func line(text string) string {
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, ""), func(r rune) bool {
		return unicode.IsSpace(r) ||
			!unicode.IsPrint(r)
	}), " ")
	if utf8.RuneCountInString(text) > models.MaxName {
		text = strings.TrimSpace(string([]rune(text)[:models.MaxName]))
	}
	return text
}

// webURL returns a URL if it is one of a web page, or "".
func webURL(text string) string {
	u, err := url.Parse(text)
	unprintable := func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }
	if err != nil || u.Hostname() == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" ||
		len(text) > maxURL || strings.ContainsFunc(text, unprintable) {
		return ""
	}
	return text
}

// licenseID returns the license that a code, an identifier or a name means, or Unknown.
func licenseID(text string) license.ID {
	if text == "public" { // in the tables of a catalogue
		return license.CC0
	}
	return license.Declared([]string{text})
}

// originOf returns the columns of an origin: the creator, the URL of the creator, the page and the
// site. Those that are not known are NULL.
func originOf(o *models.NewOrigin) []any {
	columns := make([]any, 4, 5)
	if o != nil {
		for i, text := range []string{*o.Creator, *o.CreatorURL, *o.URL, *o.Site} {
			if text != "" {
				columns[i] = text
			}
		}
	}
	return columns
}
