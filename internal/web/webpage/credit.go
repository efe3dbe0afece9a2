package webpage

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/meshyard/meshyard/internal/license"
	"github.com/meshyard/meshyard/internal/zipstream"
)

// The files that say who made the things in an archive, and under which license. They are in its
// top folder, where no file of a thing is.
const (
	licenseName = "LICENSE.txt"
	readmeName  = "README.md"
	packageName = "datapackage.json"
)

// dataPackage is a data package of Frictionless (https://datapackage.org/standard/data-package/)
// with the fields that Manyfold adds, and some of Meshyard. Package internal/layout reads it.
type dataPackage struct {
	Schema       string        `json:"$schema"`
	Name         string        `json:"name"`
	Title        string        `json:"title"`
	Description  string        `json:"description,omitempty"`
	Instructions string        `json:"instructions,omitempty"`
	Category     string        `json:"category,omitempty"`
	Homepage     string        `json:"homepage,omitempty"`
	Version      string        `json:"version,omitempty"`
	Created      *time.Time    `json:"created,omitempty"`
	Image        string        `json:"image,omitempty"`
	Keywords     []string      `json:"keywords,omitempty"`
	Sensitive    bool          `json:"sensitive,omitempty"`
	Licenses     []licenseInfo `json:"licenses"`
	Contributors []contributor `json:"contributors"`
	Sources      []source      `json:"sources,omitempty"`
	Resources    []resource    `json:"resources"`
	// Credits are the files of the archive that are no files of the thing.
	Credits []string `json:"credits"`
}

type licenseInfo struct {
	Name  string `json:"name"` // the SPDX identifier
	Title string `json:"title"`
	Path  string `json:"path,omitempty"`
}

type contributor struct {
	Title string   `json:"title"`
	Path  string   `json:"path,omitempty"`
	Roles []string `json:"roles"`
}

type source struct {
	Title string `json:"title"`
	Path  string `json:"path,omitempty"`
}

type resource struct {
	Name      string `json:"name"`
	Path      string `json:"path"`
	ThingPath string `json:"thingPath"` // the path inside of the thing
	MediaType string `json:"mediatype,omitempty"`
	Bytes     int64  `json:"bytes"`
	Hash      string `json:"hash,omitempty"`
}

// credits returns the files of an archive that say who made the thing.
func (o Options) credits(thing *node, resources []resource) ([]zipstream.File, error) {
	page := o.BaseURL + "/thing:" + thing.ID
	p := dataPackage{
		Schema: "https://datapackage.org/profiles/2.0/datapackage.json", Name: "thing-" + thing.ID, Title: thing.Name,
		Description: thing.Description, Instructions: thing.Instructions,
		Homepage: page, Created: thing.PublishedAt, Sensitive: thing.IsNSFW,
		Licenses: []licenseInfo{{thing.License.ID, thing.License.Name, thing.License.URL}},
		Sources:  []source{{o.Site.Name, page}}, Resources: resources, Credits: []string{licenseName, readmeName,
			packageName},
	}
	if thing.UpdatedAt != nil {
		p.Version = thing.UpdatedAt.UTC().Format("2006.1.2-150405")
	}
	if thing.Category != nil {
		p.Category = thing.Category.Name
	}
	for _, tag := range thing.Tags {
		p.Keywords = append(p.Keywords, tag.Name)
	}
	for _, r := range resources {
		if strings.HasPrefix(r.MediaType, "image/") {
			p.Image = r.Path
			break
		}
	}
	role := "creator"
	if from := thing.Origin; from != nil {
		role = "publisher"
		p.Homepage, p.Sources = from.URL, nil
		if name := cmp.Or(from.Creator, from.CreatorURL); name != "" {
			p.Contributors = []contributor{{name, from.CreatorURL, []string{"creator"}}}
		}
		if name := cmp.Or(from.Site, from.URL); name != "" {
			p.Sources = []source{{name, from.URL}}
		}
	}
	if thing.Creator != nil {
		p.Contributors = append(p.Contributors, contributor{thing.Creator.Username, o.BaseURL + "/" + thing.Creator.Username,
			[]string{role}})
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(p); err != nil {
		return nil, fmt.Errorf("data package of thing %s: %w", thing.ID, err)
	}
	var files []zipstream.File
	for _, f := range []struct {
		name string
		text []byte
	}{{licenseName, licenseText(thing)}, {readmeName, o.readme(thing, page)}, {packageName, text.Bytes()}} {
		files = append(files, zipstream.File{Name: f.name, Size: int64(len(f.text)),
			Open: func() (io.ReadSeekCloser, error) { return readable{bytes.NewReader(f.text)}, nil }})
	}
	return files, nil
}

// readable is a text with the method Close of a file.
type readable struct{ *bytes.Reader }

func (readable) Close() error { return nil }

// licenseText returns a text from which the license is recognized.
func licenseText(thing *node) []byte {
	l := thing.License
	if license.ID(l.ID) == license.Unknown {
		return []byte("The license is unknown. Ask the creator, whose name is in " + readmeName + ".\n")
	}
	text := "License: " + l.Name + "\n"
	if l.URL != "" {
		text += l.URL + "\n"
	}
	return []byte(text)
}

// readme returns the description of a thing with its credit, in Markdown.
func (o Options) readme(thing *node, page string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s\n\n", oneLine(thing.Name))
	uploader := ""
	if thing.Creator != nil {
		uploader = markdownLink(thing.Creator.Username, o.BaseURL+"/"+thing.Creator.Username)
	}
	if from := thing.Origin; from != nil {
		fmt.Fprintf(&b, "- Creator: %s\n", markdownLink(cmp.Or(from.Creator, "unknown"), from.CreatorURL))
		if from.Site != "" || from.URL != "" {
			fmt.Fprintf(&b, "- Source: %s\n", markdownLink(cmp.Or(from.Site, from.URL), from.URL))
		}
		fmt.Fprintf(&b, "- Uploaded by: %s\n", uploader)
	} else {
		fmt.Fprintf(&b, "- Creator: %s\n", uploader)
	}
	fmt.Fprintf(&b, "- Page: %s\n", page)
	fmt.Fprintf(&b, "- License: %s (%s)\n", markdownLink(thing.License.Name, thing.License.URL), thing.License.ID)
	if thing.PublishedAt != nil {
		fmt.Fprintf(&b, "- Published: %s\n", thing.PublishedAt.UTC().Format(time.DateOnly))
	}
	if thing.UpdatedAt != nil {
		fmt.Fprintf(&b, "- Version: %s\n", thing.UpdatedAt.UTC().Format(time.RFC3339))
	}
	for _, text := range []string{thing.Description, thing.Instructions} {
		if text = strings.TrimSpace(text); text != "" {
			fmt.Fprintf(&b, "\n%s\n", text)
		}
	}
	return b.Bytes()
}

// markdownLink returns a link in Markdown, or the text if there is no URL.
func markdownLink(text, address string) string {
	text = oneLine(text)
	if address == "" {
		return text
	}
	return "[" + strings.NewReplacer(`[`, `\[`, `]`, `\]`).Replace(text) + "](<" + strings.NewReplacer("<", "%3C", ">",
		"%3E").Replace(address) + ">)"
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
