package layout

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/meshyard/meshyard/internal/cleanname"
)

// The number of bytes that are read of a text and of a metadata file.
const (
	maxText     = 64 << 10
	maxMetadata = 4 << 20
)

// texts reads what the text files of a thing say about it.
type texts struct {
	src      Source
	thing    *Thing
	shallow  int // the depth of the topmost files
	readme   string
	base     string            // the folder of the metadata file
	image    string            // the picture that metadata declare as the cover
	captions map[string]string // by the path in the folder, as are the next
	paths    map[string]string // inside of the thing
	credits  []string          // paths of files that are no files of the thing
	metadata bool
}

// read reads a text file. It reports whether it is only that, and no file of the thing.
func (t *texts) read(f found) bool {
	if strings.Count(f.inside, "/") > t.shallow {
		return false
	}
	switch {
	case isMetadata(f.Name) && (!t.metadata || strings.EqualFold(f.Name, "thing.json")):
		b, err := t.src.Text(f.source, maxMetadata)
		if err == nil {
			err = t.describe(b)
		}
		if err != nil {
			t.note(f.source, err)
			return false
		}
		if t.base = path.Dir(f.inside); t.base == "." {
			t.base = ""
		}
		t.thing.Used = append(t.thing.Used, Use{f.source, "metadata"})
		return true
	case t.isCredit(f):
		if isLicense(f.Name) {
			text, err := t.text(f.source)
			t.note(f.source, err)
			t.thing.License.Text = text
		}
		t.thing.Used = append(t.thing.Used, Use{f.source, "credit"})
		return true
	case isReadme(f.Name) && t.readme == "":
		text, err := t.text(f.source)
		t.note(f.source, err)
		t.readme = text
		if err == nil {
			t.thing.Used = append(t.thing.Used, Use{f.source, "description"})
		}
		return err == nil
	case isLicense(f.Name) && t.thing.License.Text == "" && extension(f.Name) != ".pdf":
		text, err := t.text(f.source)
		t.note(f.source, err)
		t.thing.License.Text = text
	}
	return false
}

// isCredit reports whether a file says who made the thing, and is no file of it.
func (t *texts) isCredit(f found) bool { return slices.Contains(t.credits, t.inPackage(f)) }

// inPackage returns the path of a file relative to the metadata file.
func (t *texts) inPackage(f found) string {
	return norm.NFC.String(strings.TrimPrefix(strings.TrimPrefix(f.inside, t.base), "/"))
}

// isCleanPath reports whether a path of metadata is one that a file of a thing can have.
func isCleanPath(file string) bool {
	if !fs.ValidPath(file) || file == "." {
		return false
	}
	for segment := range strings.SplitSeq(file, "/") {
		if cleanname.Segment(segment) != segment {
			return false
		}
	}
	return true
}

func (t *texts) note(file string, err error) {
	if err != nil {
		t.thing.Notes = append(t.thing.Notes, fmt.Sprintf("%s: %v", file, err))
	}
}

// inherit reads the license in a folder above the thing.
func (t *texts) inherit(f *Folder) {
	entries, _ := t.src.List(f.Path) // an error was reported with the folder
	slices.SortFunc(entries, func(a, b Entry) int { return cmp.Compare(a.Name, b.Name) })
	for _, e := range entries {
		if isLicense(e.Name) && reason(e) == "" && extension(e.Name) != ".pdf" && t.thing.License.Text == "" {
			text, err := t.text(path.Join(f.Path, e.Name))
			t.note(path.Join(f.Path, e.Name), err)
			t.thing.License.Text, t.thing.License.Above = text, true
		}
	}
}

// text reads a text of at most maxText bytes. A longer text is cut at the end of a line.
func (t *texts) text(file string) (string, error) {
	b, err := t.src.Text(file, maxText)
	if err != nil {
		return "", err
	}
	text := string(b)
	if len(b) == maxText {
		text = text[:max(strings.LastIndexByte(text, '\n'), 0)]
	}
	if strings.ContainsRune(text, 0) {
		return "", errors.New("is not UTF-8 text")
	}
	if !utf8.ValidString(text) {
		text = cleanname.NewDecoder([]string{text}).Decode(text)
	}
	return strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n"), nil
}

var (
	thingiverseURL = regexp.MustCompile(`https?://(?:www\.)?thingiverse\.com/thing:\d+`)
	pageURL        = regexp.MustCompile(
		`https?://(?:www\.)?(?:printables\.com/model/|cults3d\.com/\S*3d-model/|thangs\.com/|makerworld\.com/\S*models/|myminifactory\.com/object/)[^\s<>")\]]+`)
	licensedBy = regexp.MustCompile(`(?m)^(.{1,200}?) by (\S+) is licensed under the (.{1,120}?) license\.?\s*$`)
	createdBy  = regexp.MustCompile(
		`(?m)^This thing was created by Thingiverse user (\S+?),? and is licensed under (?:the )?(.{1,120}?)\.?\s*$`)
)

// sites are the names of sites, by their domain.
var sites = map[string]string{
	"thingiverse.com": "Thingiverse", "printables.com": "Printables", "cults3d.com": "Cults", "thangs.com": "Thangs",
	"makerworld.com":    "MakerWorld",
	"myminifactory.com": "MyMiniFactory", "prusaprinters.org": "PrusaPrinters", "youmagine.com": "YouMagine",
	"sketchfab.com": "Sketchfab", "grabcad.com": "GrabCAD",
	"github.com": "GitHub", "gitlab.com": "GitLab", "codeberg.org": "Codeberg",
}

// siteOf returns the name of the site of a page, or "" if it is not known.
func siteOf(page string) string {
	u, err := url.Parse(page)
	if err != nil {
		return ""
	}
	host := strings.TrimPrefix(strings.ToLower(u.Hostname()), "www.")
	return sites[host]
}

// finish sets what texts say and metadata do not.
func (t *texts) finish() {
	thing, readme := t.thing, t.readme
	both := thing.License.Text + "\n" + readme
	if m := createdBy.FindStringSubmatch(both); m != nil {
		if thing.Creator == "" {
			thing.Creator, thing.CreatorURL = m[1], "https://www.thingiverse.com/"+url.PathEscape(m[1])
		}
	} else if m := licensedBy.FindStringSubmatch(readme); m != nil {
		thing.Creator = cmp.Or(thing.Creator, m[2])
	}
	thing.License.Readme = readme
	if page := thingiverseURL.FindString(both); page != "" {
		thing.URL = cmp.Or(thing.URL, page)
	}
	thing.URL = cmp.Or(thing.URL, pageURL.FindString(readme))
	thing.Site = cmp.Or(thing.Site, siteOf(thing.URL))
	if _, summary, ok := strings.Cut("\n"+readme, "\n# Summary\n"); ok {
		readme = summary
	}
	thing.Description = cmp.Or(thing.Description, strings.TrimSpace(readme))
	for i := range thing.Files {
		thing.Files[i].Caption = cmp.Or(thing.Files[i].Caption, t.captions[thing.Files[i].Path])
	}
}

// metadata has the fields of thing.json and of datapackage.json, a data package of Frictionless
// with the fields that Manyfold adds.
type metadata struct {
	Name, Title, Description, Instructions, Category string
	Creator, CreatorURL, URL, Homepage, Site         string
	Image, Cover                                     string
	License                                          string
	Licenses                                         []struct{ Name, Path, Title string }
	Tags, Keywords                                   []string
	Sensitive                                        bool
	Contributors                                     []struct {
		Title, Path string
		Role        string
		Roles       []string
	}
	Collections []struct{ Title, Name string }
	Collection  string
	Links       []struct{ Path, URL string }
	Sources     []struct{ Title, Path string }
	Resources   []struct {
		Path    json.RawMessage
		Caption string
		// ThingPath is the path inside of the thing, if it is another one.
		ThingPath string
	}
	Credits []string // files that say who made the thing, and are no files of it
}

// describe sets the fields of the thing from a metadata file. thing.json takes precedence.
func (t *texts) describe(b []byte) error {
	var m metadata
	if err := json.Unmarshal([]byte(strings.TrimPrefix(string(b), "\ufeff")), &m); err != nil {
		return fmt.Errorf("the metadata file is invalid: %w", err)
	}
	t.metadata = true
	thing := t.thing
	thing.Name = norm.NFC.String(cmp.Or(strings.TrimSpace(m.Title), strings.TrimSpace(m.Name), thing.Name))
	thing.Description = cmp.Or(m.Description, thing.Description)
	thing.Instructions, thing.Category = cmp.Or(m.Instructions, thing.Instructions), cmp.Or(m.Category, thing.Category)
	thing.Sensitive = thing.Sensitive || m.Sensitive
	for _, tag := range slices.Concat(m.Tags, m.Keywords) {
		if tag = strings.TrimSpace(tag); tag != "" && !slices.Contains(thing.Tags, tag) {
			thing.Tags = append(thing.Tags, tag)
		}
	}
	declared := []string{m.License}
	for _, l := range m.Licenses {
		declared = append(declared, l.Name, l.Title)
		if strings.Contains(l.Path, "://") { // otherwise it is the path of a file
			declared = append(declared, l.Path)
		}
	}
	thing.License.Declared = append(slices.DeleteFunc(declared, func(s string) bool { return s == "" }),
		thing.License.Declared...)
	creator, creatorURL := m.Creator, m.CreatorURL
	for _, c := range m.Contributors {
		if creator == "" && (slices.Contains(c.Roles, "creator") || c.Role == "creator" || c.Role == "author" ||
			len(c.Roles) == 0 && c.Role == "") {
			creator, creatorURL = c.Title, c.Path
		}
	}
	if creator != "" {
		thing.Creator, thing.CreatorURL = creator, creatorURL
	}
	for _, c := range m.Collections {
		if name := cmp.Or(c.Title, c.Name); name != "" {
			thing.Collection = []string{name}
			break
		}
	}
	if m.Collection != "" {
		thing.Collection = []string{m.Collection}
	}
	for _, l := range m.Links {
		if link := cmp.Or(l.Path, l.URL); link != "" {
			thing.Links = append(thing.Links, link)
		}
	}
	if page := cmp.Or(m.URL, m.Homepage); page != "" {
		thing.URL, thing.Site = page, ""
	}
	for _, s := range m.Sources {
		thing.URL = cmp.Or(thing.URL, s.Path)
		if s.Path == thing.URL {
			thing.Site = cmp.Or(thing.Site, s.Title)
		}
	}
	thing.Site = cmp.Or(m.Site, thing.Site)
	t.image = cmp.Or(m.Cover, m.Image, t.image)
	t.captions, t.paths = map[string]string{}, map[string]string{}
	for _, r := range m.Resources {
		var file string // it may also be a list of the parts of a file
		if json.Unmarshal(r.Path, &file) != nil {
			continue
		}
		file = norm.NFC.String(path.Clean(file))
		if r.Caption != "" {
			t.captions[file] = r.Caption
		}
		if isCleanPath(r.ThingPath) {
			t.paths[file] = r.ThingPath
		}
	}
	t.credits = m.Credits
	return nil
}
