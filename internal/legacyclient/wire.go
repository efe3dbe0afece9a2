package legacyclient

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"time"
)

// Thing is the ThingSchema of the REST API.
type Thing struct {
	ID           int64
	Name         string
	Description  string
	Instructions string
	License      string
	PublicURL    string `json:"public_url"`
	Added        Date
	Modified     Date
	IsPublished  Flag            `json:"is_published"`
	IsWIP        Flag            `json:"is_wip"`
	IsNSFW       Flag            `json:"is_nsfw"`
	IsAI         Flag            `json:"is_ai"`
	IsDerivative Flag            `json:"is_derivative"`
	DetailsParts json.RawMessage `json:"details_parts"`
	Tags         []struct{ Name string }
	Ancestors    []struct{ ID int64 }
	Creator      struct {
		Name      string
		PublicURL string `json:"public_url"`
	}
	ZipData struct {
		Images []struct{ Name, URL string }
	} `json:"zip_data"`
}

// File is the FileSchema of the REST API.
type File struct {
	ID           int64
	Name         string
	Size         int64
	Rank         *int32
	Date         Date
	Hash         string              // base64 of the MD5
	PublicURL    string              `json:"public_url"`
	DownloadURL  string              `json:"download_url"`
	DirectURL    *string             `json:"direct_url"`
	DefaultImage *struct{ ID int64 } `json:"default_image"`
}

// MD5 returns the MD5 in hex, or "" if the service returns no valid one.
func (f *File) MD5() string {
	sum, err := base64.StdEncoding.DecodeString(f.Hash)
	if err != nil || len(sum) != 16 {
		return ""
	}
	return hex.EncodeToString(sum)
}

// Flag is a boolean that the service sends as 0, 1, a boolean or null.
type Flag bool

// UnmarshalJSON reads a flag.
func (f *Flag) UnmarshalJSON(text []byte) error {
	*f = Flag(bytes.Equal(text, []byte("1")) || bytes.Equal(text, []byte("true")))
	return nil
}

// Date is a time, or zero if it cannot be parsed.
type Date struct{ time.Time }

// UnmarshalJSON reads a time.
func (d *Date) UnmarshalJSON(text []byte) error {
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
