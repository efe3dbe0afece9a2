package account

import (
	"net/url"
	"time"

	"github.com/meshyard/meshyard/internal/legacyclient"
	"github.com/meshyard/meshyard/models/importer"
)

// escape escapes a segment of a path.
func escape(name string) string { return url.PathEscape(name) }

// user is the UserSchema of the REST API.
type user struct {
	Name      string
	FirstName string `json:"first_name"`
	LastName  string `json:"last_name"`
	Bio       string
	Location  string
	PublicURL string `json:"public_url"`
}

// datesOf returns the creation and modification times of a thing, with an empty map for its files.
func datesOf(t *legacyclient.Thing) importer.ImportDates {
	d := importer.ImportDates{Created: t.Added.Time, Modified: t.Modified.Time, Files: map[int64]time.Time{}}
	if d.Modified.IsZero() {
		d.Modified = d.Created
	}
	return d
}

// image is an image of a thing or a make.
type image struct {
	ID    int64
	Name  string
	Added legacyclient.Date
	Sizes []struct{ Type, Size, URL string }
}

// large returns the URL of an image in the size "large", or "".
func (i *image) large() string {
	for _, kind := range []string{"display", "preview", "thumb"} {
		for _, s := range i.Sizes {
			if s.Type == kind && s.Size == "large" {
				return s.URL
			}
		}
	}
	return ""
}

// made is the CopySchema of the REST API.
type made struct {
	ID          int64
	Name        string
	Description string
	Added       legacyclient.Date
	Thing       struct {
		ID   int64
		Name string
	}
}

// collection is the CollectionSchema of the REST API.
type collection struct {
	ID          int64
	Count       int // of all things; the list of things may omit some
	Name        string
	Description string
	Added       legacyclient.Date
	Modified    legacyclient.Date
}
