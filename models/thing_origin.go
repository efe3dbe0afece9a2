package models

import (
	"errors"
	"net/url"
	"time"
)

// Origin says where a thing was copied from. Empty texts are unknown.
type Origin struct {
	Creator    string // name of the creator there
	CreatorURL string // page of the creator
	URL        string // page of the thing
	Site       string // name of the site
	ImportedAt *time.Time
}

// NewOrigin is the input of an Origin. Nil fields are left unchanged.
type NewOrigin struct {
	Creator, CreatorURL, URL, Site *string
}

// Origin returns where the thing was copied from, or nil if nothing is known about that.
func (t *Thing) Origin() *Origin {
	o := Origin{t.OriginCreator, t.OriginCreatorURL, t.SourceURL, t.OriginSite, t.ImportedAt}
	if o.Creator == "" && o.CreatorURL == "" && o.URL == "" && o.Site == "" {
		return nil
	}
	if u, err := url.Parse(o.URL); o.Site == "" && err == nil {
		o.Site = u.Hostname()
	}
	return &o
}

// Check returns BadInput if a text is too long, or if a URL is not absolute.
func (o *NewOrigin) Check() error {
	if o == nil {
		return nil
	}
	return errors.Join(optionalLine("origin.creator", o.Creator, MaxName), optionalLine("origin.site", o.Site, MaxName),
		checkPage("origin.creatorUrl", o.CreatorURL), checkPage("origin.url", o.URL))
}

// setOrigin sets the fields of the origin that are not nil. The first origin that is set is the
// import of the thing.
func (t *Thing) setOrigin(o *NewOrigin, at time.Time) {
	if o != nil {
		Assign(&t.OriginCreator, o.Creator)
		Assign(&t.OriginCreatorURL, o.CreatorURL)
		Assign(&t.SourceURL, o.URL)
		Assign(&t.OriginSite, o.Site)
	}
	if t.Origin() != nil && t.ImportedAt == nil {
		t.ImportedAt = &at
	}
}
