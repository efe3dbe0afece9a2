package account

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"time"

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

// thing is the ThingSchema of the REST API.
type thing struct {
	ID           int64
	Name         string
	Description  string
	Instructions string
	License      string
	PublicURL    string `json:"public_url"`
	Added        date
	Modified     date
	IsPublished  flag            `json:"is_published"`
	IsWIP        flag            `json:"is_wip"`
	IsNSFW       flag            `json:"is_nsfw"`
	IsAI         flag            `json:"is_ai"`
	IsDerivative flag            `json:"is_derivative"`
	DetailsParts json.RawMessage `json:"details_parts"`
	Tags         []struct{ Name string }
	Ancestors    []struct{ ID int64 }
	ZipData      struct {
		Images []struct{ Name, URL string }
	} `json:"zip_data"`
}

// dates returns the creation and modification times of a thing, with an empty map for its files.
func (t *thing) dates() importer.ImportDates {
	d := importer.ImportDates{Created: t.Added.Time, Modified: t.Modified.Time, Files: map[int64]time.Time{}}
	if d.Modified.IsZero() {
		d.Modified = d.Created
	}
	return d
}

// file is the FileSchema of the REST API.
type file struct {
	ID           int64
	Name         string
	Size         int64
	Rank         *int32
	Date         date
	Hash         string              // base64 of the MD5
	PublicURL    string              `json:"public_url"`
	DownloadURL  string              `json:"download_url"`
	DirectURL    *string             `json:"direct_url"`
	DefaultImage *struct{ ID int64 } `json:"default_image"`
}

// md5 returns the MD5 in hex, or "" if the service returns no valid one.
func (f *file) md5() string {
	sum, err := base64.StdEncoding.DecodeString(f.Hash)
	if err != nil || len(sum) != 16 {
		return ""
	}
	return hex.EncodeToString(sum)
}

// image is an image of a thing or a make.
type image struct {
	ID    int64
	Name  string
	Added date
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
	Added       date
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
	Added       date
	Modified    date
}

// flag is a boolean that the service sends as 0, 1, a boolean or null.
type flag bool

// UnmarshalJSON reads a flag.
func (f *flag) UnmarshalJSON(text []byte) error {
	*f = flag(bytes.Equal(text, []byte("1")) || bytes.Equal(text, []byte("true")))
	return nil
}

// date is a time, or zero if it cannot be parsed.
type date struct{ time.Time }

// UnmarshalJSON reads a time.
func (d *date) UnmarshalJSON(text []byte) error {
	var value string
	if json.Unmarshal(text, &value) == nil {
		for _, layout := range []string{time.RFC3339, "2006-01-02 15:04:05"} {
			if at, err := time.Parse(layout, value); err == nil {
				d.Time = at.UTC()
				return nil
			}
		}
	}
	return nil
}
